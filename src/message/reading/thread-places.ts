import type { Db } from '../../db/client.ts'
import type { Channel } from '../../db/generated/prisma/enums.ts'
import { accessOf, hasLabel, isUnread, newestPlaces } from './filter.ts'
import { LIMITS, messageCursor, type Place, type SearchLimits } from './find.ts'
import { nameOf } from './prepared.ts'

/** The position of a thread in its list: its newest message. */
export interface ThreadPlace {
  agentId: string
  threadId: string
  createdAt: Date
  messageId: string
}

export interface ThreadPage {
  limit: number
  /** Only threads whose newest message comes after this one in the list. */
  before?: Place | undefined
  channel?: Channel | undefined
  /** Only threads with a message that has this label. */
  label?: string | undefined
  /** Only threads with, or only threads without, an unread message. */
  unread?: boolean | undefined
}

/** The most recently active threads of an agent. */
export interface ThreadPlaces {
  places: ThreadPlace[]
  /** The message at which the search stopped before it found as many as requested; else null. */
  end: Place | null
}

/** Whether the thread of the message `m` has a message `o` for which the condition holds. */
const hasMessage = (condition: string) =>
  `exists (select from message o where o.agent_id = m.agent_id and o.thread_id = m.thread_id and ${condition})`

/**
 * A thread is listed at the position of its newest message: the query walks the newest `size` messages in
 * order and selects those that are the newest of their thread, until there are enough. The subquery with
 * `limit` is one index lookup per message; PostgreSQL would turn `not exists` into a join of all messages with
 * all (100 threads of 500 messages: 2 ms instead of 4 s).
 */
const statementOf = (
  agentIds: readonly string[],
  { limit, before, channel, label, unread }: ThreadPage,
  size: number,
): { text: string; values: unknown[] } => {
  const values: unknown[] = [agentIds]
  const parameter = (value: unknown) => `$${values.push(value)}`
  const most = parameter(size)
  const filter = { channel }
  const cursor = before && messageCursor(before)
  const range = { owner: { agentId: 'a.id' }, filter, cursor, limit: most }
  const seen = newestPlaces(accessOf(filter, false), range, parameter)
  const conditions = [
    'm.id = (select l.id from message l where l.agent_id = m.agent_id and l.thread_id = m.thread_id order by l.created_at desc, l.id desc limit 1)',
    ...(label === undefined ? [] : [hasMessage(hasLabel('o', parameter(label)))]),
    ...(unread === undefined ? [] : [`${unread ? '' : 'not '}${hasMessage(isUnread('o'))}`]),
  ]
  const text = `
    select p.* from unnest($1::uuid[]) as a(id) cross join lateral (
      select m.agent_id, m.thread_id, m.created_at, m.id from (${seen}) w
       cross join lateral (select * from message where id = w.id and agent_id = a.id limit 1) m
       where ${conditions.join(' and ')} order by w.created_at desc, w.id desc limit ${parameter(limit)}
    ) p
    union all
    select a.id, null, e.created_at, e.id from unnest($1::uuid[]) as a(id) cross join lateral (
      select s.*, count(*) over () as size from (${seen}) s order by s.created_at, s.id limit 1
    ) e where e.size = ${most}`
  return { text, values }
}

const readPlaces = async (
  { pool }: Pick<Db, 'pool'>,
  agentIds: readonly string[],
  page: ThreadPage,
  size: number,
): Promise<ThreadPlaces[]> => {
  const { text, values } = statementOf(agentIds, page, size)
  type Row = { agent_id: string; thread_id: string | null; created_at: Date; id: string }
  const { rows } = await pool.query<Row>({ ...nameOf(text), text, values })
  const read = new Map(agentIds.map((id): [string, ThreadPlaces] => [id, { places: [], end: null }]))
  for (const { agent_id, thread_id, created_at, id } of rows) {
    const one = read.get(agent_id)!
    if (thread_id === null) one.end = { id, createdAt: created_at }
    else one.places.push({ agentId: agent_id, threadId: thread_id, createdAt: created_at, messageId: id })
  }
  for (const one of read.values()) if (one.places.length >= page.limit) one.end = null
  return agentIds.map((agentId) => read.get(agentId)!)
}

/** Reads on where the search for an agent's threads stopped, up to a limit. */
const readOn = async (
  db: Pick<Db, 'pool'>,
  agentId: string,
  { page, far, maxFar, ...found }: ThreadPlaces & { page: ThreadPage } & SearchLimits,
): Promise<ThreadPlaces> => {
  let { places, end } = found
  for (let n = 0; n < maxFar && end; n++) {
    const rest = { ...page, before: end, limit: page.limit - places.length }
    const [more] = await readPlaces(db, [agentId], rest, far)
    places = [...places, ...more!.places]
    end = more!.end
  }
  return { places, end }
}

/**
 * Reads the most recently active threads of each of these agents, newest first. Usually this is a single
 * statement; where the newest messages are of few threads, or of few that meet the conditions, older messages
 * are read, up to a limit.
 */
export const readThreadPlaces = async (
  db: Pick<Db, 'pool'>,
  agentIds: readonly string[],
  page: ThreadPage,
  limits: SearchLimits = LIMITS,
): Promise<ThreadPlaces[]> => {
  const lists = await readPlaces(db, agentIds, page, limits.recent)
  const complete: ThreadPlaces[] = []
  for (const [index, list] of lists.entries())
    complete.push(list.end ? await readOn(db, agentIds[index]!, { ...list, page, ...limits }) : list)
  return complete
}
