import { readMoment, writeCursor } from '../../core/cursor.ts'
import { invalidInput } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { MessageFilter } from '../../message/list.ts'
import { fittingInto, MOST_TEXT_BYTES } from '../../message/page.ts'
import { asPhrases, foundIn } from '../../message/search.ts'
import { saidOfAfter } from '../input.ts'

/** Where a page begins and how long it is. */
export interface PageRequest {
  first: number
  after?: string | undefined
}

/** Whose messages: an agent's, or those of one of its threads. All keys of one read are of the same kind. */
export interface PageKey {
  agentId: string
  threadId?: string
}

/** A message's place in its list, with whatever else was selected of it. */
export interface Place {
  id: string
  createdAt: Date
  /** It no longer fits: the page ends before it. */
  past?: boolean
}

const MOST = 100
const DEFAULT_PAGE = 20

/** What a page costs: `field` for itself, and what its entries cost as often as it may hold them. */
export const pageCost = (first: number | null | undefined, field = 1) => ({ field, multiplier: first ?? DEFAULT_PAGE })

/** How long a page shall be. Throws `invalid_input` for one that is too long. */
export const checkFirst = (first: number | null | undefined): number => {
  const length = first ?? DEFAULT_PAGE
  if (length < 1 || length > MOST) throw invalidInput('first', `must be a whole number from 1 to ${MOST}`)
  return length
}

/** Throws `invalid_input` for a page that is too long or begins nowhere. Before any database work. */
export const checkPage = (wanted: number | null | undefined, after: string | null | undefined): PageRequest => {
  const first = checkFirst(wanted)
  if (after === null || after === undefined) return { first }
  placeOf(after)
  return { first, after }
}

export const cursorOf = ({ createdAt, id }: Place): string => writeCursor(createdAt.getTime(), id)

/** The cursors are those of the REST list. Throws `invalid_input` for what is none. */
export const placeOf = (cursor: string): [Date, string] => {
  try {
    return readMoment(cursor)
  } catch (error) {
    return saidOfAfter(error)
  }
}

/** `bounded`: the texts of all pages together are bounded too, so that a page may be shorter than asked for. */
type PageRead = PageRequest & { bounded: boolean }

/** The conditions of a filter in SQL; pushes their parameters. */
const conditionsOf = (filter: MessageFilter, { after }: PageRequest, parameters: unknown[]): string => {
  const parameter = (value: unknown) => `$${parameters.push(value)}`
  const { channel, direction, status, thread, q, since, until } = filter
  const [createdAt, id] = after === undefined ? [] : placeOf(after)
  return [
    channel && `and m.channel = ${parameter(channel)}::"Channel"`,
    direction && `and m.direction = ${parameter(direction)}::"Direction"`,
    status && `and m.status = ${parameter(status)}::"MessageStatus"`,
    thread && `and m.thread_id = ${parameter(thread)}::uuid`,
    q && `and m.id in (${foundIn('k.agent_id', parameter(asPhrases(q)))})`,
    since && `and m.created_at >= ${parameter(since)}::timestamptz`,
    until && `and m.created_at <= ${parameter(until)}::timestamptz`,
    createdAt && `and (m.created_at, m.id) < (${parameter(createdAt)}::timestamptz, ${parameter(id)}::uuid)`,
  ]
    .filter(Boolean)
    .join(' ')
}

/** What of a message a statement reads: `attachments`, and the model's fields by their names. */
const columnsOf = (fields: readonly string[]): string =>
  fields
    .map((field) => (field === 'attachments' ? ATTACHMENTS : `m."${field.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)}"`))
    .map((column, index) => `${column} as "${fields[index]}"`)
    .join(', ')

const ATTACHMENTS = `coalesce((select json_agg(json_build_object('messageId', f.message_id, 'index', f.index, 'name', f.name, 'type', split_part(f.type, ';', 1),
  'size', f.size, 'message', json_build_object('agentId', m.agent_id)) order by f.index) from attachment f where f.message_id = m.id), '[]')`

/** Statements worth preparing on each connection. Selections are the clients': past this many they are planned each time. */
const MOST_PREPARED = 100
const prepared = new Map<string, string>()

const nameOf = (text: string): string | undefined => {
  const known = prepared.get(text)
  if (known !== undefined || prepared.size >= MOST_PREPARED) return known
  const name = `messages ${prepared.size}`
  prepared.set(text, name)
  return name
}

/** The thread that a message is of, and whose it is. */
export const findThread = async ({ pool }: Db, messageId: string): Promise<{ agentId: string; threadId: string } | null> => {
  const { rows } = await pool.query<{ agent_id: string; thread_id: string }>({
    name: 'thread of a message',
    text: 'select agent_id, thread_id from message where id = $1',
    values: [messageId],
  })
  return rows[0] ? { agentId: rows[0].agent_id, threadId: rows[0].thread_id } : null
}

const selectPages = async <Row extends Place>(
  { pool }: Db,
  keys: readonly PageKey[],
  fields: readonly string[],
  filter: MessageFilter,
  { bounded, ...page }: PageRead,
): Promise<Row[][]> => {
  const ofThreads = keys[0]?.threadId !== undefined
  const parameters: unknown[] = [keys.map(({ agentId }) => agentId), keys.map(({ threadId }) => threadId ?? null), page.first + 1]
  const conditions = conditionsOf(filter, page, parameters)
  const from = (columns: string) =>
    `select ${columns} from message m where m.agent_id = k.agent_id ${ofThreads ? 'and m.thread_id = k.thread_id' : ''}
      ${conditions} order by m.created_at desc, m.id desc limit $3`
  const share = bounded ? `$${parameters.push(Math.floor(MOST_TEXT_BYTES / Math.max(keys.length, 1)))}::int` : ''
  const fittingRows = () =>
    `select ${columnsOf(fields)}, m.past from ${fittingInto(share, from('m.*'))} order by m.created_at desc, m.id desc`
  const text = `select k.ord::int as key, p.* from unnest($1::uuid[], $2::uuid[]) with ordinality as k(agent_id, thread_id, ord)
    cross join lateral (${bounded ? fittingRows() : from(columnsOf(fields))}) p`
  const name = nameOf(text)
  const { rows } = await pool.query<Row & { key: number }>({ ...(name === undefined ? {} : { name }), text, values: parameters })
  const pages = keys.map((): Row[] => [])
  for (const row of rows) pages[row.key - 1]?.push(row)
  return pages
}

/**
 * The newest messages of each of these agents or threads that fit the filter: one page and one more, in one statement however many
 * they are (what Prisma makes of a nested `take` is all rows of all of them, cut in memory). `fields` are names of the model, `id` and
 * `createdAt` among them. For an agent that has not the filter's thread: an error in place of its page.
 */
export const readPages = async <Row extends Place>(
  db: Db,
  keys: readonly PageKey[],
  fields: readonly string[],
  filter: MessageFilter,
  page: PageRead,
): Promise<(Row[] | Error)[]> => {
  if (filter.thread === undefined) return selectPages<Row>(db, keys, fields, filter, page)
  const thread = await findThread(db, filter.thread)
  const has = ({ agentId }: PageKey) => thread?.agentId === agentId
  const pages = thread ? await selectPages<Row>(db, keys.filter(has), fields, { ...filter, thread: thread.threadId }, page) : []
  return keys.map((key) => (has(key) ? pages.shift()! : invalidInput('thread', 'is no message of this agent')))
}
