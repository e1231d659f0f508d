import { type Page, pageOf, readCursor, writeCursor } from '../core/cursor.ts'
import { invalidInput, notFound } from '../core/errors.ts'
import type { Db, RootDb } from '../db/client.ts'
import { deleteInBatches, deleteOfAgent } from '../db/delete-in-batches.ts'
import type { Job, Webhook } from '../db/generated/prisma/client.ts'
import type { JobState } from '../db/generated/prisma/enums.ts'
import { raw, SKIP_LOCKED, sql } from '../db/sql/sql.ts'
import { composedOf } from '../db/sql/statement.ts'
import { eventIdOf } from '../event/index.ts'
import type { Keyring, Viewer } from '../workspace/index.ts'
import { manualEventId } from './payload.ts'
import type { Answer } from './post/answer.ts'
import { type DeliveryRequest, type RequestSource, rebuildRequests } from './request.ts'
import { findWebhook, type WebhookRef } from './webhook.ts'

/** A delivery: of an event in its order, or a manual one (a test or a resent event). */
export interface Delivery {
  id: string
  eventId: string
  /** `expired`: given up. A manual delivery is attempted only once. */
  status: Exclude<JobState, 'failed'>
  createdAt: Date
  attempts: Attempt[]
  /** What the delivery's request is made of. */
  source: RequestSource
}

/** One request, as a job's log records it. */
export interface Attempt {
  at: string
  status?: number
  error?: string
  ms: number
  /** The response. Missing in older entries, and for messages that are not stored. */
  answer?: Answer
}

export type DeliveryStatus = Delivery['status']

type DeliveryJob = Pick<Job, 'id' | 'agentId' | 'lane' | 'seq' | 'eventId' | 'state' | 'log' | 'createdAt'>

/** Returns the id of the event that a job delivers; null for a test. */
export const eventOfJob = ({ seq, eventId }: Pick<Job, 'seq' | 'eventId'>): bigint | null =>
  seq > 0n ? seq : eventId

export const toDelivery = (job: DeliveryJob): Delivery => {
  const event = eventOfJob(job)
  const { id, agentId, lane: webhookId, createdAt } = job
  return {
    id,
    createdAt,
    source: { id, agentId, webhookId, createdAt, event: event === null ? null : Number(event) },
    eventId:
      event === null
        ? manualEventId({ id, agentId, eventId: null })
        : eventIdOf({ agentId, id: Number(event) }),
    status: job.state as Delivery['status'],
    attempts: job.log as unknown as Delivery['attempts'],
  }
}

/**
 * How far a page got in each of the two sequences: events are numbered upwards and read from the highest
 * `seq` down, manual deliveries are numbered from -1 down and read from the lowest `seq` up.
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

/** Merges the two sequences into one list, newest first; events stay in their order. */
const merge = <Some extends Pick<Job, 'createdAt'>>(
  events: readonly Some[],
  manual: readonly Some[],
): Some[] => {
  const merged: Some[] = []
  let next = 0
  for (const event of events) {
    while (next < manual.length && manual[next]!.createdAt >= event.createdAt) merged.push(manual[next++]!)
    merged.push(event)
  }
  return [...merged, ...manual.slice(next)]
}

export interface PageRequest {
  limit: number
  cursor?: string | null | undefined
  /** Only deliveries with this status. */
  status?: DeliveryStatus | null | undefined
}

/** A delivery with its cursor. */
export interface DeliveryEdge {
  cursor: string
  delivery: Delivery
}

/** Returns each job as a delivery, with the cursor of the page that follows it. */
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

export const DELIVERY_COLUMNS = `id, agent_id as "agentId", lane, seq, event_id as "eventId", state, log, created_at as "createdAt"`

const COLUMNS = raw(DELIVERY_COLUMNS)
const PAGES = {
  name: 'delivery pages',
  ...composedOf(sql`select w.ord::int, j.* from unnest($1::uuid[], $2::uuid[]) with ordinality as w(agent_id, id, ord) cross join lateral (
           (select ${COLUMNS} from job where agent_id = w.agent_id and lane = w.id and seq > 0 and seq < $3::bigint order by seq desc limit $5)
           union all
           (select ${COLUMNS} from job where agent_id = w.agent_id and lane = w.id and seq < 0 and seq > $4::bigint order by seq limit $5)
         ) j`),
}

/** Higher than any `seq`. */
const MAX_SEQ = 2n ** 63n - 1n

type PageRow = Omit<DeliveryJob, 'seq' | 'eventId'> & {
  ord: number
  seq: number
  eventId: number | null
}

/** Reads a page of the deliveries to each of these webhooks, manual ones included, in a single statement. */
const readDeliveryPages = async (
  { pool }: Db,
  webhooks: readonly Pick<Webhook, 'id' | 'agentId'>[],
  { limit, cursor }: PageRequest,
): Promise<Page<DeliveryEdge>[]> => {
  const start = readPlace(cursor)
  const ids = [webhooks.map(({ agentId }) => agentId), webhooks.map(({ id }) => id)]
  const values = [...ids, start.before ?? MAX_SEQ, start.above ?? -MAX_SEQ, limit + 1]
  const { rows } = await pool.query<PageRow>({ ...PAGES, values })
  const jobs = rows.map((row) => ({
    ...row,
    seq: BigInt(row.seq),
    eventId: row.eventId === null ? null : BigInt(row.eventId),
  }))
  return webhooks.map((_webhook, index) => {
    const own = jobs.filter(({ ord }) => ord === index + 1)
    const events = own.filter(({ seq }) => seq > 0n)
    const manual = own.filter(({ seq }) => seq < 0n)
    return pageOf(edgesOf(merge(events, manual), start), limit, (edge) => edge.cursor)
  })
}

/** Deliveries that are read at a time to find those with a status, and in total for a page. */
const SCANNED = 500
const MAX_SCANNED = 5_000

/**
 * Reads a page of the deliveries with a status to one webhook. It is short, or empty, when few of the latest
 * 5,000 have it; then the next page continues after these. There is no index by status, because it would
 * double the cost of recording a delivery.
 */
const readFiltered = async (
  db: Db,
  webhook: Pick<Webhook, 'id' | 'agentId'>,
  { limit, cursor, status }: PageRequest,
): Promise<Page<DeliveryEdge>> => {
  const found: DeliveryEdge[] = []
  let next = cursor ?? null
  for (let scanned = 0; scanned < MAX_SCANNED && found.length <= limit; scanned += SCANNED) {
    const [page] = await readDeliveryPages(db, [webhook], { limit: SCANNED, cursor: next })
    found.push(...page!.items.filter(({ delivery }) => delivery.status === status))
    next = page!.nextCursor
    if (next === null) break
  }
  if (found.length <= limit) return { items: found, nextCursor: next }
  const items = found.slice(0, limit)
  return { items, nextCursor: items.at(-1)!.cursor }
}

/** Reads a page of the deliveries to each of these webhooks, of those with the status if one is given. */
export const readDeliveries = (
  db: Db,
  webhooks: readonly Pick<Webhook, 'id' | 'agentId'>[],
  request: PageRequest,
): Promise<Page<DeliveryEdge>[]> =>
  request.status
    ? Promise.all(webhooks.map((webhook) => readFiltered(db, webhook, request)))
    : readDeliveryPages(db, webhooks, request)

/** Lists the deliveries to a webhook, manual ones included, newest first; they are stored for 7 days. */
export const listDeliveries = async (
  deps: Db,
  viewer: Viewer,
  { agentId, webhookId }: WebhookRef,
  request: PageRequest,
): Promise<Page<Delivery>> => {
  const webhook = await findWebhook(deps, viewer, agentId, webhookId)
  const [page] = await readDeliveries(deps, [webhook], request)
  return { items: page!.items.map(({ delivery }) => delivery), nextCursor: page!.nextCursor }
}

/** A delivery as a request names it. */
export interface DeliveryRef extends WebhookRef {
  deliveryId: string
}

/** Returns the job of a delivery to the webhook. Throws `not_found`. */
export const findDelivery = async (
  { prisma }: Db,
  { id: lane, agentId }: Pick<Webhook, 'id' | 'agentId'>,
  deliveryId: string,
): Promise<Job> => {
  const where = { id_agentId: { id: deliveryId, agentId }, lane }
  const job = await prisma.job.findUnique({ where })
  if (!job) throw notFound('delivery')
  return job
}

/** Returns a delivery with its request. Throws `not_found` if its webhook was removed meanwhile. */
export const withRequest = async (
  deps: Db & { keyring: Keyring },
  delivery: Delivery,
): Promise<{ delivery: Delivery; request: DeliveryRequest }> => {
  const [request] = await rebuildRequests(deps, [delivery.source])
  if (!request) throw notFound('delivery')
  return { delivery, request }
}

/** Reads a delivery with its request. */
export const readDelivery = async (
  deps: Db & { keyring: Keyring },
  viewer: Viewer,
  { agentId, webhookId, deliveryId }: DeliveryRef,
): Promise<{ delivery: Delivery; request: DeliveryRequest }> => {
  const webhook = await findWebhook(deps, viewer, agentId, webhookId)
  return withRequest(deps, toDelivery(await findDelivery(deps, webhook, deliveryId)))
}

/** Deletes at most $2 deliveries of the agent $1. */
const DELETE_OF_AGENT = {
  name: 'delete deliveries of an agent',
  text: `
    with gone as (
      delete from job where id = any(array(select id from job where agent_id = $1 and kind = 'webhook' limit $2 for update skip locked))
                        and agent_id = $1 returning 1
    )
    select count(*)::int as count from gone`,
}

/** Deletes deliveries of an agent that was deleted. Returns their number, at most `limit`. */
export const deleteDeliveriesOf = (db: Pick<Db, 'pool'>, agentId: string, limit: number): Promise<number> =>
  deleteOfAgent(db, DELETE_OF_AGENT, agentId, limit)

/**
 * Time for which deliveries are stored. Nothing is pending by then: an event is given up after three days.
 * @limit Webhooks
 */
const RETENTION_MS = 7 * 24 * 3_600_000

const DELETE_OLD = composedOf(sql`
  with old as materialized (
    select id, agent_id from job where created_at < $1 and kind = 'webhook' order by created_at limit $2 ${SKIP_LOCKED}
  ),
  gone as (delete from job d using old where d.id = old.id and d.agent_id = old.agent_id returning 1)
  select count(*)::int as count from gone`)

/** Deletes deliveries past their retention time, in small batches. Idempotent; any process may call it at any time. */
export const pruneDeliveries = (db: RootDb, now: Date, signal?: AbortSignal): Promise<number> =>
  deleteInBatches(db, DELETE_OLD, new Date(now.getTime() - RETENTION_MS), signal)
