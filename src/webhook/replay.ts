import { invalidInput, notFound } from '../core/errors.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'
import type { Viewer } from '../workspace/index.ts'
import { type EventRange, requeueEvents, requeueGivenUp } from './manual-delivery.ts'
import type { OperateDeps } from './operate.ts'
import { findWebhook, formatTopicKey, WEBHOOK_CHANGED, type WebhookRef } from './webhook.ts'

type Tx = Prisma.TransactionClient

/** Requeues events up to the position and returns how many, and the position before the first of them. */
type Requeue = (
  tx: Tx,
  range: Pick<EventRange, 'lane' | 'agentId' | 'upTo' | 'at'>,
) => Promise<{ events: number; after: bigint }>

/**
 * Sets a webhook's position back before the events that are requeued; those between that are finished are not
 * sent again. A scheduled retry is dropped, and an attempt that is in progress ends without a record.
 */
const rewind = async (
  deps: OperateDeps,
  viewer: Viewer,
  { agentId, webhookId }: WebhookRef,
  requeue: Requeue,
): Promise<{ events: number }> => {
  const webhook = await findWebhook(deps, viewer, agentId, webhookId)
  const { id } = webhook
  const count = await deps.prisma.$transaction(async (tx) => {
    const [row] = await tx.$queryRaw<
      { position: bigint; paused: boolean }[]
    >`select position, paused_at is not null as paused from webhook where id = ${id}::uuid and agent_id = ${agentId}::uuid for no key update`
    if (!row) throw notFound('webhook')
    const at = deps.clock.now()
    const { events, after } = await requeue(tx, { lane: id, agentId, upTo: row.position, at })
    if (events === 0) return 0
    const dueAt = row.paused ? null : at
    const data = { position: after, revision: { increment: 1 }, attempts: 0, retryAt: null, dueAt }
    await tx.webhook.update({ where: { id_agentId: { id, agentId } }, data })
    return events
  })
  if (count > 0) deps.afterCommit(() => deps.notifier.publish(WEBHOOK_CHANGED, formatTopicKey(webhook)))
  return { events: count }
}

/** Where a replay begins: after an event, or at the first event that happened at a time or later. */
type ReplayStart = { after: number } | { since: Date }

/** Reads where a replay is to begin. Throws `invalid_input` unless there is one of the two. */
export const replayStart = ({
  after,
  since,
}: {
  after?: number | null | undefined
  since?: Date | null | undefined
}): ReplayStart => {
  if (since && typeof after === 'number') throw invalidInput('since', 'cannot be combined with after')
  if (since) return { since }
  if (typeof after !== 'number') throw invalidInput('after', 'is required, unless there is `since`')
  return { after }
}

const positionOf = async (tx: Tx, agentId: string, start: ReplayStart): Promise<bigint> => {
  if ('after' in start) return BigInt(start.after)
  const where = { agentId, createdAt: { lt: start.since } }
  const { _max } = await tx.event.aggregate({ where, _max: { id: true } })
  return _max.id ?? 0n
}

/**
 * Resends every event from `start` on, in order, and then continues. It applies to events that the webhook is
 * done with and that are still in the log, including those from before it was added. Message URL events are
 * left out, because their texts are not stored. The events get three days again. Returns the number of
 * events to be sent again. Throws `not_found`.
 */
export const replayWebhook = (
  deps: OperateDeps,
  viewer: Viewer,
  webhook: WebhookRef,
  start: ReplayStart,
): Promise<{ events: number }> =>
  rewind(deps, viewer, webhook, async (tx, range) => {
    const after = await positionOf(tx, range.agentId, start)
    const events = range.upTo <= after ? 0 : await requeueEvents(tx, { ...range, after })
    return { events, after }
  })

/**
 * Resends, in order, the events that were given up, of those that happened at `since` or later. They get three
 * days again. Message URL events are left out. Returns the number of events to be sent again. Throws
 * `not_found`.
 */
export const resendGivenUp = (
  deps: OperateDeps,
  viewer: Viewer,
  webhook: WebhookRef,
  { since }: { since: Date },
): Promise<{ events: number }> =>
  rewind(deps, viewer, webhook, async (tx, range) => {
    const requeued = await requeueGivenUp(tx, { ...range, since })
    const [first] = requeued.sort((one, other) => (one < other ? -1 : 1))
    return { events: requeued.length, after: (first ?? 1n) - 1n }
  })
