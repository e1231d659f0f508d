import type { Clock } from '../../core/clock.ts'
import type { RootDb } from '../../db/client.ts'

/**
 * Maximum number of messages deleted in one statement. Each may have 25 MiB and as much again in attachments,
 * and concurrent writes must not be held up.
 */
const MAX = 100

/**
 * Workspaces with refused messages past their retention time. One lookup in `message_workspace_status_idx` for each.
 */
const WITH_OLD = `
  select w.id, $1::timestamptz - make_interval(days => w.keep_refused_days) as before from workspace w
   where exists (select from message m where m.workspace_id = w.id and m.status = 'refused'
                    and m.created_at < $1::timestamptz - make_interval(days => w.keep_refused_days))`

const GONE = 'array(select id from old)'

/**
/**
 * Raw messages, attachments and search entries are deleted with their messages; replies and forwards of them
 * stay. Rows that another process is deleting are skipped.
 */
const DELETE_OLD = `
  with old as materialized (
    select id from message where workspace_id = $1 and status = 'refused' and created_at < $2
     order by created_at limit ${MAX} for update skip locked
  ),
  loosened as (
    update message
       set reply_to_id = case when reply_to_id <> all(${GONE}) then reply_to_id end,
           forward_of_id = case when forward_of_id <> all(${GONE}) then forward_of_id end
     where (reply_to_id = any(${GONE}) or forward_of_id = any(${GONE})) and id <> all(${GONE})
  )
  delete from message where id = any(${GONE})`

/**
 * Deletes refused messages that are past their workspace's retention time, in small batches. Idempotent; any
 * process may call it at any time. Returns the number of messages deleted.
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
