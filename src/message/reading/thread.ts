import type { Caller } from '../../agent/index.ts'
import type { Clock } from '../../core/clock.ts'
import { lowerCaseSql } from '../../core/text/lower-case.ts'
import type { Db } from '../../db/client.ts'
import type { Channel } from '../../db/generated/prisma/enums.ts'
import { raw, sql } from '../../db/sql/sql.ts'
import { composedOf, statement } from '../../db/sql/statement.ts'
import { isOpen, isUnread } from './filter.ts'
import type { ThreadPlace } from './thread-places.ts'

/** A sender or recipient in a thread; the agent's own addresses are left out. */
interface Participant {
  address: string
  name: string | null
}

/** A conversation of an agent. Its id is that of its first message known to the service. */
export interface Thread {
  id: string
  agentId: string
  channel: Channel
  /** Subject of the first message. */
  subject: string | null
  /** In order of appearance, at most 100. */
  participants: Participant[]
  messageCount: number
  /** Number of received messages that are not marked as read. */
  unreadCount: number
  lastActivityAt: Date
  lastMessageId: string
  /** Those of its messages. */
  labels: string[]
  conversation: string | null
  /** When it was done; null while it is not. */
  doneAt: Date | null
  /** Until when it is postponed; null while it is not. */
  snoozedUntil: Date | null
  assignedTo: { id: string; name: string } | null
}

/** A thread and whose it is. */
export interface ThreadRef {
  workspaceId: string
  agentId: string
  threadId: string
}

const THREAD =
  'select workspace_id as "workspaceId", agent_id as "agentId", thread_id as "threadId" from message'

/**
 * Returns the thread of a message. The id of a thread is that of its first message: once that is deleted, it is found
 * among the threads of the agents `among`.
 */
export const findThread = async (
  { pool }: Db,
  messageId: string,
  among: readonly string[] = [],
): Promise<ThreadRef | null> => {
  const { rows } = await pool.query<ThreadRef>({
    name: 'thread of a message',
    text: `(${THREAD} where id = $1 and agent_id in (select id from agent))
           union all (${THREAD} where thread_id = $1 and agent_id = any($2::uuid[]) limit 1) limit 1`,
    values: [messageId, among],
  })
  return rows[0] ?? null
}

/** Returns the agents of a workspace, among which threads are found. */
export const agentIdsOf = async ({ prisma }: Db, workspaceId: string): Promise<string[]> => {
  const agents = await prisma.agent.findMany({ where: { workspaceId }, select: { id: true } })
  return agents.map(({ id }) => id)
}

/**
 * Returns the thread that has this id, or a message with it; the message may be of an agent that the viewer may not
 * read. When the first message of a thread was deleted, it is found among the viewer's agents.
 */
export const findOwnThread = async (
  db: Db,
  { kind, id, workspaceId }: Caller,
  threadId: string,
): Promise<ThreadRef | null> => {
  if (kind === 'agent') return findThread(db, threadId, [id])
  const found = await findThread(db, threadId)
  return found ?? findThread(db, threadId, await agentIdsOf(db, workspaceId))
}

/** Returns the threads of these messages of the viewer's; null for each that does not exist. */
export const findThreads = async (
  { pool }: Db,
  { kind, id, workspaceId }: Caller,
  messageIds: readonly string[],
): Promise<(ThreadRef | null)[]> => {
  const { rows } = await pool.query<ThreadRef & { id: string }>({
    name: 'threads of messages',
    text: `select m.id, m.workspace_id as "workspaceId", m.agent_id as "agentId", m.thread_id as "threadId"
             from message m join agent a on a.id = m.agent_id
            where m.id = any($1::uuid[]) and m.workspace_id = $2::uuid and ($3::uuid is null or m.agent_id = $3::uuid)`,
    values: [messageIds, workspaceId, kind === 'agent' ? id : null],
  })
  const byId = new Map(rows.map(({ id: messageId, ...ref }) => [messageId, ref]))
  return messageIds.map((messageId) => byId.get(messageId) ?? null)
}

const MAX_PARTICIPANTS = 100
/**
 * Senders and recipients of a thread's messages, oldest first, among which its participants are looked for. Strangers can write to
 * 1,000 in each of thousands of messages, and all of them would be read for each list of threads. @limit Messages
 */
const MAX_ADDRESSES = 5_000
/** Labels of a thread that are listed. */
const MAX_LABELS = 100

/**
 * All participants of a thread `t` except the agent's own addresses, in lower case, as addresses are
 * compared.
 */
const ADDRESS = raw(lowerCaseSql('w.address'))
const PARTICIPANTS = sql`
  select coalesce(json_agg(json_build_object('address', p.address, 'name', p.name) order by p.since, p.ord), '[]') from (
    select w.agent_id, ${ADDRESS} as address, min(w.created_at) as since, min(w.ord) as ord,
           max(w.counterpart_name) filter (where w.ord = 1 and w.direction = 'inbound') as name
      from (
        select m.agent_id, m.channel, m.direction, m.created_at, m.counterpart_name, w.address, w.ord
          from message m cross join lateral
               unnest(case when m.direction = 'inbound' then array[m.counterpart] else '{}' end || m."to" || m.cc) with ordinality as w(address, ord)
         where m.agent_id = t.agent_id and m.thread_id = t.thread_id and w.address <> ''
         order by m.created_at, w.ord limit ${MAX_ADDRESSES}
      ) w
     where not exists (select from address o where o.agent_id = w.agent_id and o.channel = w.channel and o.value = ${ADDRESS})
     group by 1, 2 order by since, ord limit ${MAX_PARTICIPANTS}
  ) p`

const OF_THREAD = sql`from message m where m.agent_id = t.agent_id and m.thread_id = t.thread_id`
/** What is counted of all messages of a thread is in its index: docs/decisions.md#newest-of-a-thread. */
const SUMMARY = sql`
        select c.*, first.subject, first.channel::text, last.id as last_message_id, last.created_at as last_activity_at,
               array(select distinct unnest(m.labels) ${OF_THREAD} and m.labels <> '{}') as labels
          from (select count(*)::int as message_count,
                       (count(*) filter (where ${isUnread('m')}))::int as unread_count,
                       count(*) filter (where ${isOpen('m')}) = 0 as handled ${OF_THREAD}) c
         cross join lateral (select m.subject, m.channel ${OF_THREAD} order by m.created_at, m.id limit 1) first
         cross join lateral (select m.id, m.created_at ${OF_THREAD} order by m.created_at desc, m.id desc limit 1) last`

/** The state of a thread `t`. It holds while all messages of the thread are handled. */
const STATE = sql`z.done_at, z.snoozed_until, z.assigned_to, z.conversation,
               (select coalesce(p.name, p.email) from member p where p.id = z.assigned_to) as assignee`
const WITH_STATE = sql`left join thread_state z on z.agent_id = t.agent_id and z.thread_id = t.thread_id`

interface ThreadsAsked {
  agents: readonly string[]
  ids: readonly string[]
}

const SUMMARIES = statement<ThreadsAsked>(
  'threads',
  ({ agents, ids }) => sql`
    select t.agent_id, t.thread_id, s.*, ${STATE}, (${PARTICIPANTS}) as participants
      from unnest(${agents}::uuid[], ${ids}::uuid[]) as t(agent_id, thread_id) cross join lateral (${SUMMARY}) s ${WITH_STATE}`,
)

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
  handled: boolean
  labels: string[]
  conversation: string | null
  done_at: Date | null
  snoozed_until: Date | null
  assigned_to: string | null
  assignee: string | null
}

/** The state of a thread, without what a newer message or the time has ended. */
const stateOf = (
  { handled, done_at, snoozed_until, assigned_to: id, assignee: name }: SummaryRow,
  now: Date,
) => ({
  doneAt: handled ? done_at : null,
  snoozedUntil: handled && snoozed_until && snoozed_until > now ? snoozed_until : null,
  assignedTo: id !== null && name !== null ? { id, name } : null,
})

/** Reads each of these threads, in their order; null for one without messages. */
export const readThreads = async (
  { pool, clock }: Db & { clock: Clock },
  threads: readonly Pick<ThreadPlace, 'agentId' | 'threadId'>[],
): Promise<(Thread | null)[]> => {
  if (threads.length === 0) return []
  const agents = threads.map(({ agentId }) => agentId)
  const ids = threads.map(({ threadId }) => threadId)
  const { rows } = await pool.query<SummaryRow>(SUMMARIES({ agents, ids }))
  const byId = new Map(rows.map((row) => [row.thread_id, row]))
  const now = clock.now()
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
      labels: row.labels.sort().slice(0, MAX_LABELS),
      conversation: row.conversation,
      ...stateOf(row, now),
    }
  })
}

/** Maximum number of unread messages that `countUnread` counts for an agent. */
export const MAX_UNREAD = 1_000

const UNREAD = {
  name: 'unread messages',
  ...composedOf(sql`
    select a.id, count(*)::int as count from unnest($1::uuid[]) as a(id) cross join lateral (
      select m.id from message m where m.agent_id = a.id and ${isUnread('m')} limit ${MAX_UNREAD}
    ) m group by a.id`),
}

/** Counts each agent's unread messages, up to `MAX_UNREAD`. */
export const countUnread = async ({ pool }: Db, agentIds: readonly string[]): Promise<number[]> => {
  const { rows } = await pool.query<{ id: string; count: number }>({ ...UNREAD, values: [agentIds] })
  const counts = new Map(rows.map(({ id, count }) => [id, count]))
  return agentIds.map((agentId) => counts.get(agentId) ?? 0)
}
