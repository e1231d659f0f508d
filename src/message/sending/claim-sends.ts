import type { ChannelKind } from '../../core/channels.ts'
import type { Db } from '../../db/client.ts'
import { raw, SKIP_LOCKED, sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import { isAmongParts, LATE_MS } from '../../worker/index.ts'
import { isMovingAgent } from '../../workspace/index.ts'
import { SEND_LEASE_S, type SendJob } from '../stored/send-job.ts'

/** An outgoing message, with what an attempt to send it needs to know. */
export interface OutgoingMessage {
  id: string
  agentId: string
  workspaceId: string
  channel: ChannelKind
  /** Null: the address to send it from no longer exists. */
  from: { address: string; name: string } | null
  to: string[]
  cc: string[]
  bcc: string[]
  subject: string | null
  text: string
  html: string | null
  internetMessageId: string | null
  /** The ids of the message that it answers and of that one's conversation. */
  answered: {
    internetMessageId: string | null
    threadMessageId: string | null
    threadReferences: string[]
  } | null
  /** The recipients who do not have it yet, with the ids of the parts that they have. */
  recipients: { address: string; parts: string[] }[]
  hasAttachments: boolean
  /** Whether the agent's messages need approval and nobody has approved this one. */
  isUnapproved: boolean
  /** Whether the agent's suppression list has any entries on this channel. */
  hasSuppressions: boolean
}

/** A message to send, leased to this process. Null when it was deleted. */
export interface ClaimedSend extends SendJob {
  message: OutgoingMessage | null
}

interface ClaimedRow {
  job_id: string
  lane: string
  job_agent_id: string
  attempts: number
  queued_at: Date
  message: Omit<OutgoingMessage, 'from'> | null
  sender: OutgoingMessage['from']
}

interface ClaimRequest {
  owner: string
  now: Date
  limit: number
  /** This worker's parts. */
  parts: Buffer
  /** Agents whose messages are left out. */
  withoutAgents?: readonly string[]
  /** Jobs that are left out: those that this process still works on, should their leases have expired. */
  withoutJobs?: readonly string[]
}

/** Whether a job is of an agent of this worker's parts ($6), or its owner has not taken it since it was due. */
const OURS_OR_LATE = sql`
  (${isAmongParts(raw('agent_id'), raw('$6'))} or due_at <= $2::timestamptz - ${LATE_MS} * interval '1 ms')`

/**
 * Leases the jobs and reads their messages in one statement, prepared once (docs/decisions.md#claiming-sends).
 * Attachments, which may be large, are read when their message is sent. `is true` keeps PostgreSQL from looking for the
 * few jobs that were selected among all that are due.
 */
const CLAIM = {
  name: 'claim sends',
  ...composedOf(sql`
    with claimed as (
      update job set lease_owner = $1, lease_until = now() + make_interval(secs => ${SEND_LEASE_S})
       where id = any(array(select id from job where due_at <= $2 and (lease_until is null or lease_until < now())
                               and agent_id <> all($4::uuid[]) and id <> all($5::uuid[]) and ${OURS_OR_LATE}
                               and not ${raw(isMovingAgent('job.agent_id'))}
                             order by due_at limit $3 ${SKIP_LOCKED}))
         and (due_at <= $2 and (lease_until is null or lease_until < now())) is true
      returning id, lane, agent_id, attempts, created_at
    ),
    found as materialized (
      select m.id, m.agent_id, json_build_object(
             'id', m.id, 'agentId', m.agent_id, 'workspaceId', m.workspace_id, 'channel', m.channel, 'to', m."to", 'cc', m.cc, 'bcc', m.bcc, 'subject', m.subject,
             'text', m.text, 'html', m.html,
             'internetMessageId', m.internet_message_id,
             'answered', (select json_build_object('internetMessageId', p.internet_message_id, 'threadMessageId', p.thread_message_id,
                                                   'threadReferences', p.thread_references)
                            from message p where p.id = m.reply_to_id and p.agent_id = m.agent_id),
             'recipients', (select coalesce(json_agg(json_build_object('address', r.address, 'parts', coalesce(r.parts, '{}')) order by r.address), '[]')
                              from recipient r
                             where r.message_id = m.id and r.agent_id = m.agent_id and r.status = 'sending' and r.provider_id is null),
             'hasAttachments', exists (select from attachment f where f.message_id = m.id and f.agent_id = m.agent_id),
             'isUnapproved', m.hold_by is null and exists (select from agent g where g.id = m.agent_id and g.approval <> 'none'),
             'hasSuppressions', exists (select from suppression s where s.agent_id = m.agent_id and s.channel = m.channel)) as message,
           (select json_build_object('address', a.value, 'name', g.name)
              from address a, agent g where a.id = m.address_id and g.id = m.agent_id) as sender
        from claimed c join message m on m.id = c.lane and m.agent_id = c.agent_id
    )
    select c.id as job_id, c.lane, c.agent_id as job_agent_id, c.attempts, c.created_at as queued_at, f.message, f.sender
      from claimed c left join found f on f.id = c.lane and f.agent_id = c.agent_id`),
}

/**
 * Leases at most `limit` due messages of these parts, and of others that are late, longest overdue first. Uses SKIP
 * LOCKED, so that workers never wait for each other. Leases expire by the database's clock, which all processes share; whether a message is due is
 * decided by the caller's clock.
 */
export const claimSends = async (
  { pool }: Db,
  { owner, now, limit, parts, withoutAgents = [], withoutJobs = [] }: ClaimRequest,
): Promise<ClaimedSend[]> => {
  const values = [owner, now, limit, withoutAgents, withoutJobs, parts]
  const { rows } = await pool.query<ClaimedRow>({ ...CLAIM, values })
  return rows.map(({ job_id, lane, job_agent_id, attempts, queued_at, message, sender }) => ({
    id: job_id,
    messageId: lane,
    agentId: job_agent_id,
    attempts,
    queuedAt: queued_at,
    owner,
    message: message && { ...message, from: sender },
  }))
}
