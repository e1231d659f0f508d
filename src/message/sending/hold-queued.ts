import type { Notifier } from '../../db/notify.ts'
import { define, raw, sql } from '../../db/sql/sql.ts'
import { statement } from '../../db/sql/statement.ts'
import { within } from '../../db/transaction.ts'
import {
  APPEND_EVENTS,
  APPENDED,
  APPENDED_COLUMNS,
  type AppendedRow,
  type Feed,
  toAppended,
} from '../../event/index.ts'
import { enqueueWebhookJobs } from '../../webhook/index.ts'
import { noteChanges } from '../../workspace/index.ts'
import { type ApprovalRequestDeps, requestApproval } from '../approval/approval-request.ts'
import { DRAFTED, holdEvents, needsApproval, rejectedFrom } from '../approval/hold.ts'
import { readsFacts } from '../approval/recipient-facts.ts'
import { MESSAGE_CHANGED } from '../stored/changed.ts'
import { raise } from '../stored/raise.ts'
import type { SendJob } from '../stored/send-job.ts'
import { lockMessage } from '../stored/status.ts'
import type { OutgoingMessage } from './claim-sends.ts'

export interface HoldDeps extends ApprovalRequestDeps {
  notifier: Notifier
  feed: Pick<Feed, 'committed'>
}

interface Queued {
  job: string
  /** Of the lease. */
  owner: string
  agent: string
  until: Date
}

const HOLD_QUEUED = statement<Queued>(
  undefined,
  ({ job, owner, agent, until }) => sql`
  with ${define(DRAFTED)} as (
    update message m set hold_reason = 'approval', hold_until = ${until}::timestamptz
      from job j
     where j.id = ${job}::uuid and j.agent_id = ${agent}::uuid and j.lease_owner = ${owner} and m.id = j.lane and m.agent_id = j.agent_id
       and m.status = 'sending' and m.hold_by is null
    returning m.id, m.agent_id, m.workspace_id, m.address_id, m.thread_id, m.conversation, m.channel, m.subject, m.hold_reason, m.hold_until, m.created_at
  ),
  withdrawn as (delete from job j using ${DRAFTED} where j.id = ${job}::uuid and j.agent_id = drafted.agent_id),
  ${noteChanges('message_changed', DRAFTED)},${raise(holdEvents(DRAFTED))},${APPEND_EVENTS},${enqueueWebhookJobs()}
  select ${APPENDED_COLUMNS} from ${DRAFTED} d left join ${APPENDED} e on e.id = d.id`,
)

const readFacts = readsFacts(raw('true'))

/**
 * Makes a message that is about to be sent wait for approval, if it needs approval by now: a member may have asked for
 * it after the message was accepted, scheduled, or tried in vain. Returns whether it waits.
 */
export const holdQueued = async (
  deps: HoldDeps,
  { id, agentId }: OutgoingMessage,
  job: SendJob,
): Promise<boolean> => {
  const until = rejectedFrom(deps.clock.now())
  const held = await deps.prisma.$transaction(async (tx) => {
    await lockMessage(tx, { id, agentId })
    const { pool } = within(tx)
    const recipients = await readFacts({ pool }, [{ id, agentId }])
    const [one] = recipients
    if (!one || !needsApproval(one.approval, recipients)) return undefined
    const queued = { job: job.id, owner: job.owner, agent: agentId, until }
    return (await pool.query<AppendedRow>(HOLD_QUEUED(queued))).rows[0]
  })
  if (!held) return false
  deps.afterCommit(() => deps.feed.committed(toAppended([held])))
  deps.afterCommit(() => deps.notifier.publish(MESSAGE_CHANGED, `${agentId}/${id}`))
  await requestApproval(
    deps,
    await deps.prisma.message.findUniqueOrThrow({ where: { id_agentId: { id, agentId } } }),
  )
  return true
}
