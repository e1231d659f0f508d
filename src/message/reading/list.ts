import { authorizeAgent, findAgent } from '../../agent/index.ts'
import type { Page } from '../../core/cursor.ts'
import { AppError, invalidInput } from '../../core/errors.ts'
import { createKindBatches, type KindBatches } from '../../db/batch.ts'
import { type Db, isUnavailable } from '../../db/client.ts'
import type { Message } from '../../db/generated/prisma/client.ts'
import { readAnywhere } from '../../db/replica.ts'
import { bind, type Sql, sql } from '../../db/sql/sql.ts'
import { ensureMember, type Viewer } from '../../workspace/index.ts'
import { columnsOf, type MessageWithFiles, type ReadableField } from '../stored/row.ts'
import { accessOf, type MessageFilter, marked, newestMessages, type Owner } from './filter.ts'
import { begin, type Found, findMessages, hidden, hiddenLimit, messageCursor, type Place } from './find.ts'
import { forEach, joinMessage, KEY_ORD, type MessageListKey, OWNER_ID } from './for-each.ts'
import { columnsWithin, fitting, isText, MAX_TEXT_BYTES, readLongTexts } from './page.ts'
import { prepared } from './prepared.ts'
import { PRESENTED_FIELDS, type PresentedMessage } from './present.ts'
import { agentIdsOf, findThread, type ThreadRef } from './thread.ts'

export type { MessageListKey }

export interface MessagePageRequest {
  limit: number
  cursor?: string | undefined
}

/** `Field`s of messages, newest first (by id within one millisecond). */
export interface MessagePage<Field extends ReadableField> {
  rows: MessageFields<Field>[]
  /** Whether there are more messages after this page. */
  more: boolean
  /** The place after which the next page starts, if that is not the last row: a search stopped there. */
  end?: Place
}

export type MessageFields<Field extends ReadableField> = Pick<
  Message & MessageWithFiles,
  Field | 'id' | 'agentId' | 'createdAt'
>

/** Which messages a page contains, and which fields are read. */
interface MessagePageRead<Field extends ReadableField> extends MessagePageRequest {
  filter: MessageFilter
  /** Must include `id`, `agentId` and `createdAt`. */
  fields: readonly Field[]
  /**
   * Whether to limit the total size of the texts on all pages, so that a page may be shorter than requested.
   */
  bounded: boolean
  /** The workspace that must have the agents: another's have no messages. */
  workspaceId?: string
}

/** Selects the messages `m` of each key `k`: a statement without its columns. */
type Source = (owner: Owner) => Sql

const newestOf =
  ({ filter, limit, cursor }: MessagePageRequest & { filter: MessageFilter }): Source =>
  (owner) =>
    newestMessages(accessOf(filter, owner), { owner, filter, cursor, limit: hiddenLimit(limit + 1) })

/** The messages that searches found, each read by its key: the planner would rather read the whole mailbox. */
const foundOf =
  (pages: readonly Found[]): Source =>
  () => {
    const found = pages.flatMap(({ places }, index) => places.map((place) => ({ ...place, ord: index + 1 })))
    const [ords, ids] = [found.map(({ ord }) => ord), found.map(({ id }) => id)]
    const agentIds = found.map(({ agentId }) => agentId)
    return sql`from unnest(${hidden(ords, 'int[]')}, ${hidden(ids, 'uuid[]')}, ${hidden(agentIds, 'uuid[]')}) as f(ord, id, agent_id)
      ${joinMessage('f')}
      where f.ord = ${KEY_ORD} order by m.created_at desc, m.id desc`
  }

/** Returns the query that reads the pages. */
const queryOf = (
  keys: readonly MessageListKey[],
  { fields, bounded, workspaceId }: Omit<MessagePageRead<ReadableField>, 'filter' | 'limit'>,
  { source, mostBytes }: { source: Source; mostBytes: number },
): Sql => {
  const { keys: of, owner } = begin(keys)
  const columns = bounded ? columnsWithin(fields, sql`${bind(mostBytes)}::int`) : columnsOf(fields)
  // A subquery, because a join might read all agents of the workspace.
  const owned =
    workspaceId === undefined
      ? undefined
      : sql`(select a.workspace_id from agent a where a.id = ${OWNER_ID}) = ${bind(workspaceId)}`
  return forEach(of, sql`select ${columns} ${source(owner)}`, owned)
}

/** A page of which some texts may be missing, because they are long. */
interface Selected<Field extends ReadableField> extends MessagePage<Field> {
  long: readonly MessageFields<Field>[]
}

/**
 * Selects a page for each key; `each` is how many bytes of texts one page may have. The texts that are read here have at most
 * `MAX_TEXT_BYTES` together: `fillTexts` reads the others.
 */
const selectPages = async <Field extends ReadableField>(
  db: Db,
  keys: readonly MessageListKey[],
  read: MessagePageRead<Field>,
  { each, source = newestOf(read) }: { each: number; source?: Source },
): Promise<Selected<Field>[]> => {
  // Even if all messages have as much, the pages together stay below the limit.
  const mostBytes = Math.floor(MAX_TEXT_BYTES / Math.max(keys.length, 1) / (read.limit + 1))
  type Row = MessageFields<Field> & { key: number; textBytes?: number }
  const { rows } = await db.pool.query<Row>(prepared(queryOf(keys, read, { source, mostBytes })))
  const lists = keys.map((): Row[] => [])
  for (const row of rows) lists[row.key - 1]?.push(row)
  const withTexts = read.fields.some(isText)
  return lists.map((list) => {
    const shown = list.slice(0, Math.min(read.limit, fitting(list, each)))
    const long = withTexts ? shown.filter(({ textBytes = 0 }) => textBytes > mostBytes) : []
    return { rows: shown, more: list.length > shown.length, long }
  })
}

/** Reads the texts that are missing on these pages, in one statement. */
const fillTexts = async <Field extends ReadableField>(
  db: Db,
  { fields }: MessagePageRead<Field>,
  pages: readonly Selected<Field>[],
): Promise<MessagePage<Field>[]> => {
  const long = new Set(pages.flatMap((page) => page.long))
  const texts = long.size === 0 ? null : await readLongTexts(db, fields, [...long])
  const fill = (row: MessageFields<Field>) => {
    if (!long.has(row)) return row
    const filled = texts?.get(row.id)
    return filled ? { ...row, ...filled } : []
  }
  return pages.map(({ rows, more }) => ({ rows: texts ? rows.flatMap(fill) : rows, more }))
}

/** Whether a page is the newest messages that an index has in order: nothing has to be searched or tested. */
const isPlain = ({ filter }: Pick<MessagePageRead<ReadableField>, 'filter'>, owner: Owner): boolean =>
  filter.q === undefined && marked(accessOf(filter, owner).tested).length === 0

/** Reads a page for each key, whose filter names a thread by its own id. */
const readPages = async <Field extends ReadableField>(
  db: Db,
  keys: readonly MessageListKey[],
  read: MessagePageRead<Field>,
): Promise<MessagePage<Field>[]> => {
  const each = Math.floor(MAX_TEXT_BYTES / Math.max(keys.length, 1))
  if (isPlain(read, begin(keys).owner))
    return fillTexts(db, read, await selectPages(db, keys, read, { each }))
  const found = await findMessages(db, keys, read)
  const selected = await selectPages(db, keys, read, { each, source: foundOf(found) })
  const pages = await fillTexts(db, read, selected)
  return pages.map((page, index) => {
    const { next } = found[index]!
    return page.more || !next ? page : { rows: page.rows, more: true, end: next }
  })
}

/**
 * Collects reads of single pages: concurrent ones that differ in nothing but whose messages they list share a
 * statement, four at most, because a page waits for the others. See docs/decisions.md#batched-reads.
 */
export type MessageLists = KindBatches<
  MessagePageRead<ReadableField>,
  MessageListKey,
  Selected<ReadableField>
>

export const createMessageLists = (root: Db): MessageLists =>
  createKindBatches(
    root,
    (db, read, keys) =>
      readAnywhere({ ...root, ...db }, (from) => selectPages(from, keys, read, { each: MAX_TEXT_BYTES })),
    { most: 4, parallel: 4, patienceMs: 5, isUnavailable },
  )

export interface ListDeps extends Db {
  lists: MessageLists
}

/**
 * Reads a page of messages for each of these agents, threads or workspaces, newest first: a single statement
 * unless it has to search (for a nested `take`, Prisma reads all rows and cuts them in memory). An agent or
 * workspace that does not have the filter's thread gets an error in place of its page.
 */
export const readMessagePages = async <Field extends ReadableField>(
  deps: ListDeps,
  keys: readonly MessageListKey[],
  read: MessagePageRead<Field>,
): Promise<(MessagePage<Field> | AppError)[]> => {
  const { owner } = begin(keys)
  const { thread, threadId } = read.filter
  if (keys.length !== 1 || thread !== undefined || threadId !== undefined || !isPlain(read, owner))
    return readAnywhere(deps, (from) => readListed(from, keys, read))
  const name = JSON.stringify([owner.column, owner.threadId !== undefined, read])
  const selected = (await deps.lists.add(deps, { name, kind: read }, keys[0]!)) as Selected<Field>
  if (selected.long.length === 0) return [selected]
  return readAnywhere(deps, (from) => fillTexts(from, read, [selected]))
}

const readListed = async <Field extends ReadableField>(
  db: Db,
  keys: readonly MessageListKey[],
  read: MessagePageRead<Field>,
): Promise<(MessagePage<Field> | AppError)[]> => {
  const { threadId: named, ...filter } = read.filter
  const asked = filter.thread ?? named
  if (asked === undefined) return readPages(db, keys, read)
  const agentIds = keys.flatMap((key) => ('agentId' in key ? [key.agentId] : []))
  const found = await findThread(db, asked, agentIds)
  const [workspaceId] = keys.flatMap((key) => ('workspaceId' in key ? [key.workspaceId] : []))
  const thread =
    found || workspaceId === undefined
      ? found
      : await findThread(db, asked, await agentIdsOf(db, workspaceId))
  const has = (key: MessageListKey) =>
    'workspaceId' in key ? thread?.workspaceId === key.workspaceId : thread?.agentId === key.agentId
  const ofThread = ({ agentId, threadId }: ThreadRef) =>
    readPages(db, [{ agentId }], { ...read, filter: { ...filter, thread: threadId } })
  const [page] = thread && keys.some(has) ? await ofThread(thread) : []
  return keys.map((key) => {
    if (has(key)) return page!
    const whose = 'workspaceId' in key ? 'workspace' : 'agent'
    const isById = filter.thread === undefined
    return invalidInput(
      isById ? 'threadId' : 'thread',
      `is not a ${isById ? 'thread' : 'message'} of this ${whose}`,
    )
  })
}

/** What of an agent's messages is listed. */
type ListRequest = MessagePageRequest & { filter?: MessageFilter }

/** Reads a page of the agent's messages, if the viewer may read them. */
const readOwnPage = async <Field extends ReadableField>(
  deps: ListDeps,
  viewer: Viewer,
  agentId: string,
  { filter = {}, ...request }: ListRequest & { fields: readonly Field[] },
): Promise<MessagePage<Field>> => {
  const { workspaceId } = viewer
  authorizeAgent(viewer, { id: agentId, workspaceId, createdByAgentId: null })
  const read = { ...request, filter, bounded: true, workspaceId }
  const [page] = await readMessagePages(deps, [{ agentId }], read)
  if (page instanceof Error) throw page
  return page!
}

/**
 * Lists a page of the agent's messages with these fields, of which `id`, `agentId` and `createdAt` must be some, newest first
 * (by id within one millisecond).
 */
export const listFields = async <Field extends ReadableField>(
  deps: ListDeps,
  viewer: Viewer,
  agentId: string,
  request: ListRequest & { fields: readonly Field[] },
): Promise<Page<MessageFields<Field>>> => {
  // The statement that reads the page also checks that the workspace has the agent
  // (docs/decisions.md#no-separate-check). A viewer without access gets that error first, unless the database has failed: it
  // refuses all further statements of a transaction.
  const ensureReadable = () => findAgent(deps, viewer, agentId)
  const page = await readOwnPage(deps, viewer, agentId, request).catch(async (error: unknown) => {
    if (error instanceof AppError) await ensureReadable()
    throw error
  })
  const { rows, more, end = rows.at(-1) } = page
  if (rows.length === 0) await ensureReadable()
  return { items: rows, nextCursor: more && end ? messageCursor(end) : null }
}

/** Lists a page of the agent's messages with all that the API shows of them. */
export const listMessages = (
  deps: ListDeps,
  viewer: Viewer,
  agentId: string,
  request: ListRequest,
): Promise<Page<PresentedMessage>> =>
  listFields(deps, viewer, agentId, { ...request, fields: PRESENTED_FIELDS })

/** Lists a page of the messages of all agents of the viewer's workspace, newest first. For members. */
export const listWorkspaceMessages = async (
  deps: ListDeps,
  viewer: Viewer,
  { filter = {}, ...request }: MessagePageRequest & { filter?: MessageFilter },
): Promise<Page<PresentedMessage>> => {
  ensureMember(viewer)
  const { workspaceId } = viewer
  const read = { ...request, filter, fields: PRESENTED_FIELDS, bounded: true }
  const [page] = await readMessagePages(deps, [{ workspaceId }], read)
  if (page instanceof Error) throw page
  const { rows, more, end = rows.at(-1) } = page!
  return { items: rows, nextCursor: more && end ? messageCursor(end) : null }
}
