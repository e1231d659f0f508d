import type { Db } from '../db/client.ts'
import { deleteOfAgent } from '../db/delete-in-batches.ts'
import { define, raw, sql } from '../db/sql/sql.ts'
import { composedOf } from '../db/sql/statement.ts'
import { deleteOld, OLD } from './stored/deletion.ts'
import { deleteThreadsOf } from './stored/emptied-threads.ts'
import { deleteSendsOf } from './stored/send-job.ts'

/** Deleting all messages of an agent that was deleted, in small batches. */

/** What hangs on a message can be 50 MiB, so that a batch of these takes longer than one of small rows. */
const MESSAGES = 250
const SMALL = 2_000

/**
 * The search index first: it locks messages in an order of its own, so that the two would deadlock over
 * messages that are not indexed yet.
 */
const UNINDEXED = {
  name: 'delete unindexed messages of an agent',
  text: `
    with gone as (
      delete from unindexed_message where agent_id = $1 and message_id = any(array(
        select message_id from unindexed_message where agent_id = $1 limit $2)) returning 1
    )
    select count(*)::int as count from gone`,
}

/**
 * Newest first, because replies are newer than what they reply to. The lock lets only one process at a time
 * delete an agent's messages.
 */
const DELETE = {
  name: 'delete messages of an agent',
  ...composedOf(sql`
    with
    claimed as materialized (select agent_id from deleted_agent where agent_id = $1 for update skip locked),
    ${define(OLD)} as materialized (
      select id, agent_id from message where agent_id = $1 and exists (select from claimed) order by created_at desc, id desc limit $2 for update
    ),${deleteOld(raw('$1'))}
    select (select count(*) from claimed)::int as claimed, count(*)::int as count from gone`),
}

/**
 * Deletes a batch of the messages of an agent that was deleted, and of what hangs on them. Returns the number
 * of rows; null while another process deletes them.
 */
export const deleteMessagesOf = async (db: Pick<Db, 'pool'>, agentId: string): Promise<number | null> => {
  const sends = await deleteSendsOf(db, agentId, SMALL)
  const threads = await deleteThreadsOf(db, agentId, SMALL)
  if (threads === SMALL) return SMALL
  if ((await deleteOfAgent(db, UNINDEXED, agentId, SMALL)) === SMALL) return SMALL
  const { rows } = await db.pool.query<{ claimed: number; count: number }>({
    ...DELETE,
    values: [agentId, MESSAGES],
  })
  const { claimed, count } = rows[0]!
  return claimed === 0 ? null : sends + threads + count
}
