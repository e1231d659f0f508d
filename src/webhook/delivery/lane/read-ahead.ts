import type { Db } from '../../../db/client.ts'
import type { Channel, JobState } from '../../../db/generated/prisma/enums.ts'
import { sql } from '../../../db/sql/sql.ts'
import { statement } from '../../../db/sql/statement.ts'
import type { EventDetail } from '../../../event/index.ts'

/**
 * Reads a webhook's jobs for its lane: the agent's events after those it has read, in order. One statement
 * reads for many lanes.
 */

/** The first read is small, because most lanes have one event to deliver. Each full read doubles the next. */
export const FIRST_READ = 16

/** A request for the next events of one lane. */
export interface ReadRequest {
  lane: string
  agentId: string
  /** Id of the last event that the lane has read. */
  after: number
  /** Maximum number of events to read. */
  limit: number
}

/** One event with the state of its job. */
export interface PendingDelivery {
  seq: number
  type: string
  channel: Channel
  message_id: string
  created_at: Date
  /** Read for `url` only: no other delivery contains it. */
  sender: unknown
  from: string
  subject: string | null
  detail: EventDetail | null
  /** The agent's name when the event happened. */
  agent_name: string
  /**
   * Null when there is no job: for a `url` event that is not for this webhook, or when the webhook was added
   * while the event was being stored.
   */
  state: JobState | null
  attempted: number
  payload: Buffer | null
  /** Time when a replay requested the event again; null without one. */
  asked_at: Date | null
}

/**
 * The result of a read for one lane. `lastId` is the end of the log in the same snapshot: a read below its
 * limit has all events up to it.
 */
export interface Read {
  lastId: number
  /** Events up to this id are no longer stored. */
  horizon: number
  jobs: PendingDelivery[]
}

type ReadRow = { lane: string; last_id: number; horizon: number } & (PendingDelivery | { seq: null })

/** Columns of an event `e` of an agent `a` with its job `j`, as `PendingDelivery`. */
export const EVENT = sql`
        e.id as seq, e.type, e.channel, e.message_id, e.created_at, case when e.channel = 'url' then e.sender end as sender,
               e."from", e.subject, e.detail, coalesce(e.agent_name, a.name) as agent_name, j.state, coalesce(j.attempts, 0) as attempted, j.payload, j.asked_at`

/** Requests, as arrays of equal length. */
interface Asked {
  lanes: readonly string[]
  agents: readonly string[]
  after: readonly number[]
  limits: readonly number[]
}

/**
 * Starts from the log and joins the jobs: a lane must not skip an event because its job is missing. Says of the jobs too where
 * they begin: a merge join would read all older ones of the lane (docs/decisions.md#jobs-of-a-read).
 */
const READ = statement<Asked>('lanes read ahead', ({ lanes, agents, after, limits }) => {
  const asked = sql`unnest(${lanes}::uuid[], ${agents}::uuid[], ${after}::bigint[], ${limits}::int[]) with ordinality as w(lane, agent_id, after, most, ord)`
  return sql`
    select w.lane, l.last_id, l.horizon, n.*
      from ${asked}
      join event_log l on l.agent_id = w.agent_id
      join agent a on a.id = w.agent_id
      left join lateral (
        select ${EVENT}
          from event e left join job j on j.agent_id = w.agent_id and j.lane = w.lane and j.seq = e.id and j.seq > w.after
         where e.agent_id = w.agent_id and e.id > w.after
         order by e.id limit w.most
      ) n on true
     order by w.ord, n.seq`
})

/** Reads the next events of many lanes. A lane that is missing from the result was deleted with its agent. */
export const readAhead = async (
  { pool }: Db,
  requests: readonly ReadRequest[],
): Promise<Map<string, Read>> => {
  const { rows } = await pool.query<ReadRow>(
    READ({
      lanes: requests.map((r) => r.lane),
      agents: requests.map((r) => r.agentId),
      after: requests.map((r) => r.after),
      limits: requests.map((r) => r.limit),
    }),
  )
  const reads = new Map<string, Read>()
  for (const row of rows) {
    const read = reads.get(row.lane) ?? { lastId: row.last_id, horizon: row.horizon, jobs: [] }
    if (row.seq !== null) read.jobs.push(row)
    reads.set(row.lane, read)
  }
  return reads
}

/** Adds jobs that are missing (see `PendingDelivery.state`), so that their deliveries are recorded. */
export const addJobs = async (
  { pool }: Db,
  jobs: readonly { lane: string; agentId: string; seq: number; createdAt: Date }[],
) => {
  await pool.query(
    `insert into job (id, kind, agent_id, lane, seq, created_at)
     select gen_random_uuid(), 'webhook', agent_id, lane, seq, created_at
       from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::timestamptz[]) as n(lane, agent_id, seq, created_at)
     on conflict do nothing`,
    [
      jobs.map((j) => j.lane),
      jobs.map((j) => j.agentId),
      jobs.map((j) => j.seq),
      jobs.map((j) => j.createdAt),
    ],
  )
}
