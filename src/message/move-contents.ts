import { type Blobs, checkSoon, UnreadableObject } from '../blob/index.ts'
import { AppError } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import { raw, type Sql, sql } from '../db/sql/sql.ts'
import { composedOf, type Statement } from '../db/sql/statement.ts'

/**
 * Moves the contents of stored messages into the object store, or back into the database, beside a running service.
 * Each row is changed on its own, after its content is where it is going, so that it is always whole and this may be
 * interrupted at any point; what was moved is passed over when it is run again.
 */

export interface MoveDeps extends Db {
  blobs: Blobs
}

export type Direction = 'store' | 'database'

export interface Moved {
  contents: number
  bytes: number
  /** Contents whose objects are missing or changed: they stay as they are, and the log names the objects. */
  unreadable: number
}

const NOTHING: Moved = { contents: 0, bytes: 0, unreadable: 0 }

export interface MoveOptions {
  to: Direction
  /** Called after each page, with the time at which its last message was stored. */
  progress?(moved: Moved, upTo: Date): void
}

/** Position before all rows; the index of an original is 0. */
const FIRST: Position = { id: '00000000-0000-0000-0000-000000000000', index: -1 }
interface Position {
  id: string
  index: number
}

interface Row extends Record<string, unknown> {
  id: string
  index: number
  agentId: string
  workspaceId: string
  /** Whether it is to be moved. */
  due: boolean
}

interface Source {
  /** Reads the next rows in the order of the primary key, moved or not, so that one statement is always short. */
  page: string
  read: string
  toStore: string
  toDatabase: Statement
}

const PAGE = 500
/** Contents in memory at once, each of up to 40 MiB; the service needs the store and the database too. */
const PARALLEL = 4

const DUE = `case when $3 = 'store' then c.content is not null and octet_length(c.content) >= $4::int else c.blob_id is not null end`
const COLUMNS = `c.message_id as id, c.agent_id as "agentId", m.workspace_id as "workspaceId", ${DUE} as due`
const MESSAGE = 'join message m on m.id = c.message_id and m.agent_id = c.agent_id'
const CONTENT = 'agent_id as "agentId", content, blob_id as "blobId"'
/** The object that a content comes from; the parameters are those of `toDatabase`. */
const LOOSE = checkSoon(sql`select $2::uuid, $4::uuid`)

const RAW_KEY = 'message_id = $1::uuid and agent_id = $2::uuid and $3::int = 0'
const FILE_KEY = 'message_id = $1::uuid and agent_id = $2::uuid and index = $3::int'

/** What is stored for each file of a message. */
const ofFiles = (
  table: 'attachment' | 'attachment_text',
  { toStore, toDatabase }: { toStore: string; toDatabase: Sql },
): Source => ({
  page: `
    select ${COLUMNS}, c.index
      from (select * from ${table} where (message_id, index) > ($1::uuid, $2::int) order by message_id, index limit ${PAGE}) c
      ${MESSAGE} order by c.message_id, c.index`,
  read: `select ${CONTENT} from ${table} where ${FILE_KEY}`,
  toStore: `${toStore} where ${FILE_KEY} and content is not null returning 1`,
  toDatabase: composedOf(
    sql`with ${LOOSE} ${toDatabase} where ${raw(FILE_KEY)} and blob_id = $4::uuid returning 1`,
  ),
})

const SOURCES: readonly Source[] = [
  {
    page: `
      select ${COLUMNS}, 0 as index
        from (select * from message_raw where message_id > $1::uuid and $2::int is not null order by message_id limit ${PAGE}) c
        ${MESSAGE} order by c.message_id`,
    read: `select ${CONTENT} from message_raw where ${RAW_KEY}`,
    toStore: `update message_raw set content = null, blob_id = $4::uuid where ${RAW_KEY} and content is not null returning 1`,
    toDatabase: composedOf(
      sql`with ${LOOSE} update message_raw set content = $5::bytea, blob_id = null where ${raw(RAW_KEY)} and blob_id = $4::uuid returning 1`,
    ),
  },
  ofFiles('attachment', {
    toStore: 'update attachment set content = null, blob_id = $4::uuid',
    toDatabase: sql`update attachment set content = $5::bytea, blob_id = null`,
  }),
  ofFiles('attachment_text', {
    toStore: 'update attachment_text set content = null, blob_id = $4::uuid',
    toDatabase: sql`update attachment_text set content = $5::bytea, blob_id = null`,
  }),
]

interface Content {
  agentId: string
  content: Buffer<ArrayBuffer> | null
  blobId: string | null
}

/** Moves one content. Counts nothing if it was deleted or moved by somebody else meanwhile. */
const moveOne = async (
  { pool, blobs }: MoveDeps,
  source: Source,
  row: Row,
  to: Direction,
): Promise<Moved> => {
  const key = [row.id, row.agentId, row.index]
  const { rows } = await pool.query<Content & Record<string, unknown>>(source.read, key)
  const [found] = rows
  const isDue = to === 'store' ? found?.content : found?.blobId
  if (!found || !isDue) return NOTHING
  const content = await blobs.contentOf(found)
  const [blobId] = to === 'store' ? await blobs.place(row, [content]) : [found.blobId]
  const changed = await pool.query(
    to === 'store'
      ? { text: source.toStore, values: [...key, blobId] }
      : { ...source.toDatabase, values: [...key, blobId, content] },
  )
  return changed.rows.length > 0 ? { contents: 1, bytes: content.byteLength, unreadable: 0 } : NOTHING
}

/** One object that cannot be read does not keep the others where they are. */
const unlessUnreadable = (error: unknown): Moved => {
  if (error instanceof AppError && error.cause instanceof UnreadableObject)
    return { contents: 0, bytes: 0, unreadable: 1 }
  throw error
}

/** The time in an id of version 7, which is when the message was stored. */
const timeOf = (id: string): Date => new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16))

const moveAll = async (
  deps: MoveDeps,
  source: Source,
  moved: Moved,
  { to, progress }: MoveOptions,
): Promise<void> => {
  for (let last = FIRST; ; ) {
    const values = [last.id, last.index, to, deps.blobs.minBytes]
    const { rows } = await deps.pool.query<Row>(source.page, values)
    const due = rows.filter((row) => row.due)
    for (let at = 0; at < due.length; at += PARALLEL) {
      const some = due.slice(at, at + PARALLEL)
      const moving = some.map((row) => moveOne(deps, source, row, to).catch(unlessUnreadable))
      for (const one of await Promise.all(moving)) {
        moved.contents += one.contents
        moved.bytes += one.bytes
        moved.unreadable += one.unreadable
      }
    }
    const end = rows.at(-1)
    if (end) progress?.(moved, timeOf(end.id))
    if (rows.length < PAGE) return
    last = end!
  }
}

/** Moves everything; interrupted, the next run goes on with what is left. Throws `unavailable` when the store fails; what was moved until then stays moved. */
export const moveContents = async (deps: MoveDeps, options: MoveOptions): Promise<Moved> => {
  const moved = { ...NOTHING }
  for (const source of SOURCES) await moveAll(deps, source, moved, options)
  return moved
}
