import type { Db } from '../../../db/client.ts'
import type { JobState } from '../../../db/generated/prisma/enums.ts'
import { define, rows, rowsOf, sql } from '../../../db/sql/sql.ts'
import { composedOf } from '../../../db/sql/statement.ts'
import { noteChanges } from '../../../workspace/index.ts'
import type { Answer } from '../../post/answer.ts'
import type { Lease } from './lease.ts'

/** A lane's progress, as it is written to the webhook's row. */
export interface Progress {
  lane: string
  agentId: string
  workspaceId: string
  position: number
  /** How often the event after `position` has failed, its last error, and when it is due again. */
  attempts: number
  error: string | null
  retryAt: Date | null
  /** Null leaves the column unchanged. */
  lastDeliveredAt: Date | null
  /** Whether to release the lease. */
  release: boolean
  /**
   * The row's revision when the lane was leased. If it has changed, the position was set back or another
   * worker had the lane meanwhile, and none of this progress is written.
   */
  revision: number
  /** Number of finished manual deliveries. */
  answered: number
  /** Time of a failure; the row keeps the first one since the last recovery. */
  failedAt?: Date
  /** Time when an event was given up. */
  givenUpAt?: Date
  /** Present when the receiver accepts events again, which clears the record of its failures. */
  recovered?: true
}

/**
 * The result of writing a lane's progress. `mine`: it was written. `rewound`: it was not written, because the
 * revision has changed. `lost`: the owner no longer holds the lane.
 */
export type WriteResult = 'mine' | 'rewound' | 'lost'

/** The result of one attempt at a job, or of giving it up. */
export interface Settled {
  lane: string
  seq: number
  state: JobState
  /** Number of attempts so far. */
  attempts: number
  /** Entry for the job's log; null when the job was given up without an attempt. */
  entry: Entry | null
}

/** An attempt in a job's log. */
export interface Entry {
  at: Date
  status?: number
  error?: string
  ms: number
  answer?: Answer
}

const MINE = rows('mine', 'id', 'agent_id', 'workspace_id', 'turned')
const TURNED = rowsOf<'id' | 'agent_id' | 'workspace_id'>(sql`select * from ${MINE} where turned`)

/**
 * $1 is the owner, $2 the lease in ms. $3 to $10 are columns of the lanes, $11 what few of them have; $12 to $16 are columns of
 * the settled jobs, because JSON takes longer to parse (docs/decisions.md#progress-in-columns). Only the lease's
 * owner can change a lane. The statement is idempotent, so it may be retried when its result was lost.
 */
const SETTLE = {
  name: 'lanes settle',
  ...composedOf(sql`
    with p as materialized (
      select p.*, r.error, r."retryAt", r."failedAt", r."givenUpAt", r.recovered, r.turned, now() as now, now() + $2 * interval '1 ms' as "leaseUntil"
        from unnest($3::uuid[], $4::uuid[], $5::bigint[], $6::int[], $7::timestamptz[], $8::boolean[], $9::int[], $10::int[])
             as p(lane, "agentId", position, attempts, "lastDeliveredAt", release, revision, answered)
        left join jsonb_to_recordset($11::jsonb) as r(lane uuid, error text, "retryAt" timestamptz, "failedAt" timestamptz,
                                                      "givenUpAt" timestamptz, recovered boolean, turned boolean) using (lane)
    ),
    ${define(MINE)} as (
      update webhook w
         set position = greatest(w.position, p.position), attempts = p.attempts, error = p.error, retry_at = p."retryAt",
             last_delivered_at = coalesce(p."lastDeliveredAt", w.last_delivered_at), answered = greatest(w.answered, p.answered),
             failing_since = coalesce(case when p.recovered then null else w.failing_since end, p."failedAt"),
             given_up_at = coalesce(case when p.recovered then null else w.given_up_at end, p."givenUpAt"),
             owner_told_at = case when p.recovered then null else w.owner_told_at end,
             lease_owner = case when p.release then null else w.lease_owner end,
             lease_until = case when p.release then null else p."leaseUntil" end,
             due_at = case when not p.release then w.due_at
                           when w.paused_at is not null then null
                           when greatest(w.answered, p.answered) < w.asked then p.now
                           when p."retryAt" is not null then p."retryAt"
                           when greatest(w.position, p.position) < (select last_id from event_log l where l.agent_id = w.agent_id) then p.now end
        from p
       where w.id = p.lane and w.agent_id = p."agentId" and w.lease_owner = $1 and w.revision = p.revision
      returning w.id, w.agent_id, w.workspace_id, p.turned
    ),
    rewound as (
      update webhook w
         set lease_owner = case when p.release then null else w.lease_owner end,
             lease_until = case when p.release then null else w.lease_until end,
             due_at = case when not p.release then w.due_at when w.paused_at is null then p.now end
        from (select * from p where lane not in (select id from mine)) p
       where w.id = p.lane and w.agent_id = p."agentId" and w.lease_owner = $1 and w.revision <> p.revision
      returning w.id
    ),
    settled as materialized (
      select s.*, mine.agent_id
        from rows from (unnest($12::uuid[]), unnest($13::bigint[]), unnest($14::"JobState"[]), unnest($15::int[]), jsonb_array_elements($16::jsonb))
             as s(lane, seq, state, attempts, log)
        join mine on mine.id = s.lane
    ),
    done as (
      update job j
         set state = s.state, attempts = s.attempts, log = case when s.log = 'null' then j.log when j.log = '[]' then s.log else j.log || s.log end,
             payload = case when s.state = 'pending' then j.payload end
        from settled s
       where j.agent_id = s.agent_id and j.lane = s.lane and j.seq = s.seq and j.state = 'pending' and (s.state <> 'pending' or j.attempts < s.attempts)
    ),${noteChanges('webhook', TURNED)}
    select (select string_agg(id::text, ',') from mine) as mine, (select string_agg(id::text, ',') from rewound) as rewound`),
}

/** Returns what few lanes have; null if it has nothing of it. JSON leaves out what is undefined. */
const rareOf = (progress: Progress, manual: ReadonlySet<string>): object | null => {
  const { lane, error, retryAt, failedAt, givenUpAt, recovered } = progress
  const turned = Boolean(recovered || failedAt || givenUpAt || manual.has(lane))
  if (error === null && retryAt === null && !turned) return null
  return { lane, error, retryAt, failedAt, givenUpAt, recovered, turned }
}

/** An array of PostgreSQL of values that need no quotes. */
const arrayOf = (values: readonly (string | number | boolean)[]): string => `{${values.join()}}`
const timesOf = (times: readonly (Date | null)[]): string =>
  arrayOf(times.map((time) => time?.toISOString() ?? 'null'))

/**
 * Returns the statement's columns of lanes. `turned`: the webhook failed, delivers again, or got what a member asked for, which
 * those who watch the workspace hear of. Nothing is noted for each event.
 */
const lanesOf = (progress: readonly Progress[], manual: ReadonlySet<string>): unknown[] => [
  arrayOf(progress.map(({ lane }) => lane)),
  arrayOf(progress.map(({ agentId }) => agentId)),
  arrayOf(progress.map(({ position }) => position)),
  arrayOf(progress.map(({ attempts }) => attempts)),
  timesOf(progress.map(({ lastDeliveredAt }) => lastDeliveredAt)),
  arrayOf(progress.map(({ release }) => release)),
  arrayOf(progress.map(({ revision }) => revision)),
  arrayOf(progress.map(({ answered }) => answered)),
  JSON.stringify(progress.flatMap((each) => rareOf(each, manual) ?? [])),
]

/** Returns the statement's columns of settled jobs. */
const jobsOf = (jobs: readonly Settled[]): unknown[] => [
  arrayOf(jobs.map(({ lane }) => lane)),
  arrayOf(jobs.map(({ seq }) => seq)),
  arrayOf(jobs.map(({ state }) => state)),
  arrayOf(jobs.map(({ attempts }) => attempts)),
  JSON.stringify(jobs.map(({ entry }) => entry && [entry])),
]

/** Writes the progress of many lanes. Returns the result of each; lanes that are missing are lost. */
export const settle = async (
  { pool }: Db,
  lease: Lease,
  progress: readonly Progress[],
  jobs: readonly Settled[],
): Promise<Map<string, WriteResult>> => {
  const manual = new Set(jobs.flatMap(({ lane, seq }) => (seq < 0 ? [lane] : [])))
  const { rows } = await pool.query<Record<Exclude<WriteResult, 'lost'>, string | null>>({
    ...SETTLE,
    values: [lease.owner, lease.ms, ...lanesOf(progress, manual), ...jobsOf(jobs)],
  })
  const results = new Map<string, WriteResult>()
  for (const result of ['mine', 'rewound'] as const)
    for (const id of rows[0]?.[result]?.split(',') ?? []) results.set(id, result)
  return results
}
