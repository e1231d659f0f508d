import { Badge } from '../parts/badge.tsx'
import { Time } from '../parts/time.tsx'
import { Blocking } from './blocking.tsx'
import { Deliveries } from './deliveries.tsx'
import { StateBadge } from './state.tsx'
import { text } from './strings.ts'
import { WebhookActions } from './webhook-actions.tsx'
import './webhooks.css'
import type { Webhook } from './query.ts'

const State = ({
  webhook: { error, attempts, failingSince, lastDeliveredAt, blocking },
}: {
  webhook: Webhook
}) => (
  <p className="hint">
    {error && !blocking && `${text.failed(attempts)} ${error} `}
    {failingSince && (
      <>
        {text.failingSince} <Time at={failingSince} since />.{' '}
      </>
    )}
    {lastDeliveredAt && (
      <>
        {text.last} <Time at={lastDeliveredAt} />.
      </>
    )}
  </p>
)

/** A webhook: how it is doing, what can be done with it, and its deliveries. */
export const WebhookPanel = ({ agentId, webhook }: { agentId: string; webhook: Webhook }) => {
  return (
    <section className="panel" aria-label={webhook.name ?? webhook.url}>
      <header className="row between">
        <div className="row">
          <h2>{webhook.name ?? webhook.url}</h2>
          <StateBadge webhook={webhook} />
        </div>
        <WebhookActions agentId={agentId} webhook={webhook} />
      </header>
      <div className="panel-content">
        {webhook.name && <code>{webhook.url}</code>}
        <ul className="row">
          {webhook.events.map((type) => (
            <li key={type}>
              <Badge>{type}</Badge>
            </li>
          ))}
        </ul>
        <State webhook={webhook} />
        <Blocking webhook={webhook} />
        <Deliveries agentId={agentId} webhookId={webhook.id} />
      </div>
    </section>
  )
}
