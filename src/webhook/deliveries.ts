import { type Page, pageOf, readCursor, writeCursor } from '../core/cursor.ts'
import { invalidInput } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Job } from '../db/generated/prisma/client.ts'
import type { JobState } from '../db/generated/prisma/enums.ts'
import { eventIdOf } from '../event/event.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { askedEventId } from './payload.ts'
import { findWebhook } from './webhook.ts'

/** What became of one delivery: of an event in its turn, or of one that somebody asked for (a test, an event sent again). */
export interface Delivery {
  id: string
  eventId: string
  /** `expired`: given up. What was asked for is tried once, and given up when that fails. */
  status: Exclude<JobState, 'failed'>
  attempts: { at: string; status?: number; error?: string; ms: number }[]
}

/** The event that a job delivers; null for a test. */
export const eventOfJob = ({ seq, eventId }: Pick<Job, 'seq' | 'eventId'>): bigint | null => (seq > 0n ? seq : eventId)

export const toDelivery = (job: Pick<Job, 'id' | 'agentId' | 'seq' | 'eventId' | 'state' | 'log'>): Delivery => {
  const event = eventOfJob(job)
  const { id, agentId } = job
  return {
    id,
    eventId: event === null ? askedEventId({ id, agentId, eventId: null }) : eventIdOf({ agentId, id: Number(event) }),
    status: job.state as Delivery['status'],
    attempts: job.log as unknown as Delivery['attempts'],
  }
}

/** How far a page came in each of the two numberings: events downwards, what was asked for (numbered from -1 down) upwards. */
export interface Place {
  before: bigint | null
  above: bigint | null
}

export const readPlace = (cursor: string | null | undefined): Place => {
  if (cursor === null || cursor === undefined) return { before: null, above: null }
  const parts = readCursor(cursor, 2).map((part) => {
    if (typeof part !== 'number' || !Number.isSafeInteger(part)) throw invalidInput('cursor', 'is not one that this list gave')
    return part === 0 ? null : BigInt(part)
  })
  return { before: parts[0]!, above: parts[1]! }
}

/** One list, newest first, of two that are; events stay in their order. */
export const merge = <Some extends Pick<Job, 'createdAt'>>(events: readonly Some[], asked: readonly Some[]): Some[] => {
  const merged: Some[] = []
  let next = 0
  for (const event of events) {
    while (next < asked.length && asked[next]!.createdAt >= event.createdAt) merged.push(asked[next++]!)
    merged.push(event)
  }
  return [...merged, ...asked.slice(next)]
}

/** What was, is and was asked to be delivered to a webhook, newest first; kept for 7 days. */
export const listDeliveries = async (
  deps: Db,
  viewer: Viewer,
  agentId: string,
  webhookId: string,
  { limit, cursor }: { limit: number; cursor?: string | null | undefined },
): Promise<Page<Delivery>> => {
  const { id: lane } = await findWebhook(deps, viewer, agentId, webhookId)
  const { before, above } = readPlace(cursor)
  const take = limit + 1
  const [events, asked] = await Promise.all([
    deps.prisma.job.findMany({
      where: { lane, seq: { gt: 0n, ...(before === null ? {} : { lt: before }) } },
      orderBy: { seq: 'desc' },
      take,
    }),
    deps.prisma.job.findMany({ where: { lane, seq: { lt: 0n, ...(above === null ? {} : { gt: above }) } }, orderBy: { seq: 'asc' }, take }),
  ])
  const merged = merge(events, asked)
  const shown = merged.slice(0, limit)
  const last = {
    event: shown.findLast(({ seq }) => seq > 0n)?.seq ?? before,
    asked: shown.findLast(({ seq }) => seq < 0n)?.seq ?? above,
  }
  const { items, nextCursor } = pageOf(merged, limit, () => writeCursor(Number(last.event ?? 0n), Number(last.asked ?? 0n)))
  return { items: items.map(toDelivery), nextCursor }
}
