import type { Db } from '../db/client.ts'
import type { Channel, JobState } from '../db/generated/prisma/enums.ts'

/**
 * A webhook's jobs as its lane sees them: the agent's events after the lane's position, in order. Many lanes share one statement.
 */

/** A lane that wants its next jobs. */
export interface Want {
  lane: string
  agentId: string
  /** The last event that it has. */
  after: number
  most: number
}

/** One event with the state of its job. */
export interface Ahead {
  seq: number
  channel: Channel
  message_id: string
  created_at: Date
  /** Read for `url` only: no other delivery carries it. */
  sender: unknown
  from: string
  subject: string | null
  /** What the agent was called when it happened. */
  agent_name: string
  /** Null when there is no job: of a `url` event that the webhook did not hear, or of a webhook added in that very moment. */
  state: JobState | null
  attempts: number
  payload: Buffer | null
  /** When a replay asked for it. */
  asked_at: Date | null
}

/** What a read found for one lane. `lastId` is the log's end in the same snapshot: there is nothing else up to it. */
export interface Read {
  lastId: number
  jobs: Ahead[]
}

type ReadRow = { lane: string; last_id: number } & (Ahead | { seq: null })

/** The log leads and the job follows: a lane must not skip an event because its job is missing. */
const READ = {
  name: 'lanes read ahead',
  text: `
    select w.lane, l.last_id, n.*
      from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::int[]) with ordinality as w(lane, agent_id, after, most, ord)
      join event_log l on l.agent_id = w.agent_id
      join agent a on a.id = w.agent_id
      left join lateral (
        select e.id as seq, e.channel, e.message_id, e.created_at, case when e.channel = 'url' then e.sender end as sender,
               e."from", e.subject, coalesce(e.agent_name, a.name) as agent_name, j.state, coalesce(j.attempts, 0) as attempts, j.payload, j.asked_at
          from event e left join job j on j.lane = w.lane and j.seq = e.id
         where e.agent_id = w.agent_id and e.id > w.after
         order by e.id limit w.most
      ) n on true
     order by w.ord, n.seq`,
}

/** The next jobs of many lanes. A lane that is missing in the answer lost its agent. */
export const readAhead = async ({ pool }: Db, wants: readonly Want[]): Promise<Map<string, Read>> => {
  const { rows } = await pool.query<ReadRow>({
    ...READ,
    values: [wants.map((w) => w.lane), wants.map((w) => w.agentId), wants.map((w) => w.after), wants.map((w) => w.most)],
  })
  const reads = new Map<string, Read>()
  for (const row of rows) {
    const read = reads.get(row.lane) ?? { lastId: row.last_id, jobs: [] }
    if (row.seq !== null) read.jobs.push(row)
    reads.set(row.lane, read)
  }
  return reads
}

/** Makes up for jobs that are missing (see `Ahead.state`), so that their deliveries have a record. */
export const addJobs = async ({ pool }: Db, jobs: readonly { lane: string; agentId: string; seq: number; createdAt: Date }[]) => {
  await pool.query(
    `insert into job (id, kind, agent_id, lane, seq, created_at)
     select gen_random_uuid(), 'webhook', agent_id, lane, seq, created_at
       from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::timestamptz[]) as n(lane, agent_id, seq, created_at)
     on conflict do nothing`,
    [jobs.map((j) => j.lane), jobs.map((j) => j.agentId), jobs.map((j) => j.seq), jobs.map((j) => j.createdAt)],
  )
}

/** Where a lane stands now; written over what the webhook's row says. */
export interface Progress {
  lane: string
  position: number
  /** How often the event after `position` failed, with what, and when it is due again. */
  attempts: number
  error: string | null
  retryAt: Date | null
  /** Null leaves it as it was. */
  lastDeliveredAt: Date | null
  /** Gives the lease back. */
  release: boolean
  /** The lane's, when the work began: with another one the position was set back meanwhile, and nothing of this counts. */
  revision: number
  /** How many of the deliveries that were asked for are done with. */
  answered: number
  /** When it failed; the first time counts until it recovers. */
  failedAt?: Date
  /** When an event was given up for it. */
  givenUpAt?: Date
  /** It takes events again: what was wrong with it is over. */
  recovered?: true
}

/** What writing a lane's progress came to: written; for nothing, because the position was set back; or the lane is no longer the owner's. */
export type Fate = 'mine' | 'rewound' | 'lost'

/** What became of one job in one attempt. */
export interface Settled {
  lane: string
  seq: number
  state: JobState
  /** How often it was tried by now. */
  attempts: number
  /** What the log of its attempts gets; null when there was none (given up unattempted). */
  entry: { at: Date; status?: number; error?: string; ms: number } | null
}

/**
 * $1 progress, $2 settled jobs, both as JSON (one parameter parses faster than eight arrays), $3 the owner, $4 the lease in ms.
 * Only the lease's owner moves a lane; saying the same twice changes nothing, so it may be said again after a lost answer.
 */
const SETTLE = {
  name: 'lanes settle',
  text: `
    with p as materialized (
      select * from json_to_recordset($1::json) as p(lane uuid, position bigint, attempts int, error text, "retryAt" timestamptz,
                                                     "lastDeliveredAt" timestamptz, release boolean, revision int, answered int,
                                                     "failedAt" timestamptz, "givenUpAt" timestamptz, recovered boolean)
    ),
    mine as (
      update webhook w
         set position = greatest(w.position, p.position), attempts = p.attempts, error = p.error, retry_at = p."retryAt",
             last_delivered_at = coalesce(p."lastDeliveredAt", w.last_delivered_at), answered = greatest(w.answered, p.answered),
             failing_since = coalesce(case when p.recovered then null else w.failing_since end, p."failedAt"),
             given_up_at = coalesce(case when p.recovered then null else w.given_up_at end, p."givenUpAt"),
             owner_told_at = case when p.recovered then null else w.owner_told_at end,
             lease_owner = case when p.release then null else w.lease_owner end,
             lease_until = case when p.release then null else now() + $4 * interval '1 ms' end
        from p
       where w.id = p.lane and w.lease_owner = $3 and w.revision = p.revision
      returning w.id
    ),
    rewound as (
      update webhook w
         set lease_owner = case when p.release then null else w.lease_owner end,
             lease_until = case when p.release then null else w.lease_until end
        from p
       where w.id = p.lane and w.lease_owner = $3 and w.revision <> p.revision
      returning w.id
    ),
    done as (
      update job j
         set state = s.state, attempts = s.attempts, log = case when s.entry is null then j.log else j.log || s.entry end,
             payload = case when s.state = 'pending' then j.payload end
        from json_to_recordset($2::json) as s(lane uuid, seq bigint, state "JobState", attempts int, entry jsonb)
        join mine on mine.id = s.lane
       where j.lane = s.lane and j.seq = s.seq and j.state = 'pending' and (s.state <> 'pending' or j.attempts < s.attempts)
    )
    select id, 'mine' as fate from mine union all select id, 'rewound' from rewound`,
}

/** Writes the progress of many lanes; returns what became of each; those that are missing are lost. */
export const settle = async (
  { pool }: Db,
  owner: string,
  leaseMs: number,
  progress: readonly Progress[],
  jobs: readonly Settled[],
): Promise<Map<string, Fate>> => {
  const { rows } = await pool.query<{ id: string; fate: Fate }>({
    ...SETTLE,
    values: [JSON.stringify(progress), JSON.stringify(jobs), owner, leaseMs],
  })
  return new Map(rows.map(({ id, fate }) => [id, fate]))
}

/** Deletes all jobs of lanes that are gone. */
export const DELETE_LANE_JOBS = 'delete from job where lane = $1'
