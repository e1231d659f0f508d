import { useState } from 'react'
import { graphql, type ResultOf, type VariablesOf } from '../live/graphql.ts'
import { usePages } from '../live/pages.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Select } from '../parts/form/field.tsx'
import { More } from '../parts/list/more.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { DeliveryDetails } from './delivery-details.tsx'
import { text } from './strings.ts'

const DELIVERIES = graphql(`
  query Deliveries($agentId: UUID!, $status: DeliveryStatus, $after: String) {
    agent(id: $agentId) {
      id
      webhooks {
        id
        deliveries(first: 20, status: $status, after: $after) {
          edges { cursor node { id eventId status createdAt attempts { at status error } } }
          pageInfo { endCursor hasNextPage }
        }
      }
    }
  }
`)

type Data = ResultOf<typeof DELIVERIES>
type Edge = Data['agent']['webhooks'][number]['deliveries']['edges'][number]
type Delivery = Edge['node'] & { cursor: string }
type Status = NonNullable<VariablesOf<typeof DELIVERIES>['status']>

const TONES: Record<Status, Tone> = {
  delivered: 'good',
  pending: 'neutral',
  skipped: 'warn',
  expired: 'bad',
}

const NOTHING = { edges: [], pageInfo: { endCursor: null, hasNextPage: false } }

const lastAnswer = ({ attempts }: Delivery): string => {
  const last = attempts.at(-1)
  if (!last) return ''
  return last.status === null ? (last.error ?? text.noAnswer) : String(last.status)
}

const columnsOf = (onShow: (delivery: Delivery) => void): readonly Column<Delivery>[] => [
  {
    title: text.columns.event,
    cell: (delivery) => (
      <Button kind="ghost" aria-label={text.show(delivery.eventId)} onClick={() => onShow(delivery)}>
        <code>{delivery.eventId.split('_').at(-1)}</code>
      </Button>
    ),
  },
  {
    title: text.columns.status,
    cell: ({ status }) => <Badge tone={TONES[status]}>{text.statuses[status]}</Badge>,
  },
  { title: text.columns.answer, cell: lastAnswer, wide: true },
  { title: text.columns.attempts, right: true, cell: ({ attempts }) => attempts.length, wide: true },
  { title: text.columns.at, right: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
]

/** The deliveries of a webhook, newest first. */
export const Deliveries = ({ agentId, webhookId }: { agentId: string; webhookId: string }) => {
  const [status, setStatus] = useState<Status | null>(null)
  const [shown, setShown] = useState<Delivery | null>(null)
  const pages = usePages({
    query: DELIVERIES,
    variables: { agentId, status },
    pick: ({ agent }: Data) => {
      // None when it was just removed.
      const { edges, pageInfo } = agent.webhooks.find(({ id }) => id === webhookId)?.deliveries ?? NOTHING
      return { edges: edges.map(({ node, cursor }) => ({ node: { ...node, cursor } })), pageInfo }
    },
    topics: ['webhooks'],
  })
  return (
    <div className="stack">
      <div className="row between">
        <h3>{text.deliveries}</h3>
        <div className="delivery-filter">
          <Select
            label={text.status}
            options={{ '': text.any, ...text.statuses }}
            chosen={status ?? ''}
            onChoose={(value) => setStatus(value || null)}
          />
        </div>
      </div>
      <Load from={pages}>
        {(deliveries) =>
          deliveries.length > 0 ? (
            <Table
              label={text.deliveryList}
              columns={columnsOf(setShown)}
              rows={deliveries}
              keyOf={({ id }) => id}
            />
          ) : (
            <p className="soft">{text.noDeliveries}</p>
          )
        }
      </Load>
      {pages.more && <More busy={pages.busy} onMore={pages.more} />}
      {shown && (
        <DeliveryDetails
          agentId={agentId}
          webhookId={webhookId}
          id={shown.id}
          eventId={shown.eventId}
          after={pages.data?.[pages.data.findIndex(({ id }) => id === shown.id) - 1]?.cursor ?? null}
          onClose={() => setShown(null)}
        />
      )}
    </div>
  )
}
