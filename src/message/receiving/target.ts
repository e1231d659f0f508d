import { AGENT_TURNS_AN_HOUR } from '../../admission/index.ts'
import type { Inbound } from '../../core/channel/inbound.ts'
import { CHATS_IN_SQL } from '../../core/channels.ts'
import type { Clock } from '../../core/clock.ts'
import { type Batch, createBatch } from '../../db/batch.ts'
import { type Db, isUnavailable } from '../../db/client.ts'
import type { Admit, Instructors, Manipulated } from '../../db/generated/prisma/enums.ts'
import { raw, type Sql, sql } from '../../db/sql/sql.ts'
import { statement } from '../../db/sql/statement.ts'
import { isMoving } from '../../workspace/index.ts'

const HOUR_MS = 3_600_000
/** Maximum number of messages whose recipients one statement finds. */
const MAX = 64

/** Name of the check which records that the message declares itself sent by an agent. */
export const AGENT_CHECK = 'agent'

/** One of an inbound message's recipients, with what admission and threading need to know about its agent. */
export interface Target {
  addressId: string
  agentId: string
  workspaceId: string
  /** Whether its workspace is moving to another installation. */
  moving: boolean
  admit: Admit
  senders: string[]
  blocked: string[]
  /** Those of `senders` that members have listed. */
  memberSenders: string[]
  instructors: Instructors
  manipulated: Manipulated
  /** Time in seconds for which its new messages wait for others of their threads. */
  wakeAfterSeconds: number
  /** Limits on how often messages may wake the agent; null when it has none. */
  wakeLimits: { hour: number | null; threadDay: number | null } | null
  /** Whether the sender is one of the agent's own addresses. */
  ownAddress: boolean
  /** Whether the agent itself sent a message with this Message-ID. */
  ownMessage: boolean
  /** Whether it has received the same signed content before, from a proven sender. */
  known: boolean
  /** Whether the signed recipients contain one of the agent's addresses. */
  named: boolean
  member: { id: string; name: string | null } | null
  teammate: { id: string; name: string } | null
  /**
   * The thread of the message that this one replies to, if the agent has it; in a chat, the thread of the
   * last message exchanged with the sender.
   */
  threadId: string | null
  /** The agent's own key of that thread, if it has one. */
  conversation: string | null
  /** The agent's address that the message was sent to. */
  address: string
  /** The recipients that are this agent, if it also gets mail to addresses that nobody has. */
  names?: readonly string[]
  /**
   * Number of messages from agents that the thread has admitted within the last hour, at most
   * `AGENT_TURNS_AN_HOUR`; 0 when a person writes. Verified and unverified messages are counted separately,
   * so that nobody can use up another agent's turns by forging its address.
   */
  agentTurns: number
}

interface TargetRow {
  /** Position of the message in the batch. */
  n: number
  address_id: string
  agent_id: string
  workspace_id: string
  moving: boolean
  admit: Admit
  senders: string[]
  blocked: string[]
  member_senders: string[]
  settings: Pick<Target, 'instructors' | 'manipulated' | 'wakeAfterSeconds' | 'wakeLimits'>
  own_address: boolean
  own_message: boolean
  known: boolean
  named: boolean
  member: Target['member']
  teammate: Target['teammate']
  thread_id: string | null
  conversation: string | null
  address: string
  agent_turns: number
}

/**
 * Members are identified by their email address; on other channels by an identity they have verified. Each
 * branch is one lookup in an index, however many members the workspace has.
 */
const MEMBER = sql`case when q.channel = 'email'
      then (select jsonb_build_object('id', m.id, 'name', m.name) from member m where m.workspace_id = t.workspace_id and m.email = q.sender)
      else (select jsonb_build_object('id', m.id, 'name', m.name) from member_identity i join member m on m.id = i.member_id
             where i.channel = q.channel and i.value = q.sender and m.workspace_id = t.workspace_id order by m.created_at limit 1) end`

/** The thread of the first of messages `m` of an agent. */
const firstThread = (messages: Sql, order: Sql): Sql =>
  sql`select m.thread_id from ${messages} order by ${order} limit 1`

/**
 * Threads are found only by the ids that the message refers to, within the agent: the subject never merges
 * strangers' messages. If several messages share an id, the first one that was admitted wins, so that
 * resending a message under the same id does not pull its replies into another thread.
 */
const THREAD_OF_ANSWERED = firstThread(
  sql`message m where m.agent_id = c.agent_id and m.internet_message_id = any(q.refs)`,
  sql`array_position(q.refs, m.internet_message_id), m.status = 'refused', m.created_at`,
)
const THREAD_OF_SENT = firstThread(
  sql`recipient r join message m on m.id = r.message_id and m.agent_id = r.agent_id
    where (r.provider_id = any(q.refs) or r.parts && q.refs) and r.agent_id = c.agent_id and m.channel = q.channel`,
  sql`m.created_at`,
)
const THREAD_OF_CHAT = firstThread(
  sql`message m where m.agent_id = c.agent_id and m.address_id = t.id and m.counterpart = q.sender
      and m.channel in ${raw(CHATS_IN_SQL)} and m.channel = q.channel`,
  sql`m.created_at desc`,
)

/**
 * Another agent of the workspace. Addresses of a custom domain that is not currently verified do not count:
 * someone else may own the domain and pass verification for them.
 */
const TEAMMATE = sql`select jsonb_build_object('id', a.id, 'name', a.name)
    from address o join agent a on a.id = o.agent_id left join domain d on d.id = o.domain_id
    where o.channel = q.channel and o.value = q.sender and o.workspace_id = t.workspace_id and o.agent_id <> t.agent_id
      and (o.domain_id is null or d.state = 'verified')`

/** The same signed content, received from a proven sender. */
const RECEIVED_SIGNED = sql`exists (select from message m where m.agent_id = c.agent_id
                     and (m.signed_content = any(q.contents) or m.fingerprint = any(q.contents)) and m.proven and m.status <> 'refused')`

/** The same mail, received while its signature could not be verified, or before signed contents were recorded. */
const RECEIVED_UNSIGNED = sql`exists (select from message m where m.agent_id = c.agent_id and m.internet_message_id = q.signed_id
                     and m.counterpart = q.sender and m.direction = 'inbound' and m.status = 'received' and m.proven and m.signed_content is null)`

const isAgent = (channel: Sql, address: Sql): Sql =>
  sql`exists (select from address o where o.channel = ${channel} and o.value = ${address} and o.agent_id <> c.agent_id)`
const TURNS = sql`message m where m.agent_id = c.agent_id and m.thread_id = c.thread_id and m.created_at > c.since
       and m.direction = 'inbound' and m.status = 'received' and m.proven is distinct from (not c.proven)
       and (${isAgent(raw('c.channel'), raw('m.counterpart'))} or m.checks @> '[{"name": "${raw(AGENT_CHECK)}"}]')`
const AGENT_TURNS = sql`(select count(*)::int from (select from ${TURNS} limit ${AGENT_TURNS_AN_HOUR}) turn)`

const CONVERSATION = sql`select s.conversation from thread_state s where s.agent_id = c.agent_id and s.thread_id = c.thread_id`

/** The agent's settings, read together: it is one row. */
const SETTINGS = sql`select jsonb_build_object('instructors', g.instructors, 'manipulated', g.manipulated, 'wakeAfterSeconds', g.wake_after_seconds, 'wakeLimits',
             case when g.wakes_per_hour is not null or g.wakes_per_thread_day is not null
                  then jsonb_build_object('hour', g.wakes_per_hour, 'threadDay', g.wakes_per_thread_day) end)
      from agent g where g.id = t.agent_id`

/**
 * What is read of each address `t` of an agent's that a message `q` is for, with the agent's access list `c`. What the
 * message has no ids for is not looked up (docs/decisions.md#kept-plans).
 */
const FACTS = sql`
           q.n, q.channel, q.proven, q.since, t.id as address_id, t.value as address, c.agent_id, t.workspace_id, ${raw(isMoving('t.workspace_id'))} as moving, c.admit, c.senders, c.blocked, c.member_senders,
           (${SETTINGS}) as settings,
           exists (select from address o where o.channel = q.channel and o.value = q.sender and o.agent_id = c.agent_id) as own_address,
           exists (select from message m where m.agent_id = c.agent_id and m.internet_message_id = q.message_id and m.direction = 'outbound') as own_message,
           (q.contents <> '{}' and ${RECEIVED_SIGNED}) or (q.signed_id is not null and ${RECEIVED_UNSIGNED}) as known,
           exists (select from address o where o.channel = q.channel and o.value = any(q.named) and o.agent_id = c.agent_id) as named,
           ${MEMBER} as member,
           (${TEAMMATE}) as teammate,
           coalesce(case when q.refs <> '{}' then (${THREAD_OF_ANSWERED}) end, case when q.channel <> 'email' then (${THREAD_OF_SENT}) end,
                    case when q.chat then (${THREAD_OF_CHAT}) end) as thread_id,
           ${isAgent(raw('q.channel'), raw('q.sender'))} or q.by_agent as is_agent`

/** Each agent of a message once, by the first of its addresses. */
const TARGETS_OF_EACH = sql`q cross join lateral (select distinct on (c.agent_id)${FACTS}
      from address t join access c on c.agent_id = t.agent_id and c.channel = t.channel
      where t.channel = q.channel and t.value = any(q.recipients) order by c.agent_id, array_position(q.recipients, t.value)) c`

/**
 * Finds all recipients of a batch of messages, as JSON. It is the only parameter, and the range of `n`
 * makes the planner expect one message instead of 100, so that the plan is generic and kept
 * (docs/decisions.md#kept-plans).
 */
const TARGETS = statement<{ messages: string }>(
  'inbound targets',
  ({ messages }) => sql`
    with q as materialized (
      select * from json_to_recordset(${messages}) as q(n int, channel "Channel", recipients text[], sender text, message_id text, refs text[],
                                               chat boolean, by_agent boolean, proven boolean, since timestamptz,
                                               contents bytea[], named text[], signed_id text)
       where q.n between 0 and ${MAX - 1}
    )
    select c.n, c.address_id, c.address, c.agent_id, c.workspace_id, c.moving, c.admit, c.senders, c.blocked, c.member_senders, c.settings, c.own_address, c.own_message, c.known, c.named,
           c.member, c.teammate, c.thread_id, (${CONVERSATION}) as conversation, case when c.is_agent then ${AGENT_TURNS} else 0 end as agent_turns
      from ${TARGETS_OF_EACH}
     order by c.n, c.agent_id`,
)

/** What of a message decides whom it is for, and in which thread it is. */
type Addressed = Pick<
  Inbound,
  'channel' | 'recipients' | 'from' | 'messageId' | 'inReplyTo' | 'references' | 'byAgent' | 'proven'
>

/** A message whose recipients are looked up. `chat`: the channel's threads are by counterpart. */
export interface TargetQuery {
  message: Addressed
  chat: boolean
  signed?: SignedQuery | undefined
}

/** What is looked up for a signed mail. */
export interface SignedQuery {
  /** The fingerprints under which its content may be stored. */
  contents: Uint8Array[]
  /** The addresses among its signed recipients. */
  named: string[]
  /** Its signed Message-ID, if nothing but the signature proves it. */
  messageId: string | null
}

const toQuery = ({ message, chat, signed }: TargetQuery, n: number, since: Date) => ({
  n,
  channel: message.channel,
  recipients: message.recipients,
  sender: message.from.address,
  message_id: message.messageId,
  refs: [message.inReplyTo, ...message.references.toReversed()].filter((id) => id !== null),
  chat,
  by_agent: message.byAgent ?? false,
  proven: message.proven,
  since,
  contents: signed?.contents.map((content) => `\\x${Buffer.from(content).toString('hex')}`) ?? [],
  named: signed?.named ?? [],
  signed_id: signed?.messageId ?? null,
})

const toTarget = (row: TargetRow): Target => ({
  addressId: row.address_id,
  agentId: row.agent_id,
  workspaceId: row.workspace_id,
  moving: row.moving,
  admit: row.admit,
  senders: row.senders,
  blocked: row.blocked,
  memberSenders: row.member_senders,
  ...row.settings,
  ownAddress: row.own_address,
  ownMessage: row.own_message,
  known: row.known,
  named: row.named,
  member: row.member,
  teammate: row.teammate,
  threadId: row.thread_id,
  conversation: row.conversation,
  address: row.address,
  agentTurns: row.agent_turns,
})

/** Returns the targets of each of these messages. */
export const findTargets = async (
  { pool, clock }: Db & { clock: Clock },
  queries: readonly TargetQuery[],
): Promise<Target[][]> => {
  const since = new Date(clock.now().getTime() - HOUR_MS)
  const messages = JSON.stringify(queries.map((query, n) => toQuery(query, n, since)))
  const { rows } = await pool.query<TargetRow>(TARGETS({ messages }))
  const targets: Target[][] = queries.map(() => [])
  for (const row of rows) targets[row.n]!.push(toTarget(row))
  return targets
}

/**
 * Finds the agents that a message is for; each once, even if several of its addresses are recipients. The
 * lookups of messages that arrive at the same time share a statement.
 */
export type TargetLookup = Batch<TargetQuery, Target[]>

export const createTargetLookup = (deps: Db & { clock: Clock }): TargetLookup =>
  createBatch((queries) => findTargets(deps, queries), {
    most: MAX,
    parallel: 2,
    patienceMs: 5,
    isUnavailable,
  })
