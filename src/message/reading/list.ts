import { findAgent } from '../../agent/permission.ts'
import { type Page, writeCursor } from '../../core/cursor.ts'
import { type AppError, invalidInput } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { Viewer } from '../../workspace/viewer.ts'
import { columnsOf, type ReadableField } from '../row.ts'
import { conditionsOf, type MessageFilter } from './filter.ts'
import { fitting, fittingInto, MAX_TEXT_BYTES } from './page.ts'
import { type MessageWithFiles, PRESENTED_FIELDS, type PresentedMessage } from './present.ts'
import { findThread } from './thread.ts'

export interface MessagePageRequest {
  limit: number
  cursor?: string | undefined
}

/** An agent, or one of its threads, whose messages are read. All keys of one read are of the same kind. */
export interface MessageListKey {
  agentId: string
  threadId?: string
}

/** `Field`s of messages, newest first (by id within one millisecond). */
export interface MessagePage<Field extends ReadableField> {
  rows: MessageFields<Field>[]
  /** Whether there are more messages after this page. */
  more: boolean
}

export type MessageFields<Field extends ReadableField> = Pick<MessageWithFiles, Field | 'id' | 'createdAt'>

/** Returns the cursor of a message in its list. */
export const messageCursor = ({ createdAt, id }: Pick<MessageWithFiles, 'createdAt' | 'id'>): string =>
  writeCursor(createdAt.getTime(), id)

/**
 * Maximum number of statements prepared on each connection. Clients choose the selected fields; statements
 * past this limit are planned each time.
 */
const MAX_PREPARED = 100
const prepared = new Map<string, string>()

const nameOf = (text: string): string | undefined => {
  const known = prepared.get(text)
  if (known !== undefined || prepared.size >= MAX_PREPARED) return known
  const name = `messages ${prepared.size}`
  prepared.set(text, name)
  return name
}

/** Which messages a page contains, and which fields are read. */
interface MessagePageRead<Field extends ReadableField> extends MessagePageRequest {
  filter: MessageFilter
  /** Must include `id` and `createdAt`. */
  fields: readonly Field[]
  /**
   * Whether to limit the total size of the texts on all pages, so that a page may be shorter than requested.
   */
  bounded: boolean
}

const statementOf = (
  keys: readonly MessageListKey[],
  { filter, fields, bounded, limit, cursor }: MessagePageRead<ReadableField>,
): { text: string; values: unknown[] } => {
  const ofThreads = keys[0]?.threadId !== undefined
  const values: unknown[] = [
    keys.map(({ agentId }) => agentId),
    keys.map(({ threadId }) => threadId ?? null),
    limit + 1,
  ]
  const conditions = [
    'm.agent_id = k.agent_id',
    ...(ofThreads ? ['m.thread_id = k.thread_id'] : []),
    ...conditionsOf(filter, cursor, 'k.agent_id', (value) => `$${values.push(value)}`),
  ].join(' and ')
  const from = (columns: string) =>
    `select ${columns} from message m where ${conditions} order by m.created_at desc, m.id desc limit $3`
  const share = bounded ? `$${values.push(Math.floor(MAX_TEXT_BYTES / Math.max(keys.length, 1)))}::int` : ''
  const columns = columnsOf(fields)
  const fittingRows = () =>
    `select ${columns}, m.past from ${fittingInto(share, from('m.*'))} order by m.created_at desc, m.id desc`
  const text = `select k.ord::int as key, p.* from unnest($1::uuid[], $2::uuid[]) with ordinality as k(agent_id, thread_id, ord)
    cross join lateral (${bounded ? fittingRows() : from(columns)}) p`
  return { text, values }
}

const selectPages = async <Field extends ReadableField>(
  { pool }: Db,
  keys: readonly MessageListKey[],
  read: MessagePageRead<Field>,
): Promise<MessagePage<Field>[]> => {
  const { text, values } = statementOf(keys, read)
  const name = nameOf(text)
  type Row = MessageFields<Field> & { key: number; past?: boolean }
  const { rows } = await pool.query<Row>({ ...(name === undefined ? {} : { name }), text, values })
  const lists = keys.map((): Row[] => [])
  for (const row of rows) lists[row.key - 1]?.push(row)
  return lists.map((list) => {
    const length = fitting(list, read.limit)
    return { rows: list.slice(0, length), more: list.length > length }
  })
}

/**
 * Reads a page of messages for each of these agents or threads, newest first, in a single statement (for a
 * nested `take`, Prisma reads all rows and cuts them in memory). An agent that does not have the filter's
 * thread gets an error in place of its page.
 */
export const readMessagePages = async <Field extends ReadableField>(
  db: Db,
  keys: readonly MessageListKey[],
  read: MessagePageRead<Field>,
): Promise<(MessagePage<Field> | AppError)[]> => {
  const { filter } = read
  if (filter.thread === undefined) return selectPages(db, keys, read)
  const thread = await findThread(db, filter.thread)
  const has = ({ agentId }: MessageListKey) => thread?.agentId === agentId
  const ofThread = (threadId: string) =>
    selectPages(db, keys.filter(has), { ...read, filter: { ...filter, thread: threadId } })
  const pages = thread ? await ofThread(thread.threadId) : []
  return keys.map((key) =>
    has(key) ? pages.shift()! : invalidInput('thread', 'is not a message of this agent'),
  )
}

/** Lists a page of the agent's messages, newest first (by id within one millisecond). */
export const listMessages = async (
  deps: Db,
  viewer: Viewer,
  agentId: string,
  { filter = {}, ...request }: MessagePageRequest & { filter?: MessageFilter },
): Promise<Page<PresentedMessage>> => {
  await findAgent(deps, viewer, agentId)
  const [page] = await readMessagePages(deps, [{ agentId }], {
    ...request,
    filter,
    fields: PRESENTED_FIELDS,
    bounded: true,
  })
  if (page instanceof Error) throw page
  const last = page!.rows.at(-1)
  return { items: page!.rows, nextCursor: page!.more && last ? messageCursor(last) : null }
}
