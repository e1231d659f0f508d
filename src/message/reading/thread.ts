import type { Db } from '../../db/client.ts'
import type { Channel } from '../../db/generated/prisma/enums.ts'

/** Somebody who wrote or was written to in a thread; the agent's own addresses are left out. */
export interface Participant {
  address: string
  name: string | null
}

/** A conversation of an agent's. Its id is that of the first message of it that the service saw. */
export interface Thread {
  id: string
  agentId: string
  channel: Channel
  /** Of its first message. */
  subject: string | null
  /** In the order in which they appeared, at most 100. */
  participants: Participant[]
  messageCount: number
  /** Received messages without a later one of the agent's: see `countUnread`. */
  unreadCount: number
  lastActivityAt: Date
  lastMessageId: string
}

/** A thread's place in its list: its newest message. */
export interface ThreadPlace {
  agentId: string
  threadId: string
  createdAt: Date
  messageId: string
}

export interface ThreadPage {
  most: number
  /** Only threads whose newest message comes behind this one. */
  before?: { createdAt: Date; id: string } | undefined
  channel?: Channel | undefined
}

/**
 * A thread stands where its newest message does: of the messages in order, those that are the newest of their
 * thread. That reads as much of the list as the page is long, not every thread that there is. Asked with a
 * `limit`, which is one look into the index for each message; of `not exists` PostgreSQL makes a join of all
 * with all (100 threads of 500 messages: 2 ms instead of 4 s).
 */
const placesStatement = ({ before, channel }: ThreadPage): string => `
  select p.agent_id, p.thread_id, p.created_at, p.id from unnest($1::uuid[]) as a(id) cross join lateral (
    select m.agent_id, m.thread_id, m.created_at, m.id from message m
     where m.agent_id = a.id ${channel ? 'and m.channel = $3::"Channel"' : 'and $3::text is null'}
       ${before ? 'and (m.created_at, m.id) < ($4::timestamptz, $5::uuid)' : 'and $4::timestamptz is null and $5::uuid is null'}
       and m.id = (select l.id from message l where l.agent_id = m.agent_id and l.thread_id = m.thread_id
                    order by l.created_at desc, l.id desc limit 1)
     order by m.created_at desc, m.id desc limit $2
  ) p`

/**
 * The threads of each of these agents with the newest activity, newest first: one statement however many
 * agents it is.
 */
export const readThreadPlaces = async (
  { pool }: Db,
  agentIds: readonly string[],
  page: ThreadPage,
): Promise<ThreadPlace[][]> => {
  const { rows } = await pool.query<{ agent_id: string; thread_id: string; created_at: Date; id: string }>(
    placesStatement(page),
    [agentIds, page.most, page.channel ?? null, page.before?.createdAt ?? null, page.before?.id ?? null],
  )
  const places = new Map(agentIds.map((agentId) => [agentId, [] as ThreadPlace[]]))
  for (const { agent_id, thread_id, created_at, id } of rows)
    places
      .get(agent_id)
      ?.push({ agentId: agent_id, threadId: thread_id, createdAt: created_at, messageId: id })
  return agentIds.map((agentId) => places.get(agentId) ?? [])
}

/** The thread that a message is of, and whose it is. */
export const findThread = async (
  { pool }: Db,
  messageId: string,
): Promise<Pick<ThreadPlace, 'agentId' | 'threadId'> | null> => {
  const { rows } = await pool.query<{ agent_id: string; thread_id: string }>({
    name: 'thread of a message',
    text: 'select agent_id, thread_id from message where id = $1',
    values: [messageId],
  })
  return rows[0] ? { agentId: rows[0].agent_id, threadId: rows[0].thread_id } : null
}

const MAX_PARTICIPANTS = 100

/**
 * Everybody of a thread `t` but the agent's own addresses. Spelled in lower case, as addresses are compared.
 */
const PARTICIPANTS = `
  select coalesce(json_agg(json_build_object('address', p.address, 'name', p.name) order by p.since, p.ord), '[]') from (
    select lower(w.address) as address, max(w.name) as name, min(m.created_at) as since, min(w.ord) as ord
      from message m cross join lateral (
        select m.counterpart as address, m.counterpart_name as name, 0 as ord where m.direction = 'inbound'
        union all select u.address, null, u.ord::int from unnest(m."to" || m.cc) with ordinality as u(address, ord)
      ) w
     where m.agent_id = t.agent_id and m.thread_id = t.thread_id and w.address <> ''
       and not exists (select from address o where o.agent_id = m.agent_id and o.channel = m.channel and o.value = lower(w.address))
     group by 1 order by since, ord limit ${MAX_PARTICIPANTS}
  ) p`

const SUMMARIES = {
  name: 'threads',
  text: `
    select t.agent_id, t.thread_id, s.*, (${PARTICIPANTS}) as participants
      from unnest($1::uuid[], $2::uuid[]) as t(agent_id, thread_id) cross join lateral (
        select count(*)::int as message_count,
               (array_agg(m.subject order by m.created_at, m.id))[1] as subject,
               (array_agg(m.channel order by m.created_at, m.id))[1]::text as channel,
               (array_agg(m.id order by m.created_at desc, m.id desc))[1] as last_message_id,
               max(m.created_at) as last_activity_at,
               (count(*) filter (where m.status = 'received' and m.created_at > coalesce(
                  (select max(o.created_at) from message o
                    where o.agent_id = t.agent_id and o.thread_id = t.thread_id and o.direction = 'outbound'), '-infinity')))::int as unread_count
          from message m where m.agent_id = t.agent_id and m.thread_id = t.thread_id
      ) s`,
}

interface SummaryRow {
  agent_id: string
  thread_id: string
  channel: Channel
  subject: string | null
  participants: Participant[]
  message_count: number
  unread_count: number
  last_activity_at: Date
  last_message_id: string
}

/**
 * What there is to say of each of these threads, in their order; null for one that has no messages (any
 * more).
 */
export const readThreads = async (
  { pool }: Db,
  threads: readonly Pick<ThreadPlace, 'agentId' | 'threadId'>[],
): Promise<(Thread | null)[]> => {
  if (threads.length === 0) return []
  const values = [threads.map(({ agentId }) => agentId), threads.map(({ threadId }) => threadId)]
  const { rows } = await pool.query<SummaryRow>({ ...SUMMARIES, values })
  const byId = new Map(rows.filter((row) => row.message_count > 0).map((row) => [row.thread_id, row]))
  return threads.map(({ threadId }) => {
    const row = byId.get(threadId)
    if (!row) return null
    return {
      id: threadId,
      agentId: row.agent_id,
      channel: row.channel,
      subject: row.subject,
      participants: row.participants,
      messageCount: row.message_count,
      unreadCount: row.unread_count,
      lastActivityAt: row.last_activity_at,
      lastMessageId: row.last_message_id,
    }
  })
}

/** How far back `countUnread` looks, in messages of an agent. */
export const UNREAD_WITHIN = 1_000

const UNREAD = {
  name: 'unread messages',
  text: `
    select a.id, count(*)::int as count from unnest($1::uuid[]) as a(id) cross join lateral (
      select status, bool_or(direction = 'outbound') over (partition by thread_id order by created_at desc, id desc) as answered
        from (select status, direction, thread_id, created_at, id from message where agent_id = a.id
               order by created_at desc, id desc limit ${UNREAD_WITHIN}) newest
    ) m where m.status = 'received' and not m.answered group by a.id`,
}

/**
 * How many of each agent's newest messages are unread: received, and nothing of the agent's after them in
 * their thread. The service keeps no mark of who has looked at what; that somebody answered is what it knows.
 */
export const countUnread = async ({ pool }: Db, agentIds: readonly string[]): Promise<number[]> => {
  const { rows } = await pool.query<{ id: string; count: number }>({ ...UNREAD, values: [agentIds] })
  const counts = new Map(rows.map(({ id, count }) => [id, count]))
  return agentIds.map((agentId) => counts.get(agentId) ?? 0)
}
