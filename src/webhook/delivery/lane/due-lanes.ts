import type { Db } from '../../../db/client.ts'
import { define, raw, type Sql, sql } from '../../../db/sql/sql.ts'
import { composedOf } from '../../../db/sql/statement.ts'
import { isAmongParts, LATE_MS } from '../../../worker/index.ts'
import { DUE, DUE_BY, LANES, LEASE, type LeasedLane, type LeaseRequest, PICKED } from './lease.ts'

/** Maximum number of lanes to lease, and of those among them that are retrying. */
export interface LeaseLimits {
  lanes: number
  retrying: number
}

/** Maximum number of the newest events whose agents the poll looks at. */
const MAX_NEW_EVENTS = 20_000

/** Whether an agent is of this worker's parts, $7. */
const isOurs = (agentId: string): Sql => isAmongParts(raw(agentId), raw('$7'))

/**
 * Condition for a lane to be leased by this worker: it is of its parts, or its owner has not taken it since it was
 * marked or its retry was due. Of lanes with events that no mark shows, only late events are seen.
 */
const OURS_OR_LATE = sql`
  (${isOurs('w.agent_id')} or coalesce(greatest(w.due_at, w.retry_at) <= greatest($3::timestamptz, now()) - ${LATE_MS} * interval '1 ms', true))`

/**
 * Leases lanes that are marked, and lanes of agents with events of the last $6 milliseconds, whose
 * notification may have been lost. Both are found by an index in which idle webhooks are not, so that they
 * cost nothing. The arrays keep it so: of a join with them, PostgreSQL expects thousands of rows and reads the
 * whole table. Times stand in subqueries: otherwise each poll is planned anew (docs/decisions.md#kept-plans).
 *
 * Lanes are leased in turn by workspace: the first lane of each, then the second of each, and so on. Lanes
 * that are retrying are ranked separately, so that they do not delay the others.
 */
const ANY = {
  name: 'lanes due',
  ...composedOf(sql`
    with seen as materialized (
      select agent_id from event where created_at > (select least($3::timestamptz, now()) - $6::float8 * interval '1 ms')
         and (${isOurs('agent_id')} or created_at <= (select least($3::timestamptz, now()) - ${LATE_MS} * interval '1 ms'))
       order by created_at desc limit ${MAX_NEW_EVENTS}
    ),
    candidates as materialized (
      select w.id from webhook w where w.due_at <= (select ${DUE_BY}) and ${OURS_OR_LATE}
      union
      select w.id from webhook w where w.agent_id = any(array(select distinct agent_id from seen))
    ),
    due as materialized (
      select w.id, w.attempts > 0 as suspect,
             row_number() over (partition by w.workspace_id, w.attempts > 0 order by w.retry_at nulls first, w.id) as turn
        from webhook w join event_log l on l.agent_id = w.agent_id
       where w.id = any(array(select id from candidates)) and ${DUE} and ${OURS_OR_LATE}
    ),
    candidate as (select id, suspect, row_number() over (partition by suspect order by turn) as place from due),
    ${define(PICKED)} as (select id from candidate where not suspect or place <= $5 order by place limit $4), ${LEASE} ${LANES}`),
}

interface DueRequest extends LeaseRequest {
  limits: LeaseLimits
  /** Age in milliseconds of the events whose notification may have been lost. */
  newMs: number
  /** This worker's parts. */
  parts: Buffer
}

/**
 * Leases lanes of any agents that have something to do now, fairly between workspaces. Those of
 * other workers' parts are left to their owners until they are late.
 */
export const leaseDue = async (
  { pool }: Db,
  { lease, now, limits, newMs, parts }: DueRequest,
): Promise<LeasedLane[]> => {
  const values = [lease.owner, lease.ms, now, limits.lanes, limits.retrying, newMs, parts]
  return (await pool.query<LeasedLane>({ ...ANY, values })).rows
}

/**
 * Marks the free lanes that have an event which the poll does not see: it was stored while no worker was
 * running. Reads every webhook once, so it is for the start of a worker and rare intervals.
 */
export const markBehind = async ({ pool }: Db): Promise<void> => {
  await pool.query(
    `update webhook w set due_at = now() from event_log l
      where l.agent_id = w.agent_id and w.position < l.last_id and w.due_at is null and w.lease_owner is null and w.paused_at is null`,
  )
}

const NEXT = {
  name: 'lanes next due',
  ...composedOf(sql`
    select w.due_at as at from webhook w where w.due_at > (select $1::timestamptz) and ${isAmongParts(raw('w.agent_id'), raw('$2'))}
     order by w.due_at limit 1`),
}

/** Returns when the next lane of these parts becomes due, or null when there is none. */
export const nextDueAt = async (
  { pool }: Db,
  { now, parts }: { now: Date; parts: Buffer },
): Promise<Date | null> => {
  const { rows } = await pool.query<{ at: Date }>({ ...NEXT, values: [now, parts] })
  return rows[0]?.at ?? null
}
