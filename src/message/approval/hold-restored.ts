import type { Db } from '../../db/client.ts'
import { define, sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import { APPEND_EVENTS } from '../../event/index.ts'
import { enqueueWebhookJobs } from '../../webhook/index.ts'
import { noteChanges } from '../../workspace/index.ts'
import { raise } from '../stored/raise.ts'
import { APPROVAL_DAYS, DRAFTED, holdEvents } from './hold.ts'

const HOLD_DUE = composedOf(sql`
  with ${define(DRAFTED)} as (
    update message m set hold_reason = 'approval', hold_until = now() + interval '${APPROVAL_DAYS} days', hold_by = null
      from job j
     where j.kind = 'send' and j.due_at <= now() and m.id = j.lane and m.agent_id = j.agent_id and m.status = 'sending'
    returning m.id, m.agent_id, m.workspace_id, m.address_id, m.thread_id, m.conversation, m.channel, m.subject, m.hold_reason, m.hold_until, m.created_at
  ),
  withdrawn as (delete from job j using ${DRAFTED} d where j.kind = 'send' and j.agent_id = d.agent_id and j.lane = d.id),
  ${noteChanges('message_changed', DRAFTED)},${raise(holdEvents(DRAFTED))},${APPEND_EVENTS},${enqueueWebhookJobs()}
  select count(*)::int as count from ${DRAFTED}`)

/**
 * Makes the messages that are due to be sent wait for a member's approval, after a restore to an earlier moment: what
 * was queued then has probably been sent since. Returns their number. No process may be sending meanwhile.
 */
export const holdDue = async ({ pool }: Pick<Db, 'pool'>): Promise<number> =>
  (await pool.query<{ count: number }>(HOLD_DUE)).rows[0]!.count
