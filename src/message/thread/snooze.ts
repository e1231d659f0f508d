import type { RootDb } from '../../db/client.ts'
import { define, rows, SKIP_LOCKED, sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import { noteChanges } from '../../workspace/index.ts'

const MAX = 100
const ENDED = rows('ended', 'id', 'agent_id', 'workspace_id')

/**
 * Opens threads that were postponed until now: their newest message is not handled any more. Those that another process
 * opens are skipped.
 */
const END = {
  name: 'end postponements',
  ...composedOf(sql`
    with
    due as materialized (
      select agent_id, thread_id from thread_state where snoozed_until <= $1 order by snoozed_until limit ${MAX} ${SKIP_LOCKED}
    ),
    newest as materialized (
      select d.agent_id, (array_agg(m.id order by m.created_at desc, m.id desc))[1] as id
        from due d join message m on m.agent_id = d.agent_id and m.thread_id = d.thread_id
       where m.status not in ('refused', 'imported') group by d.agent_id, d.thread_id
    ),
    ${define(ENDED)} as (
      update thread_state s set snoozed_until = null from due d
       where s.agent_id = d.agent_id and s.thread_id = d.thread_id
      returning s.thread_id as id, s.agent_id, s.workspace_id
    ),
    opened as (
      update message m set handled = false from newest n where m.agent_id = n.agent_id and m.id = n.id and m.handled
    ),${noteChanges('thread', ENDED)}
    select count(*)::int as count from ended`),
}

/** Opens all threads that were postponed until now. Any process may call it at any time. Returns their number. */
export const endSnoozes = async (
  { pool }: Pick<RootDb, 'pool'>,
  now: Date,
  signal?: AbortSignal,
): Promise<number> => {
  let ended = 0
  for (let batch = MAX; batch === MAX && !signal?.aborted; ended += batch)
    batch = (await pool.query<{ count: number }>({ ...END, values: [now] })).rows[0]!.count
  return ended
}
