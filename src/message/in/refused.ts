import type { Clock } from '../../core/clock.ts'
import type { RootDb } from '../../db/client.ts'

/**
 * Messages of one statement: each may have 25 MiB and as much again in files, and what is written meanwhile
 * must not wait.
 */
const MAX = 100

/** Workspaces that have refused messages past their time. One look into `message_refused_idx` for each. */
const WITH_OLD = `
  select w.id, $1::timestamptz - make_interval(days => w.keep_refused_days) as before from workspace w
   where exists (select from message m where m.workspace_id = w.id and m.status = 'refused'
                    and m.created_at < $1::timestamptz - make_interval(days => w.keep_refused_days))`

/**
 * Their raw form, files and words in the index go with them. What another process deletes just now is left to
 * it.
 */
const DELETE_OLD = `
  with old as materialized (
    select id from message where workspace_id = $1 and status = 'refused' and created_at < $2
     order by created_at limit ${MAX} for update skip locked
  )
  delete from message where id = any(array(select id from old))`

/**
 * Deletes refused messages that their workspace's setting keeps no longer, in small batches. Idempotent; any
 * process may call it at any time. Returns how many there were.
 */
export const pruneRefused = async (
  { pool, clock }: RootDb & { clock: Clock },
  signal: AbortSignal,
): Promise<number> => {
  const { rows } = await pool.query<{ id: string; before: Date }>(WITH_OLD, [clock.now()])
  let pruned = 0
  for (const { id, before } of rows) {
    for (let batch = MAX; batch === MAX && !signal.aborted; pruned += batch)
      batch =
        (await pool.query({ name: 'prune refused', text: DELETE_OLD, values: [id, before] })).rowCount ?? 0
  }
  return pruned
}
