import type { Message } from '../../db/generated/prisma/client.ts'
import type { Notifier } from '../../db/notify.ts'
import { within } from '../../db/transaction.ts'
import { APPEND_EVENTS, APPENDED_COLUMNS, type AppendedRow, toAppended } from '../../event/append.ts'
import type { Feed } from '../../event/feed.ts'
import { enqueueWebhookJobs } from '../../webhook/delivery/enqueue.ts'
import { noteChanges } from '../../workspace/change-log.ts'
import { MESSAGE_CHANGED } from '../reading/changed.ts'
import { type ApprovalRequestDeps, requestApproval } from './approval-request.ts'
import type { OutgoingMessage } from './claim-sends.ts'
import { HOLD, HOLD_EVENTS, rejectedFrom } from './hold.ts'
import { raise } from './raise.ts'
import type { SendJob } from './send-job.ts'
import { lockMessage } from './status.ts'

export interface HoldDeps extends ApprovalRequestDeps {
  notifier: Notifier
  feed: Pick<Feed, 'committed'>
}

/** $1 the job, $2 and $3 the recipients as `HOLD` needs them, $4 the owner of the lease, $5 the agent, $6 the time. */
const HOLD_QUEUED = `
  with drafted as (
    update message m set hold_reason = 'approval', hold_until = ${rejectedFrom('$6::timestamptz')}
      from job j
     where j.id = $1::uuid and j.agent_id = $5::uuid and j.lease_owner = $4 and m.id = j.lane and m.agent_id = j.agent_id
       and m.status = 'sending' and m.hold_by is null and (${HOLD}) = 'approval'
    returning m.id, m.agent_id, m.workspace_id, m.address_id, m.channel, m.subject, m."to", m.hold_reason, m.hold_until, m.created_at
  ),
  withdrawn as (delete from job j using drafted where j.id = $1::uuid and j.agent_id = drafted.agent_id),
  ${noteChanges('message_changed', 'drafted')},${raise(HOLD_EVENTS)},${APPEND_EVENTS},${enqueueWebhookJobs()}
  select d.workspace_id as "workspaceId", d."to", d.subject, d.hold_until as "holdUntil", ${APPENDED_COLUMNS}
    from drafted d left join appended e on e.id = d.id`

type HeldRow = Pick<Message, 'workspaceId' | 'to' | 'subject' | 'holdUntil'> & AppendedRow

/**
 * Makes a message that is about to be sent wait for approval, if it needs approval by now: a member may have asked for
 * it after the message was accepted, scheduled, or tried in vain. Returns whether it waits.
 */
export const holdQueued = async (
  deps: HoldDeps,
  { id, agentId, to, cc }: OutgoingMessage,
  job: SendJob,
): Promise<boolean> => {
  const recipients = [...to, ...cc]
  const values = [job.id, recipients.map(() => id), recipients, job.owner, agentId, deps.clock.now()]
  const held = await deps.prisma.$transaction(async (tx) => {
    await lockMessage(tx, { id, agentId })
    const { rows } = await within(tx).pool.query<HeldRow>({ text: HOLD_QUEUED, values })
    return rows[0]
  })
  if (!held) return false
  deps.afterCommit(() => deps.feed.committed(toAppended([held])))
  deps.afterCommit(() => deps.notifier.publish(MESSAGE_CHANGED, `${agentId}/${id}`))
  await requestApproval(deps, { ...held, id, agentId })
  return true
}
