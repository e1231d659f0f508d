import { readMoment } from '../../core/cursor.ts'
import type { Db } from '../../db/client.ts'
import type { Channel } from '../../db/generated/prisma/enums.ts'
import { allOf, bind, define, empty, raw, rows, type Sql, sql } from '../../db/sql/sql.ts'
import {
  accessOf,
  hasLabel,
  isOf,
  isOpen,
  isUnread,
  marked,
  named,
  newestMessages,
  type Owner,
} from './filter.ts'
import { begin, LIMITS, messageCursor, type Place, type SearchLimits } from './find.ts'
import { forEach } from './for-each.ts'
import { prepared } from './prepared.ts'

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
  /** Only threads with a message that meets these, as in a list of messages. */
  from?: string | undefined
  to?: string | undefined
  subject?: string | undefined
  /** Only threads in this state, at the time `now`. */
  state?: ThreadState | undefined
  now?: Date | undefined
  /** Only threads that are assigned to this member. */
  assignedTo?: string | undefined
}

/** `open`: with a received message, and neither done nor postponed. */
export const THREAD_STATES = ['open', 'done', 'snoozed'] as const
export type ThreadState = (typeof THREAD_STATES)[number]

/** An agent or a workspace, whose threads are listed. All keys of a list are of the same kind. */
export type ThreadListKey = { agentId: string } | { workspaceId: string }

/** The most recently active threads of an agent or a workspace. */
export interface ThreadPlaces {
  places: ThreadPlace[]
  /** The message at which the search stopped before it found as many as requested; else null. */
  end: Place | null
}

/** The messages that are looked at. */
const SEEN = rows('seen', 'id', 'agent_id', 'thread_id', 'created_at')

/** Whether the thread of the message `m` has a message `o` for which the condition holds. */
const hasMessage = (condition: Sql): Sql =>
  sql`exists (select from message o where o.agent_id = m.agent_id and o.thread_id = m.thread_id and ${condition})`

/** Whether the thread of the message `m` has a state `z` for which the condition holds. */
const hasState = (condition: Sql): Sql =>
  sql`exists (select from thread_state z where z.agent_id = m.agent_id and z.thread_id = m.thread_id and ${condition})`

/** Selects the newest message `m` of a thread `t` that meets a condition. */
const newestOf = (t: string, condition: Sql = empty): Sql =>
  sql`(select * from message l where l.agent_id = ${raw(t)}.agent_id and l.thread_id = ${raw(t)}.thread_id ${condition} order by l.created_at desc, l.id desc limit 1) m`

/** The condition under which a message `m` comes after a place in the list. */
const isAfter = (before: Place | undefined): Sql[] => {
  if (!before) return []
  const [createdAt, id] = readMoment(messageCursor(before))
  return [sql`(m.created_at, m.id) < (${bind(createdAt)}::timestamptz, ${bind(id)}::uuid)`]
}

/** Selects the newest messages `m` of threads whose state `m` meets the condition: there are few of these. */
const newestByState = (
  owner: Owner,
  condition: Sql,
  { before, limit }: { before: Place | undefined; limit: Sql },
): Sql => sql`
            from (select m.agent_id, m.thread_id from thread_state m where ${isOf(owner)} and ${condition}) t
            cross join lateral ${newestOf('t')} where ${allOf(isAfter(before))} order by m.created_at desc, m.id desc limit ${limit}`

/** The conditions under which the thread of the message `m` is in a state, and has the assignee. */
const stateConditions = ({ state, now, assignedTo }: ThreadPage): Sql[] => {
  const isHandled = sql`not ${hasMessage(isOpen('o'))}`
  const states: Record<ThreadState, () => Sql[]> = {
    open: () => [hasMessage(isOpen('o')), hasMessage(sql`o.status = 'received'`)],
    done: () => [isHandled, hasState(sql`z.done_at is not null`)],
    snoozed: () => [isHandled, hasState(sql`z.snoozed_until > ${bind(now)}::timestamptz`)],
  }
  return [
    ...(state ? states[state]() : []),
    ...(assignedTo === undefined ? [] : [hasState(sql`z.assigned_to = ${bind(assignedTo)}::uuid`)]),
  ]
}

/**
 * A thread is listed at the position of its newest message: the query reads the newest `size` messages, and of each of
 * their threads in order the newest one of all, until there are enough. A thread whose newest message is not after the
 * cursor was listed before. However many of the messages are of one thread, it is looked at once: see
 * docs/decisions.md#newest-of-a-thread.
 *
 * An open thread is listed at the position of its newest message that is not handled, which have an index: a
 * mailbox of which all threads are done costs as little as an empty one.
 */
const queryOf = (keys: readonly ThreadListKey[], page: ThreadPage, size: number): Sql => {
  const { limit, before, channel, label, unread, state, now: _, assignedTo, ...names } = page
  const { keys: of, owner } = begin(keys)
  const most = bind(size)
  const filter = { channel }
  const byState = assignedTo !== undefined || state === 'snoozed'
  const isInOpen = state === 'open' && !byState
  const access = isInOpen ? { kinds: null, where: [isOpen('m')], tested: filter } : accessOf(filter, owner)
  const condition =
    assignedTo === undefined
      ? sql`m.snoozed_until is not null`
      : sql`m.assigned_to = ${bind(assignedTo)}::uuid`
  const newest = byState
    ? newestByState(owner, condition, { before, limit: most })
    : newestMessages(access, { owner, filter, cursor: before && messageCursor(before), limit: most })
  const wanted = named(names, 'o')
  const conditions = [
    ...isAfter(before),
    ...marked(filter),
    ...(label === undefined ? [] : [hasMessage(hasLabel('o', label))]),
    ...(wanted.length === 0 ? [] : [hasMessage(allOf(wanted))]),
    ...(unread === undefined
      ? []
      : [unread ? hasMessage(isUnread('o')) : sql`not ${hasMessage(isUnread('o'))}`]),
    ...stateConditions(page),
  ]
  const query = sql`
    with ${define(SEEN)} as materialized (select m.id, m.agent_id, m.thread_id, m.created_at ${newest})
    (select m.agent_id, m.thread_id, m.created_at, m.id
       from (select agent_id, thread_id, max(created_at) as created_at from ${SEEN} group by 1, 2 order by 3 desc) t
       cross join lateral ${newestOf('t', isInOpen ? sql`and ${isOpen('l')}` : empty)}
      where ${allOf(conditions)} order by t.created_at desc, m.id desc limit ${bind(limit)})
    union all
    select null, null, e.created_at, e.id from (select * from ${SEEN} order by created_at, id limit 1) e
     where (select count(*) from ${SEEN}) = ${most}`
  return forEach(of, query)
}

const readPlaces = async (
  { pool }: Pick<Db, 'pool'>,
  keys: readonly ThreadListKey[],
  page: ThreadPage,
  size: number,
): Promise<ThreadPlaces[]> => {
  type Row = { key: number; agent_id: string; thread_id: string | null; created_at: Date; id: string }
  const { rows } = await pool.query<Row>(prepared(queryOf(keys, page, size)))
  const read = keys.map((): ThreadPlaces => ({ places: [], end: null }))
  for (const { key, agent_id, thread_id, created_at, id } of rows) {
    const one = read[key - 1]!
    if (thread_id === null) one.end = { id, createdAt: created_at }
    else one.places.push({ agentId: agent_id, threadId: thread_id, createdAt: created_at, messageId: id })
  }
  for (const one of read) if (one.places.length >= page.limit) one.end = null
  return read
}

/** How much more messages each statement reads than the one before it. */
const GROWTH = 5

/** Reads on where the search for threads stopped, up to a limit. */
const readOn = async (
  db: Pick<Db, 'pool'>,
  key: ThreadListKey,
  { page, recent, far, maxFar, ...found }: ThreadPlaces & { page: ThreadPage } & SearchLimits,
): Promise<ThreadPlaces> => {
  let { places, end } = found
  let size = recent
  for (let left = far * maxFar; left > 0 && end; left -= size) {
    size = Math.min(size * GROWTH, left)
    const rest = { ...page, before: end, limit: page.limit - places.length }
    const [more] = await readPlaces(db, [key], rest, size)
    places = [...places, ...more!.places]
    end = more!.end
  }
  return { places, end }
}

/**
 * Reads the most recently active threads of each of these agents or workspaces, newest first. Usually this is a
 * single statement; where the newest messages are of few threads, or of few that meet the conditions, older
 * messages are read, up to a limit.
 */
export const readThreadPlaces = async (
  db: Pick<Db, 'pool'>,
  keys: readonly ThreadListKey[],
  page: ThreadPage,
  limits: SearchLimits = LIMITS,
): Promise<ThreadPlaces[]> => {
  const lists = await readPlaces(db, keys, page, limits.recent)
  const complete: ThreadPlaces[] = []
  for (const [index, list] of lists.entries())
    complete.push(list.end ? await readOn(db, keys[index]!, { ...list, page, ...limits }) : list)
  return complete
}
