import { Badge } from '../parts/badge.tsx'
import { CircleAlertIcon, CircleCheckIcon, ClockIcon } from '../parts/icons.tsx'
import { Time } from '../parts/time.tsx'
import { Deliveries } from './deliveries.tsx'
import { text } from './strings.ts'
import { WebhookActions } from './webhook-actions.tsx'
import './webhooks.css'
import type { Webhook } from './query.ts'

const STATES = {
  ok: { tone: 'good', icon: CircleCheckIcon },
  failing: { tone: 'bad', icon: CircleAlertIcon },
  paused: { tone: 'warn', icon: ClockIcon },
  idle: { tone: 'neutral', icon: ClockIcon },
} as const

const stateOf = ({ pausedAt, error, lastDeliveredAt }: Webhook): keyof typeof STATES => {
  if (pausedAt) return 'paused'
  if (error) return 'failing'
  return lastDeliveredAt ? 'ok' : 'idle'
}

const State = ({ webhook }: { webhook: Webhook }) => {
  const { error, attempts, retryAt, lastDeliveredAt } = webhook
  return (
    <p className="hint">
      {error && `${text.failed(attempts)} ${error} `}
      {retryAt && (
        <>
          {text.next} <Time at={retryAt} />.{' '}
        </>
      )}
      {lastDeliveredAt && (
        <>
          {text.last} <Time at={lastDeliveredAt} />.
        </>
      )}
    </p>
  )
}

/** A webhook: how it is doing, what can be done with it, and its deliveries. */
export const WebhookPanel = ({ agentId, webhook }: { agentId: string; webhook: Webhook }) => {
  const state = stateOf(webhook)
  return (
    <section className="panel" aria-label={webhook.name ?? webhook.url}>
      <header className="row between">
        <div className="row">
          <h2>{webhook.name ?? webhook.url}</h2>
          <Badge tone={STATES[state].tone} icon={STATES[state].icon}>
            {text.states[state]}
          </Badge>
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
        <Deliveries agentId={agentId} webhookId={webhook.id} />
      </div>
    </section>
  )
}
