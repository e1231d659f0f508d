import { readCursor, writeCursor } from '../../core/cursor.ts'
import { invalidInput } from '../../core/errors.ts'
import { uuid } from '../../core/rules.ts'
import type { Db } from '../../db/client.ts'
import type { MessageFilter } from '../../message/list.ts'

/** Where a page begins and how long it is. */
export interface PageRequest {
  first: number
  after?: string | undefined
}

/** A message's place in its list. */
export interface Place {
  id: string
  createdAt: Date
}

const MOST = 100

/** Throws `invalid_input` for a page that is too long or begins nowhere. Before any database work. */
export const checkPage = (first: number, after: string | null | undefined): PageRequest => {
  if (first < 1 || first > MOST) throw invalidInput('first', `must be a whole number from 1 to ${MOST}`)
  if (after === null || after === undefined) return { first }
  placeOf(after)
  return { first, after }
}

export const cursorOf = ({ createdAt, id }: Place): string => writeCursor(createdAt.getTime(), id)

/** The cursors are those of the REST list. */
const placeOf = (cursor: string): [Date, string] => {
  const wrong = invalidInput('after', 'is not one that this list gave')
  let parts: (string | number)[]
  try {
    parts = readCursor(cursor, 2)
  } catch {
    throw wrong
  }
  const createdAt = new Date(parts[0] as number)
  const id = uuid.safeParse(parts[1])
  if (!id.success || typeof parts[0] !== 'number' || Number.isNaN(createdAt.getTime())) throw wrong
  return [createdAt, id.data]
}

/** The condition of a filter in SQL; pushes its parameters. */
const conditionsOf = (filter: MessageFilter, { after }: PageRequest, parameters: unknown[]): string => {
  const parameter = (value: unknown) => `$${parameters.push(value)}`
  const { channel, direction, status, thread, since, until } = filter
  const [createdAt, id] = after === undefined ? [] : placeOf(after)
  return [
    channel && `and channel = ${parameter(channel)}::"Channel"`,
    direction && `and direction = ${parameter(direction)}::"Direction"`,
    status && `and status = ${parameter(status)}::"MessageStatus"`,
    thread && `and thread_id = ${parameter(thread)}`,
    since && `and created_at >= ${parameter(since)}`,
    until && `and created_at <= ${parameter(until)}`,
    createdAt && `and (created_at, id) < (${parameter(createdAt)}, ${parameter(id)})`,
  ]
    .filter(Boolean)
    .join(' ')
}

/** The thread that a message is of, and whose it is. */
const findThread = async ({ pool }: Db, messageId: string): Promise<{ agentId: string; threadId: string } | null> => {
  const { rows } = await pool.query<{ agent_id: string; thread_id: string }>({
    name: 'thread of a message',
    text: 'select agent_id, thread_id from message where id = $1',
    values: [messageId],
  })
  return rows[0] ? { agentId: rows[0].agent_id, threadId: rows[0].thread_id } : null
}

/**
 * The newest messages of each of these agents that fit the filter: one page and one more, in one statement however many agents it is
 * (what Prisma makes of a nested `take` is all rows of all of them, cut in memory). For an agent that has not the thread's message: an
 * error in place of its page.
 */
export const readPlaces = async (
  db: Db,
  agentIds: readonly string[],
  filter: MessageFilter,
  page: PageRequest,
): Promise<(Place[] | Error)[]> => {
  const thread = filter.thread === undefined ? null : await findThread(db, filter.thread)
  const parameters: unknown[] = [agentIds, page.first + 1]
  const conditions = conditionsOf({ ...filter, thread: filter.thread && (thread?.threadId ?? filter.thread) }, page, parameters)
  const { rows } = await db.pool.query<{ agent_id: string; id: string; created_at: Date }>(
    `select m.agent_id, m.id, m.created_at from unnest($1::uuid[]) as a(id) cross join lateral (
       select agent_id, id, created_at from message where agent_id = a.id ${conditions} order by created_at desc, id desc limit $2
     ) m`,
    parameters,
  )
  const places = new Map(agentIds.map((agentId) => [agentId, [] as Place[]]))
  for (const { agent_id, id, created_at } of rows) places.get(agent_id)?.push({ id, createdAt: created_at })
  return agentIds.map((agentId) =>
    filter.thread !== undefined && thread?.agentId !== agentId
      ? invalidInput('thread', 'is no message of this agent')
      : (places.get(agentId) ?? []),
  )
}
