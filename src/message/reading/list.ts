import { authorizeAgent, findAgent } from '../../agent/permission.ts'
import { type Page, writeCursor } from '../../core/cursor.ts'
import { type AppError, invalidInput } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { Viewer } from '../../workspace/viewer.ts'
import { columnsOf, type ReadableField } from '../row.ts'
import { conditionsOf, type MessageFilter } from './filter.ts'
import { columnsWithin, fitting, isText, MAX_TEXT_BYTES, readLongTexts } from './page.ts'
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
  /** The workspace that must have the agents: another's have no messages. */
  workspaceId?: string
}

/**
 * Returns the statement that reads the pages. Parameters inside `(select …)` are unknown to the planner, which
 * then expects the same cost with and without their values: PostgreSQL keeps one plan instead of planning at
 * every call, which takes three times as long as reading a page. A search is planned at every call, because
 * the best plan depends on its words.
 */
const statementOf = (
  keys: readonly MessageListKey[],
  { filter, fields, bounded, limit, cursor, workspaceId }: MessagePageRead<ReadableField>,
  mostBytes: number,
): { text: string; values: unknown[] } => {
  const ofThreads = keys[0]?.threadId !== undefined
  const values: unknown[] = [
    keys.map(({ agentId }) => agentId),
    keys.map(({ threadId }) => threadId ?? null),
    limit + 1,
  ]
  const parameter = (value: unknown) => `$${values.push(value)}`
  const conditions = [
    'm.agent_id = k.agent_id',
    ...(ofThreads ? ['m.thread_id = k.thread_id'] : []),
    ...conditionsOf(filter, cursor, 'k.agent_id', parameter),
  ].join(' and ')
  const mostOfTexts = fields.some(isText) ? `${parameter(mostBytes)}::int` : ''
  const columns = bounded ? columnsWithin(fields, mostOfTexts) : columnsOf(fields)
  // A subquery, because a join might read all agents of the workspace.
  const owned =
    workspaceId === undefined
      ? ''
      : `where (select a.workspace_id from agent a where a.id = k.agent_id) = ${parameter(workspaceId)}`
  const most = filter.q === undefined ? '(select $3::bigint)' : '$3'
  const text = `
    select k.ord::int as key, p.*
      from unnest((select $1::uuid[]), (select $2::uuid[])) with ordinality as k(agent_id, thread_id, ord)
      cross join lateral (
        select ${columns} from message m where ${conditions} order by m.created_at desc, m.id desc limit ${most}
      ) p ${owned}`
  return { text, values }
}

const selectPages = async <Field extends ReadableField>(
  db: Db,
  keys: readonly MessageListKey[],
  read: MessagePageRead<Field>,
): Promise<MessagePage<Field>[]> => {
  const share = Math.floor(MAX_TEXT_BYTES / Math.max(keys.length, 1))
  // Even if all messages have as much, the pages together stay below the limit.
  const mostBytes = Math.floor(share / (read.limit + 1))
  const { text, values } = statementOf(keys, read, mostBytes)
  const name = nameOf(text)
  type Row = MessageFields<Field> & { key: number; textBytes?: number }
  const { rows } = await db.pool.query<Row>({ ...(name === undefined ? {} : { name }), text, values })
  const lists = keys.map((): Row[] => [])
  for (const row of rows) lists[row.key - 1]?.push(row)
  const pages = lists.map((list) => {
    const shown = list.slice(0, Math.min(read.limit, fitting(list, share)))
    return { rows: shown, more: list.length > shown.length }
  })
  const withTexts = read.fields.some(isText)
  const isLong = ({ textBytes = 0 }: Row) => withTexts && textBytes > mostBytes
  const long = pages.flatMap((page) => page.rows).filter(isLong)
  if (long.length === 0) return pages
  const owners = long.map(({ id, key }) => ({ id, agentId: keys[key - 1]!.agentId }))
  const texts = await readLongTexts(db, read.fields, owners)
  return pages.map((page) => ({
    ...page,
    rows: page.rows.flatMap((row) => {
      if (!isLong(row)) return row
      const filled = texts.get(row.id)
      return filled ? { ...row, ...filled } : []
    }),
  }))
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

/** Reads a page of the agent's messages, if the viewer may read them. */
const readOwnPage = async (
  deps: Db,
  viewer: Viewer,
  agentId: string,
  { filter = {}, ...request }: MessagePageRequest & { filter?: MessageFilter },
): Promise<MessagePage<(typeof PRESENTED_FIELDS)[number]>> => {
  const { workspaceId } = viewer
  authorizeAgent(viewer, { id: agentId, workspaceId, createdByAgentId: null })
  const read = { ...request, filter, fields: PRESENTED_FIELDS, bounded: true, workspaceId }
  const [page] = await readMessagePages(deps, [{ agentId }], read)
  if (page instanceof Error) throw page
  return page!
}

/** Lists a page of the agent's messages, newest first (by id within one millisecond). */
export const listMessages = async (
  deps: Db,
  viewer: Viewer,
  agentId: string,
  request: MessagePageRequest & { filter?: MessageFilter },
): Promise<Page<PresentedMessage>> => {
  // The statement that reads the page also checks that the workspace has the agent: a separate query would
  // make a page a fifth slower. A viewer without access gets that error first.
  const ensureReadable = () => findAgent(deps, viewer, agentId)
  const { rows, more } = await readOwnPage(deps, viewer, agentId, request).catch(async (error: unknown) => {
    await ensureReadable()
    throw error
  })
  if (rows.length === 0) await ensureReadable()
  const last = rows.at(-1)
  return { items: rows, nextCursor: more && last ? messageCursor(last) : null }
}
