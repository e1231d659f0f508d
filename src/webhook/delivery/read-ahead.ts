import type { Db } from '../../db/client.ts'
import type { Channel, JobState } from '../../db/generated/prisma/enums.ts'

/**
 * A webhook's jobs as its lane sees them: the agent's events after the lane's position, in order. Many lanes
 * share one statement.
 */

/** Asks for the next events of one lane. */
export interface ReadRequest {
  lane: string
  agentId: string
  /** The last event that it has. */
  after: number
  /** How many events to read. */
  limit: number
}

/** One event with the state of its job. */
export interface PendingDelivery {
  seq: number
  type: string
  channel: Channel
  message_id: string
  created_at: Date
  /** Read for `url` only: no other delivery carries it. */
  sender: unknown
  from: string
  subject: string | null
  /** What the agent was called when it happened. */
  agent_name: string
  /**
   * Null when there is no job: for a `url` event that is not for this webhook, or for a webhook that was added
   * at that moment.
   */
  state: JobState | null
  attempts: number
  payload: Buffer | null
  /** When a replay requested it. */
  asked_at: Date | null
}

/**
 * What a read found for one lane. `lastId` is the log's end in the same snapshot: there is nothing else up to
 * it.
 */
export interface Read {
  lastId: number
  /** Up to which events are no longer kept. */
  horizon: number
  jobs: PendingDelivery[]
}

type ReadRow = { lane: string; last_id: number; horizon: number } & (PendingDelivery | { seq: null })

/** The log leads and the job follows: a lane must not skip an event because its job is missing. */
const READ = {
  name: 'lanes read ahead',
  text: `
    select w.lane, l.last_id, l.horizon, n.*
      from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::int[]) with ordinality as w(lane, agent_id, after, most, ord)
      join event_log l on l.agent_id = w.agent_id
      join agent a on a.id = w.agent_id
      left join lateral (
        select e.id as seq, e.type, e.channel, e.message_id, e.created_at, case when e.channel = 'url' then e.sender end as sender,
               e."from", e.subject, coalesce(e.agent_name, a.name) as agent_name, j.state, coalesce(j.attempts, 0) as attempts, j.payload, j.asked_at
          from event e left join job j on j.agent_id = w.agent_id and j.lane = w.lane and j.seq = e.id
         where e.agent_id = w.agent_id and e.id > w.after
         order by e.id limit w.most
      ) n on true
     order by w.ord, n.seq`,
}

/** The next events of many lanes. A lane that is missing from the result was deleted with its agent. */
export const readAhead = async (
  { pool }: Db,
  requests: readonly ReadRequest[],
): Promise<Map<string, Read>> => {
  const { rows } = await pool.query<ReadRow>({
    ...READ,
    values: [
      requests.map((r) => r.lane),
      requests.map((r) => r.agentId),
      requests.map((r) => r.after),
      requests.map((r) => r.limit),
    ],
  })
  const reads = new Map<string, Read>()
  for (const row of rows) {
    const read = reads.get(row.lane) ?? { lastId: row.last_id, horizon: row.horizon, jobs: [] }
    if (row.seq !== null) read.jobs.push(row)
    reads.set(row.lane, read)
  }
  return reads
}

/**
 * Makes up for jobs that are missing (see `PendingDelivery.state`), so that their deliveries have a record.
 */
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
