import type { Clock } from '../../core/clock.ts'
import type { RootDb } from '../../db/client.ts'
import { define, SKIP_LOCKED, sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import { noteChanges } from '../../workspace/index.ts'
import { deleteOld, GONE, OLD } from '../stored/deletion.ts'

/**
 * Maximum number of messages deleted in one statement. Each may have 25 MiB and as much again in attachments,
 * and concurrent writes must not be held up.
 */
const MAX = 100

/**
 * Workspaces with refused messages past their retention time. One lookup in `message_workspace_status_idx` for each.
 */
const BEFORE = sql`$1::timestamptz - make_interval(days => w.keep_refused_days)`
const WITH_OLD = composedOf(sql`
  select w.id, ${BEFORE} as before from workspace w
   where exists (select from message m where m.workspace_id = w.id and m.status = 'refused' and m.created_at < ${BEFORE})`)

/** Rows that another process is deleting are skipped. */
const DELETE_OLD = composedOf(sql`
  with ${define(OLD)} as materialized (
    select id, agent_id from message where workspace_id = $1 and status = 'refused' and created_at < $2
     order by created_at limit ${MAX} ${SKIP_LOCKED}
  ),${deleteOld()},${noteChanges('message_changed', GONE)}
  select count(*)::int as count from gone`)

/**
 * Deletes refused messages that are past their workspace's retention time, in small batches. Idempotent; any
 * process may call it at any time. Returns the number of messages deleted.
 */
export const pruneRefused = async (
  { pool, clock }: RootDb & { clock: Clock },
  signal: AbortSignal,
): Promise<number> => {
  const { rows } = await pool.query<{ id: string; before: Date }>({
    ...WITH_OLD,
    values: [clock.now()],
  })
  let pruned = 0
  for (const { id, before } of rows) {
    for (let batch = MAX; batch === MAX && !signal.aborted; pruned += batch) {
      const statement = { name: 'prune refused', ...DELETE_OLD, values: [id, before] }
      batch = (await pool.query<{ count: number }>(statement)).rows[0]!.count
    }
  }
  return pruned
}
