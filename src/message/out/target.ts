import { AGENT_TURNS_AN_HOUR } from '../../admission/admit.ts'
import type { Inbound } from '../../channel/inbound.ts'
import { CHATS_IN_SQL } from '../../core/channels.ts'
import type { Clock } from '../../core/clock.ts'
import type { Db } from '../../db/client.ts'
import type { Admit } from '../../db/generated/prisma/enums.ts'

const HOUR_MS = 3_600_000

/** Name of the check which records that the message declares itself sent by an agent. */
export const AGENT_CHECK = 'agent'

/** One of an inbound message's recipients, with what admission and threading need to know about its agent. */
export interface Target {
  addressId: string
  agentId: string
  workspaceId: string
  admit: Admit
  senders: string[]
  blocked: string[]
  /** Limits on how often messages may wake the agent; null when it has none. */
  wakeLimits: { hour: number | null; threadDay: number | null } | null
  /** Whether the sender is one of the agent's own addresses. */
  ownAddress: boolean
  /** Whether the agent itself sent a message with this Message-ID. */
  ownMessage: boolean
  member: { id: string; name: string | null } | null
  teammate: { id: string; name: string } | null
  /**
   * The thread of the message that this one replies to, if the agent has it; in a chat, the thread of the
   * last message exchanged with the sender.
   */
  threadId: string | null
  /**
   * Number of messages from agents that the thread has admitted within the last hour, at most
   * `AGENT_TURNS_AN_HOUR`; 0 when a person writes. Verified and unverified messages are counted separately,
   * so that nobody can use up another agent's turns by forging its address.
   */
  agentTurns: number
}

interface TargetRow {
  address_id: string
  agent_id: string
  workspace_id: string
  admit: Admit
  senders: string[]
  blocked: string[]
  wake_limits: Target['wakeLimits']
  own_address: boolean
  own_message: boolean
  member: Target['member']
  teammate: Target['teammate']
  thread_id: string | null
  agent_turns: number
}

/** Members are identified by their email address; on other channels by an identity they have verified. */
const MEMBER = `select jsonb_build_object('id', m.id, 'name', m.name) from member m
    where m.workspace_id = t.workspace_id
      and case when $1 = 'email' then m.email = $3
               else exists (select from member_identity i where i.member_id = m.id and i.channel = $1 and i.value = $3) end
    order by m.created_at limit 1`

/**
 * Threads are found only by the ids that the message refers to, within the agent: the subject never merges
 * strangers' messages. If several messages share an id, the first one that was admitted wins, so that
 * resending a message under the same id does not pull its replies into another thread.
 */
const THREAD_OF_ANSWERED = `select m.thread_id from message m where m.agent_id = t.agent_id and m.internet_message_id = any($5::text[])
    order by array_position($5::text[], m.internet_message_id), m.status = 'refused', m.created_at limit 1`
const THREAD_OF_SENT = `select m.thread_id from recipient r join message m on m.id = r.message_id and m.agent_id = r.agent_id
    where (r.provider_id = any($5::text[]) or r.parts && $5::text[]) and r.agent_id = t.agent_id and m.channel = $1 limit 1`

const THREAD_OF_CHAT = `select m.thread_id from message m
    where m.agent_id = t.agent_id and m.address_id = t.id and m.counterpart = $3 and m.channel in ${CHATS_IN_SQL} and m.channel = $1
    order by m.created_at desc limit 1`

/**
 * Another agent of the workspace. Addresses of a custom domain that is not currently verified do not count:
 * someone else may own the domain and pass verification for them.
 */
const TEAMMATE = `select jsonb_build_object('id', a.id, 'name', a.name)
    from address o join agent a on a.id = o.agent_id left join domain d on d.id = o.domain_id
    where o.channel = $1 and o.value = $3 and o.workspace_id = t.workspace_id and o.agent_id <> t.agent_id
      and (o.domain_id is null or d.state = 'verified')`

const IS_AGENT = (address: string) =>
  `exists (select from address o where o.channel = $1 and o.value = ${address} and o.agent_id <> t.agent_id)`
const AGENT_TURNS = `select count(*)::int from (
    select from message m where m.agent_id = t.agent_id and m.thread_id = thread.id and m.created_at > $7
       and m.direction = 'inbound' and m.status = 'received' and m.proven is distinct from (not $9)
       and (${IS_AGENT('m.counterpart')} or m.checks @> '[{"name": "${AGENT_CHECK}"}]') limit ${AGENT_TURNS_AN_HOUR}) turn`

const WAKE_LIMITS = `select jsonb_build_object('hour', g.wakes_per_hour, 'threadDay', g.wakes_per_thread_day) from agent g
    where g.id = t.agent_id and (g.wakes_per_hour is not null or g.wakes_per_thread_day is not null)`

/**
 * Finds all recipients in one round trip. $1 channel, $2 recipients, $3 sender, $4 the message's own id, $5
 * the ids it refers to, $6 whether the channel's threads are by counterpart, $7 an hour ago, $8 whether the
 * message declares that an agent sent it, $9 whether its sender is verified.
 */
const TARGETS = {
  name: 'inbound targets',
  text: `
    select distinct on (t.agent_id) t.id as address_id, t.agent_id, t.workspace_id, c.admit, c.senders, c.blocked, (${WAKE_LIMITS}) as wake_limits,
           exists (select from address o where o.channel = $1 and o.value = $3 and o.agent_id = t.agent_id) as own_address,
           exists (select from message m where m.agent_id = t.agent_id and m.internet_message_id = $4 and m.direction = 'outbound') as own_message,
           (${MEMBER}) as member,
           (${TEAMMATE}) as teammate,
           thread.id as thread_id, case when ${IS_AGENT('$3')} or $8 then (${AGENT_TURNS}) else 0 end as agent_turns
      from address t join access c on c.agent_id = t.agent_id and c.channel = t.channel
           cross join lateral (select coalesce((${THREAD_OF_ANSWERED}), case when $1::"Channel" <> 'email' then (${THREAD_OF_SENT}) end,
                                               case when $6 then (${THREAD_OF_CHAT}) end) as id) thread
     where t.channel = $1::"Channel" and t.value = any($2::text[])
     order by t.agent_id, array_position($2::text[], t.value)`,
}

/** What of a message decides whom it is for, and in which thread it is. */
type Addressed = Pick<
  Inbound,
  'channel' | 'recipients' | 'from' | 'messageId' | 'inReplyTo' | 'references' | 'byAgent' | 'proven'
>

/**
 * Finds the agents that a message is for; each once, even if several of its addresses are recipients. `chat`:
 * threads are by counterpart.
 */
export const findTargets = async (
  { pool, clock }: Db & { clock: Clock },
  message: Addressed,
  chat: boolean,
): Promise<Target[]> => {
  const answers = [message.inReplyTo, ...message.references.toReversed()].filter((id) => id !== null)
  const { rows } = await pool.query<TargetRow>({
    ...TARGETS,
    values: [
      message.channel,
      message.recipients,
      message.from.address,
      message.messageId,
      answers,
      chat,
      new Date(clock.now().getTime() - HOUR_MS),
      message.byAgent ?? false,
      message.proven,
    ],
  })
  return rows.map((row) => ({
    addressId: row.address_id,
    agentId: row.agent_id,
    workspaceId: row.workspace_id,
    admit: row.admit,
    senders: row.senders,
    blocked: row.blocked,
    wakeLimits: row.wake_limits,
    ownAddress: row.own_address,
    ownMessage: row.own_message,
    member: row.member,
    teammate: row.teammate,
    threadId: row.thread_id,
    agentTurns: row.agent_turns,
  }))
}
