import type { Db } from '../../db/client.ts'
import { type Sql, sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import { columnsOf, type ReadableField } from '../stored/row.ts'

/**
 * Texts in one response. A text may be as long as a mail, and a hundred of those would exceed what a response, or
 * a process, can hold.
 * @limit Messages
 */
export const MAX_TEXT_BYTES = 8 * 1024 * 1024

/**
 * The size of the texts of a message `m` (SQL). Computed without decompressing them: PostgreSQL stores their
 * sizes.
 */
const TEXT_BYTES = sql`octet_length(m.text) + coalesce(octet_length(m.reply_text), octet_length(m.text))`

/** Returns the size of the texts of these messages together, in bytes. */
export const textBytesOf = async ({ pool }: Db, ids: readonly string[]): Promise<number> => {
  const { rows } = await pool.query<{ bytes: number }>({
    name: 'size of texts',
    ...composedOf(
      sql`select coalesce(sum(${TEXT_BYTES}), 0)::float8 as bytes from message m where m.id = any($1::uuid[])`,
    ),
    values: [ids],
  })
  return rows[0]!.bytes
}

/** Whether the field is one of the texts, which may be long. */
export const isText = (field: ReadableField): boolean => field === 'text' || field === 'replyText'

/**
 * Selects these fields of messages `m`, but not the texts of a message with more than `most` bytes
 * of them. `fillTexts` reads those once it is known that they fit on the page.
 */
export const columnsWithin = (fields: readonly ReadableField[], most: Sql): Sql => {
  const within = (column: Sql) => sql`case when ${TEXT_BYTES} <= ${most} then ${column} end`
  return sql`${columnsOf(fields, (column, field) => (isText(field) ? within(column) : column))}, ${TEXT_BYTES} as "textBytes"`
}

/** Returns how many of the rows read belong to a page: those whose texts fit into `bytes`, at least one. */
export const fitting = (rows: readonly { textBytes?: number }[], bytes: number): number => {
  let sum = 0
  const past = rows.findIndex(({ textBytes = 0 }, index) => {
    sum += textBytes
    return index > 0 && sum > bytes
  })
  return past === -1 ? rows.length : past
}

/**
 * Reads the texts that `columnsWithin` has left out. Returns their fields by the id of the message; those that
 * were deleted meanwhile are missing.
 */
export const readLongTexts = async (
  { pool }: Db,
  fields: readonly ReadableField[],
  messages: readonly { id: string; agentId: string }[],
): Promise<Map<string, object>> => {
  const columns = columnsOf(['id', ...fields.filter(isText)])
  const { rows } = await pool.query<{ id: string }>({
    ...composedOf(sql`
      select ${columns} from unnest($1::uuid[], $2::uuid[]) as k(id, agent_id)
        join message m on m.id = k.id and m.agent_id = k.agent_id`),
    values: [messages.map(({ id }) => id), messages.map(({ agentId }) => agentId)],
  })
  return new Map(rows.map((row) => [row.id, row]))
}
