import type { Blobs } from '../../blob/index.ts'
import type { InboundAttachment } from '../../core/channel/inbound.ts'
import { type Batch, createBatch } from '../../db/batch.ts'
import { byteaArray, textArray } from '../../db/bytea.ts'
import { type Db, isUnavailable } from '../../db/client.ts'
import type { Message } from '../../db/generated/prisma/client.ts'
import { bind, define, empty, joined, rows, type Sql, sql } from '../../db/sql/sql.ts'
import { composedOf, type ParametersOf, type Statement, statement } from '../../db/sql/statement.ts'
import {
  APPEND_EVENTS,
  APPENDED,
  type EventDetail,
  type EventSender,
  type EventType,
  type LoggedEvent,
  RAISED,
} from '../../event/index.ts'
import { enqueueWebhookJobs } from '../../webhook/index.ts'
import { countArrivals, noteChanges } from '../../workspace/index.ts'
import { queueCodes } from '../code/queue.ts'
import { insertMessages, noteUnindexed, toRowWithoutTexts } from '../stored/row.ts'
import { delayEvents } from './delayed-events.ts'

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
  /**
   * Content of the message's event; null when the message raises none. The agent's settings may leave its type out.
   * With a `delay` in seconds, it waits for others of its thread.
   */
  event: { type: EventType; sender: EventSender; from: string; detail?: EventDetail; delay?: number } | null
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

const STORED = rows(
  'stored',
  ...([
    ...['id', 'agent_id', 'workspace_id', 'channel', 'status', 'refusal', 'subject', 'created_at'],
    ...['thread_id', 'codes'],
  ] as const),
)
const GIVEN_EVENT = rows('given_event', 'id', 'ord', 'type', 'sender', 'from', 'detail', 'delay')

/** A batch of messages; arrays of the same kind are of equal length. Each content is either in an object or here. */
interface Batched {
  /** The messages as JSON, without their texts, which PostgreSQL would read and copy (docs/decisions.md#texts-beside-json). */
  messages: string
  texts: Buffer
  replyTexts: Buffer
  /** Their events as JSON. */
  events: string
  /** The messages that have a raw form, and its object. */
  raws: readonly string[]
  rawBlobs: readonly (string | null)[]
  /** For each file, its message; and what it has. */
  files: readonly string[]
  indexes: readonly number[]
  names: readonly string[]
  types: readonly string[]
  sizes: readonly number[]
  fileBlobs: readonly (string | null)[]
}

/** Where the contents of raw forms and of files are: SQL for arrays. */
interface Contents {
  raws: Sql
  files: Sql
}

/** The text of a message `m` among those of its batch. */
const textOf = (texts: Sql): Sql => sql`(${texts}::text[])[m.ordinality]`

const storeFiles = (given: ParametersOf<Batched>, contents: Sql): Sql => sql`
    files as (
      insert into attachment (message_id, agent_id, index, name, type, size, blob_id, content)
      select f.id, agent_id, f.index, f.name, f.type, f.size, f.blob_id, f.content
        from unnest(${given.files}::uuid[], ${given.indexes}::int[], ${given.names}::text[], ${given.types}::text[], ${given.sizes}::int[],
                    ${given.fileBlobs}::uuid[], ${contents}::bytea[]) as f(id, index, name, type, size, blob_id, content)
        join ${STORED} using (id)
    )`

/**
 * Stores messages with their raw form, attachments, events and webhook jobs. A single statement writes a
 * whole batch, so that a message is never visible without the rest. A message that is already stored (same
 * fingerprint: it was resent because the response was lost) is skipped, with everything that belongs to it.
 * Most have no files and codes, and delay no event: they are stored without these parts (docs/decisions.md#parts-of-a-statement).
 */
const storing = (given: ParametersOf<Batched>, contents: Contents, isBare: boolean): Sql => sql`
    with
    ${define(STORED)} as (
      ${insertMessages({ text: textOf(given.texts), replyText: textOf(given.replyTexts) })}
        from json_populate_recordset(null::message, ${given.messages}) with ordinality as m order by m.ordinality
      on conflict do nothing
      returning ${STORED.list}
    ),
    ${define(GIVEN_EVENT)} as (
      select * from json_to_recordset(${given.events}) as e(id uuid, ord int, type text, sender jsonb, "from" text, detail jsonb, delay float8)
    ),
    raw as (
      insert into message_raw (message_id, agent_id, blob_id, content)
      select r.id, agent_id, r.blob_id, r.content
        from unnest(${given.raws}::uuid[], ${given.rawBlobs}::uuid[], ${contents.raws}::bytea[]) as r(id, blob_id, content) join ${STORED} using (id)
    ),${isBare ? empty : sql`${storeFiles(given, contents.files)},${queueCodes(STORED)},${delayEvents(GIVEN_EVENT, STORED)},`}
    ${noteUnindexed(STORED)},${countArrivals(STORED)},${noteChanges('message_arrived', STORED)},
    ${define(RAISED)} as (
      select s.*, e.ord, e.type, e.sender, e."from", e.detail from ${GIVEN_EVENT} e join ${STORED} s using (id) where e.delay is null
    ),${APPEND_EVENTS},${enqueueWebhookJobs()}
    select s.id, a.event_id, a.agent_name from ${STORED} s left join ${APPENDED} a using (id)`

const storeBatchOf = (name: string, isBare: boolean) =>
  statement<Batched & { rawContents: Buffer; fileContents: Buffer }>(name, (given) =>
    storing(given, { raws: given.rawContents, files: given.fileContents }, isBare),
  )
const STORE = storeBatchOf('store arrivals', false)
const STORE_BARE = storeBatchOf('store bare arrivals', true)

/**
 * Messages of at least this many bytes pass their contents as separate parameters: an array would copy them
 * once more.
 */
const LONG = 1024 * 1024

type Content = Uint8Array | null

/** A statement for a long message. */
const storeLong = (batched: Batched, raws: readonly Content[], files: readonly Content[]): Statement => {
  const arrayOf = (contents: readonly Content[]) => sql`array[${joined(contents.map(bind))}]`
  const given = Object.fromEntries(Object.entries(batched).map(([name, of]) => [name, bind(of)]))
  return composedOf(
    storing(given as unknown as ParametersOf<Batched>, { raws: arrayOf(raws), files: arrayOf(files) }, false),
  )
}

const isBare = ({ message, attachments, event }: Arrival): boolean =>
  attachments.length === 0 && (message.codes as unknown[]).length === 0 && !event?.delay

const statementOf = (arrivals: readonly Arrival[]): Statement => {
  const raws = arrivals.filter(({ raw }) => raw !== null)
  const files = arrivals.flatMap(({ message, attachments, blobs }) =>
    attachments.map((file, index) => ({ id: message.id, index, file, blobId: blobs?.files[index] ?? null })),
  )
  const rawBytes = raws.map(({ raw, blobs }) => (blobs?.raw ? null : raw))
  const fileBytes = files.map(({ file, blobId }) => (blobId === null ? file.content : null))
  const batched: Batched = {
    messages: JSON.stringify(arrivals.map(({ message }) => toRowWithoutTexts(message))),
    texts: textArray(arrivals.map(({ message }) => message.text)),
    replyTexts: textArray(arrivals.map(({ message }) => message.replyText)),
    events: JSON.stringify(
      arrivals.flatMap(({ message, event }, ord) => (event ? [{ id: message.id, ord, ...event }] : [])),
    ),
    raws: raws.map(({ message }) => message.id),
    rawBlobs: raws.map(({ blobs }) => blobs?.raw ?? null),
    files: files.map(({ id }) => id),
    indexes: files.map(({ index }) => index),
    names: files.map(({ file }) => file.name),
    types: files.map(({ file }) => file.type),
    sizes: files.map(({ file }) => file.content.byteLength),
    fileBlobs: files.map(({ blobId }) => blobId),
  }
  if (arrivals.length === 1 && sizeOf(arrivals[0]!) >= LONG) return storeLong(batched, rawBytes, fileBytes)
  return (arrivals.every(isBare) ? STORE_BARE : STORE)({
    ...batched,
    ...{ rawContents: byteaArray(rawBytes), fileContents: byteaArray(fileBytes) },
  })
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
