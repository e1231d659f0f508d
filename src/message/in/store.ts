import type { Blobs } from '../../blob/index.ts'
import type { InboundAttachment } from '../../core/channel/inbound.ts'
import { type Batch, createBatch } from '../../db/batch.ts'
import { byteaArray } from '../../db/bytea.ts'
import { type Db, isUnavailable } from '../../db/client.ts'
import type { Message } from '../../db/generated/prisma/client.ts'
import { APPEND_EVENTS } from '../../event/append.ts'
import type { EventDetail, EventSender, EventType, LoggedEvent } from '../../event/event.ts'
import { enqueueWebhookJobs } from '../../webhook/delivery/enqueue.ts'
import { noteChanges } from '../../workspace/change-log.ts'
import { countArrivals } from '../../workspace/usage.ts'
import { insertMessages, noteUnindexed, toRow } from '../row.ts'

/** How often messages may wake an agent. Null means no limit. */
export interface WakeLimits {
  hour: number | null
  threadDay: number | null
}

/** A received or refused message with everything that is stored along with it. */
export interface Arrival {
  message: Message
  raw: Uint8Array | null
  attachments: InboundAttachment[]
  /** Ids of the objects whose contents were written to the object store; without it, all are in the database. */
  blobs?: PlacedContents | undefined
  /** Content of the message's event; null when the message raises none. The agent's settings may leave its type out. */
  event: { type: EventType; sender: EventSender; from: string; detail?: EventDetail } | null
  /** Limits to count an admitted message against; null for an agent without limits. */
  wakeLimits: WakeLimits | null
}

/** Ids of objects; null for what stays in the database. */
export interface PlacedContents {
  raw: string | null
  files: readonly (string | null)[]
}

/** Writes the contents that leave the database to the object store. Throws `unavailable`. */
export const placeArrival = async <Part extends Pick<Arrival, 'message' | 'raw' | 'attachments'>>(
  blobs: Blobs,
  arrival: Part,
): Promise<Part & Pick<Arrival, 'blobs'>> => {
  if (!blobs.isUsed) return arrival
  const contents = [arrival.raw, ...arrival.attachments.map(({ content }) => content)]
  const [raw = null, ...files] = await blobs.place(arrival.message, contents)
  return { ...arrival, blobs: { raw, files } }
}

/** Size in bytes of what the database gets of the raw message and its attachments. */
export const sizeOf = ({ raw, attachments, blobs }: Arrival) =>
  (blobs?.raw ? 0 : (raw?.byteLength ?? 0)) +
  attachments.reduce((sum, { content }, index) => sum + (blobs?.files[index] ? 0 : content.byteLength), 0)

/**
 * Stores messages with their raw form, attachments, events and webhook jobs. A single statement writes a
 * whole batch, so that a message is never visible without the rest. A message that is already stored (same
 * fingerprint: it was resent because the response was lost) is skipped, with everything that belongs to it.
 *
 * $1 messages and their events as JSON; $2 ids of the messages with a raw form, $8 their objects, `raws` their
 * contents; $3-$7 attachments, $9 their objects, `files` their contents. Each has either an object or a content.
 */
const storing = (raws: string, files: string): string => `
    with
    arrival as (
      select * from json_to_recordset($1) as a(ord int, id uuid, message json, event json)
    ),
    stored as (
      ${insertMessages()} from arrival a, json_populate_record(null::message, a.message) m order by a.ord
      on conflict do nothing
      returning id, agent_id, workspace_id, channel, status, refusal, subject, created_at
    ),
    raw as (
      insert into message_raw (message_id, agent_id, blob_id, content)
      select r.id, agent_id, r.blob_id, r.content
        from unnest($2::uuid[], $8::uuid[], ${raws}::bytea[]) as r(id, blob_id, content) join stored using (id)
    ),
    files as (
      insert into attachment (message_id, agent_id, index, name, type, size, blob_id, content)
      select f.id, agent_id, f.index, f.name, f.type, f.size, f.blob_id, f.content
        from unnest($3::uuid[], $4::int[], $5::text[], $6::text[], $7::int[], $9::uuid[], ${files}::bytea[]) as f(id, index, name, type, size, blob_id, content)
        join stored using (id)
    ),${noteUnindexed('stored')},${countArrivals('stored')},${noteChanges('message_arrived', 'stored')},
    raised as (
      select s.*, a.ord, e.type, e.sender, e."from", e.detail
        from arrival a join stored s using (id), json_to_record(a.event) as e(type text, sender jsonb, "from" text, detail jsonb)
       where e.type is not null
    ),${APPEND_EVENTS},${enqueueWebhookJobs()}
    select s.id, a.event_id, a.agent_name from stored s left join appended a using (id)`

/** Batches use a single statement, prepared once per connection. */
const STORE = { name: 'store arrivals', text: storing('$10', '$11') }

/**
 * Messages of at least this many bytes pass their contents as separate parameters: an array would copy them
 * once more.
 */
const LONG = 1024 * 1024
const places = (first: number, count: number) =>
  `array[${Array.from({ length: count }, (_, index) => `$${first + index}`).join()}]`

const statementOf = (arrivals: readonly Arrival[]) => {
  const raws = arrivals.filter(({ raw }) => raw !== null)
  const files = arrivals.flatMap(({ message, attachments, blobs }) =>
    attachments.map((file, index) => ({ id: message.id, index, file, blobId: blobs?.files[index] ?? null })),
  )
  const rawBytes = raws.map(({ raw, blobs }) => (blobs?.raw ? null : raw))
  const fileBytes = files.map(({ file, blobId }) => (blobId === null ? file.content : null))
  const values = [
    JSON.stringify(
      arrivals.map(({ message, event }, ord) => ({
        ord,
        id: message.id,
        message: toRow(message),
        event: event ?? {},
      })),
    ),
    raws.map(({ message }) => message.id),
    files.map(({ id }) => id),
    files.map(({ index }) => index),
    files.map(({ file }) => file.name),
    files.map(({ file }) => file.type),
    files.map(({ file }) => file.content.byteLength),
    raws.map(({ blobs }) => blobs?.raw ?? null),
    files.map(({ blobId }) => blobId),
  ]
  const agents = arrivals.map(({ message }) => message.agentId)
  if (arrivals.length > 1 || sizeOf(arrivals[0]!) < LONG)
    return { ...STORE, agents, values: [...values, byteaArray(rawBytes), byteaArray(fileBytes)] }
  const text = storing(places(10, rawBytes.length), places(10 + rawBytes.length, fileBytes.length))
  return { text, agents, values: [...values, ...rawBytes, ...fileBytes] }
}

const eventOf = ({ message, event }: Arrival, id: number, agentName: string): LoggedEvent => {
  const { type, sender, from, detail } = event!
  const { id: messageId, agentId, channel, createdAt, subject } = message
  const logged = {
    agentId,
    id,
    type,
    channel,
    messageId,
    createdAt,
    sender,
    from,
    subject,
    agentName,
    ...detail,
  }
  return logged as LoggedEvent
}

type Stored = { id: string } & ({ event_id: number; agent_name: string } | { event_id: null })

/** Stores one batch in one statement. Returns what was stored, by the id of the message. */
export const storeBatch = async (
  { pool }: Pick<Db, 'pool'>,
  arrivals: readonly Arrival[],
): Promise<Map<string, Stored>> => {
  const { rows } = await pool.query<Stored>(statementOf(arrivals))
  return new Map(rows.map((row) => [row.id, row]))
}

/** Like `storeBatch`, but returns each arrival's event, or null when it raised none or was already stored. */
export const storeArrivals = async (
  db: Pick<Db, 'pool'>,
  arrivals: readonly Arrival[],
): Promise<(LoggedEvent | null)[]> => {
  const stored = await storeBatch(db, arrivals)
  return arrivals.map((arrival) => {
    const row = stored.get(arrival.message.id)
    return row?.event_id ? eventOf(arrival, row.event_id, row.agent_name) : null
  })
}

const MAX = 64
const MAX_BYTES = 4 * 1024 * 1024
/**
 * A statement that is running is waited for, so that the next one has more messages (docs/decisions.md#group-commit).
 * A write of a long message delays others only this long.
 */
const PATIENCE_MS = 20

/** Collects arrivals so that they are committed in batches. */
export type ArrivalStore = Batch<Arrival, LoggedEvent | null>

export const createArrivalStore = (db: Db): ArrivalStore =>
  createBatch((arrivals) => storeArrivals(db, arrivals), {
    most: MAX,
    parallel: 2,
    patienceMs: PATIENCE_MS,
    maxBytes: MAX_BYTES,
    sizeOf,
    isUnavailable,
  })
