import { useState } from 'react'
import { Link } from 'wouter'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useAction, useLive } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { WebhookIcon } from '../parts/icons.tsx'
import { Empty, Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { useAgents } from '../screen/viewer.tsx'
import { Blocking } from '../webhooks/blocking.tsx'
import { BLOCKING, type BlockedWebhook, STATE, type WebhookState } from '../webhooks/query.ts'
import { Replay } from '../webhooks/replay.tsx'
import { StateBadge } from '../webhooks/state.tsx'
import { text } from './strings.ts'

const HEALTH = graphql(
  `
    query WebhookHealth {
      workspace {
        id
        webhooks { ...WebhookState }
        failing: webhooks(failing: true, first: 20) { ...Blocking }
      }
    }
  `,
  [STATE, BLOCKING],
)
const PAUSE = graphql(`
  mutation PauseAnyWebhook($input: UpdateWebhookInput!) { updateWebhook(input: $input) { webhook { id pausedAt } } }
`)

type Health = ResultOf<typeof HEALTH>['workspace']

const Since = ({ webhook: { failingSince, pausedAt, lastDeliveredAt } }: { webhook: WebhookState }) => (
  <span className="hint">
    {pausedAt && (
      <>
        {text.pausedSince} <Time at={pausedAt} since />
        {(failingSince || lastDeliveredAt) && ' · '}
      </>
    )}
    {failingSince && (
      <>
        {text.failingSince} <Time at={failingSince} since />
        {lastDeliveredAt && ' · '}
      </>
    )}
    {lastDeliveredAt && (
      <>
        {text.last} <Time at={lastDeliveredAt} />
      </>
    )}
  </span>
)

interface LineProps {
  webhook: WebhookState
  blocked: BlockedWebhook | undefined
  isChosen: boolean
  onChoose(): void
}

const Line = ({ webhook, blocked, isChosen, onChoose }: LineProps) => {
  const { id, agentId, name, url, pausedAt } = webhook
  const agent = useAgents().find((one) => one.id === agentId)
  const { run, busy } = useAction(PAUSE, { changes: { topic: 'webhooks', agentId } })
  const pause = () => run({ input: { agentId, webhookId: id, paused: pausedAt === null } })
  return (
    <li className="health-line">
      <input type="checkbox" aria-label={text.choose(name ?? url)} checked={isChosen} onChange={onChoose} />
      <div className="stack">
        <div className="row between">
          <div className="row">
            <h2>{name ?? url}</h2>
            <StateBadge webhook={webhook} />
            <Since webhook={webhook} />
          </div>
          <div className="row">
            <Button busy={busy} onClick={() => void pause()}>
              {pausedAt ? text.resume : text.pause}
            </Button>
            <Link href={`/agents/${agentId}/webhooks`} className="button ghost">
              {text.open}
            </Link>
          </div>
        </div>
        <p className="hint">
          {text.of} <Link href={`/agents/${agentId}`}>{agent?.name}</Link>
          {name && <> · {url}</>}
        </p>
        {blocked && <Blocking webhook={blocked} />}
      </div>
    </li>
  )
}

const List = ({ health: { webhooks, failing } }: { health: Health }) => {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const [replaying, setReplaying] = useState(false)
  const chosen = webhooks.filter(({ id }) => ids.has(id))
  const toggle = (id: string) => {
    const next = new Set(ids)
    if (!next.delete(id)) next.add(id)
    setIds(next)
  }
  const all = () => setIds(new Set(chosen.length === webhooks.length ? [] : webhooks.map(({ id }) => id)))
  return (
    <section className="panel" aria-label={text.webhookList}>
      <div className="row health-bar">
        <label className="row">
          <input type="checkbox" checked={chosen.length === webhooks.length} onChange={all} />
          {text.all}
        </label>
        {chosen.length > 0 && (
          <Button onClick={() => setReplaying(true)}>{text.replay(chosen.length)}</Button>
        )}
      </div>
      <ul>
        {webhooks.map((webhook) => (
          <Line
            key={webhook.id}
            webhook={webhook}
            blocked={failing.find(({ id }) => id === webhook.id)}
            isChosen={ids.has(webhook.id)}
            onChoose={() => toggle(webhook.id)}
          />
        ))}
      </ul>
      {replaying && <Replay webhooks={chosen} onClose={() => setReplaying(false)} />}
    </section>
  )
}

/** The webhooks of all agents, those first that fail, each with the delivery that the others wait for. */
export const Webhooks = () => (
  <Load from={useLive(HEALTH, {}, ['agents', 'webhooks'])} lines={6}>
    {({ workspace }) =>
      workspace.webhooks.length > 0 ? (
        <List health={workspace} />
      ) : (
        <Empty icon={WebhookIcon} title={text.noWebhooks}>
          <p>{text.noWebhooksHint}</p>
        </Empty>
      )
    }
  </Load>
)
