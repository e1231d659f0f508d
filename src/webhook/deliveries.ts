import { type Page, pageOf, readCursor, writeCursor } from '../core/cursor.ts'
import { invalidInput } from '../core/errors.ts'
import type { Db, RootDb } from '../db/client.ts'
import type { Job } from '../db/generated/prisma/client.ts'
import type { JobState } from '../db/generated/prisma/enums.ts'
import { eventIdOf } from '../event/event.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { askedEventId } from './payload.ts'
import { findWebhook } from './webhook.ts'

/**
 * What became of one delivery: of an event in its turn, or of one that somebody asked for (a test, an event
 * sent again).
 */
export interface Delivery {
  id: string
  eventId: string
  /** `expired`: given up. What was asked for is tried once, and given up when that fails. */
  status: Exclude<JobState, 'failed'>
  attempts: { at: string; status?: number; error?: string; ms: number }[]
}

type DeliveryJob = Pick<Job, 'id' | 'agentId' | 'seq' | 'eventId' | 'state' | 'log'>

/** The event that a job delivers; null for a test. */
export const eventOfJob = ({ seq, eventId }: Pick<Job, 'seq' | 'eventId'>): bigint | null =>
  seq > 0n ? seq : eventId

export const toDelivery = (job: DeliveryJob): Delivery => {
  const event = eventOfJob(job)
  const { id, agentId } = job
  return {
    id,
    eventId:
      event === null
        ? askedEventId({ id, agentId, eventId: null })
        : eventIdOf({ agentId, id: Number(event) }),
    status: job.state as Delivery['status'],
    attempts: job.log as unknown as Delivery['attempts'],
  }
}

/**
 * How far a page came in each of the two numberings: events downwards, what was asked for (numbered from -1
 * down) upwards.
 */
interface Place {
  before: bigint | null
  above: bigint | null
}

const readPlace = (cursor: string | null | undefined): Place => {
  if (cursor === null || cursor === undefined) return { before: null, above: null }
  const parts = readCursor(cursor, 2).map((part) => {
    if (typeof part !== 'number' || !Number.isSafeInteger(part))
      throw invalidInput('cursor', 'is not a valid cursor for this list')
    return part === 0 ? null : BigInt(part)
  })
  return { before: parts[0]!, above: parts[1]! }
}

/** One list, newest first, of two that are; events stay in their order. */
const merge = <Some extends Pick<Job, 'createdAt'>>(
  events: readonly Some[],
  asked: readonly Some[],
): Some[] => {
  const merged: Some[] = []
  let next = 0
  for (const event of events) {
    while (next < asked.length && asked[next]!.createdAt >= event.createdAt) merged.push(asked[next++]!)
    merged.push(event)
  }
  return [...merged, ...asked.slice(next)]
}

export interface PageRequest {
  limit: number
  cursor?: string | null | undefined
}

/** A delivery and its place in the list. */
export interface DeliveryEdge {
  cursor: string
  delivery: Delivery
}

/** Each job as a delivery, with the cursor of the page behind it. */
const edgesOf = (jobs: readonly DeliveryJob[], start: Place): DeliveryEdge[] => {
  let place = start
  return jobs.map((job) => {
    place = job.seq > 0n ? { ...place, before: job.seq } : { ...place, above: job.seq }
    return {
      cursor: writeCursor(Number(place.before ?? 0n), Number(place.above ?? 0n)),
      delivery: toDelivery(job),
    }
  })
}

const COLUMNS = `id, agent_id as "agentId", seq, event_id as "eventId", state, log, created_at as "createdAt"`

const PAGES = {
  name: 'delivery pages',
  text: `select w.ord::int, j.* from unnest($1::uuid[]) with ordinality as w(id, ord) cross join lateral (
           (select ${COLUMNS} from job where lane = w.id and seq > 0 and seq < $2::bigint order by seq desc limit $4)
           union all
           (select ${COLUMNS} from job where lane = w.id and seq < 0 and seq > $3::bigint order by seq limit $4)
         ) j`,
}

/** Beyond every `seq`. */
const MAX_SEQ = 2n ** 63n - 1n

type PageRow = Omit<DeliveryJob, 'seq' | 'eventId'> & {
  ord: number
  seq: number
  eventId: number | null
  createdAt: Date
}

/**
 * A page of what was, is and was asked to be delivered to each of these webhooks: one statement however many
 * they are.
 */
export const readDeliveryPages = async (
  { pool }: Db,
  webhookIds: readonly string[],
  { limit, cursor }: PageRequest,
): Promise<Page<DeliveryEdge>[]> => {
  const start = readPlace(cursor)
  const values = [webhookIds, start.before ?? MAX_SEQ, start.above ?? -MAX_SEQ, limit + 1]
  const { rows } = await pool.query<PageRow>({ ...PAGES, values })
  const jobs = rows.map((row) => ({
    ...row,
    seq: BigInt(row.seq),
    eventId: row.eventId === null ? null : BigInt(row.eventId),
  }))
  return webhookIds.map((_id, index) => {
    const own = jobs.filter(({ ord }) => ord === index + 1)
    const events = own.filter(({ seq }) => seq > 0n)
    const asked = own.filter(({ seq }) => seq < 0n)
    return pageOf(edgesOf(merge(events, asked), start), limit, (edge) => edge.cursor)
  })
}

/** What was, is and was asked to be delivered to a webhook, newest first; kept for 7 days. */
export const listDeliveries = async (
  deps: Db,
  viewer: Viewer,
  agentId: string,
  webhookId: string,
  request: PageRequest,
): Promise<Page<Delivery>> => {
  const { id } = await findWebhook(deps, viewer, agentId, webhookId)
  const [page] = await readDeliveryPages(deps, [id], request)
  return { items: page!.items.map(({ delivery }) => delivery), nextCursor: page!.nextCursor }
}

/**
 * How long the record of a delivery is kept. Nothing is left to do by then: it is given up after three days.
 */
const KEPT_MS = 7 * 24 * 3_600_000

/** Deletes the records of deliveries past their time. Idempotent; any process may call it at any time. */
export const pruneDeliveries = async ({ pool }: RootDb, now: Date): Promise<number> => {
  const { rowCount } = await pool.query(`delete from job where created_at < $1 and kind = 'webhook'`, [
    new Date(now.getTime() - KEPT_MS),
  ])
  return rowCount ?? 0
}
