import type { Db } from '../../../db/client.ts'
import type { WebhookKind } from '../../../db/generated/prisma/enums.ts'
import { define, raw, rows, type Sql, sql } from '../../../db/sql/sql.ts'
import { composedOf } from '../../../db/sql/statement.ts'
import { isMoving } from '../../../workspace/index.ts'
import type { FormatRow } from '../../format/format.ts'
import { EVENT, FIRST_READ, type PendingDelivery, type Read } from './read-ahead.ts'

/** A lane that was just leased, with all data that the worker needs. */
export interface LeasedLane extends FormatRow {
  agent_id: string
  url: string
  secret: Buffer
  previous_secret: Buffer | null
  previous_until: Date | null
  position: number
  attempts: number
  error: string | null
  retry_at: Date | null
  failing_since: Date | null
  revision: number
  /** When the webhook was added. */
  added_at: Date
  asked: number
  answered: number
  kind: WebhookKind
  types: string[]
  channels: string[]
  subscription: string | null
  token_id: string | null
  expires_at: Date | null
  format: number
  /** Id of the agent's newest event. */
  last_id: number
  /** Number of webhooks of the agent. */
  siblings: number
  /** Its first events, at most `FIRST_READ`, where the statement read them too. */
  read?: Read
}

/** The primary key of a lane. */
interface LaneKey {
  id: string
  agentId: string
}

export interface Lease {
  owner: string
  /** Duration without renewal, on the database's clock, so that the workers' clocks need not agree. */
  ms: number
}

/**
 * `due_at` is on the schedule's clock after a failure, and on the database's clock for the end of a lease, so
 * it is compared with the later of the two.
 */
export const DUE_BY = raw('greatest($3::timestamptz, now())')
const MARKED = sql`w.due_at <= ${DUE_BY}`

/**
 * Condition for a free lane to look at now: it has an event, or is marked, and awaits no retry; or it has a
 * manual delivery; and its workspace stays. A lane that was marked without a reason is released again, which removes the mark.
 */
export const DUE = sql`
  ((w.position < l.last_id or ${MARKED}) and (w.retry_at is null or w.retry_at <= $3) or w.answered < w.asked)
  and (w.lease_until is null or w.lease_until < now()) and (w.expires_at is null or w.expires_at > $3) and w.paused_at is null
  and not ${raw(isMoving('w.workspace_id'))}`

/** The number of webhooks of the agent of a row. */
const siblingsOf = (row: 'l' | 'w'): Sql =>
  sql`(select count(*)::int from webhook s where s.agent_id = ${raw(row)}.agent_id) as siblings`

export const PICKED = rows('picked', 'id')
const LEASED = rows('leased', 'id', 'agent_id', 'position', 'found')

/**
 * Leases the lanes in `PICKED` that are still free, and skips those that another worker is leasing at
 * the moment. A new owner increases the revision: a worker that was suspended for longer than its lease may
 * still have the lane in memory in an outdated state.
 */
export const LEASE = sql`
  free as materialized (
    select w.id, w.agent_id, w.revision from webhook w join event_log l on l.agent_id = w.agent_id
     where w.id in (select id from ${PICKED}) and ${DUE}
       for update of w skip locked
  ),
  ${define(LEASED)} as (
    update webhook w
       set lease_owner = $1, lease_until = now() + $2 * interval '1 ms', due_at = now() + $2 * interval '1 ms',
           revision = w.revision + (w.lease_owner is distinct from $1)::int
      from free
     where w.id = free.id and w.agent_id = free.agent_id and (w.lease_until is null or w.lease_until < now())
       and (w.expires_at is null or w.expires_at > $3) and w.paused_at is null
    returning w.id, w.workspace_id, w.agent_id, w.url, w.secret, w.previous_secret, w.previous_until, w.position, w.attempts, w.error,
              w.retry_at, w.failing_since, w.revision, w.created_at as added_at, w.asked, w.answered, w.kind, w.types, w.channels::text[] as channels, w.subscription,
              w.token_id, w.expires_at, w.headers, w.body, w.format, free.revision as found
  )`

export const LANES = sql`
  select leased.*, l.last_id,
         ${siblingsOf('l')}
    from ${LEASED} join event_log l on l.agent_id = leased.agent_id`

/**
 * The same with their first events, a row for each (docs/decisions.md#lease-with-events). `is_current` is false where
 * a replay was committed between the statement's snapshot and its lock, so that it saw jobs from before the replay.
 */
const LANES_WITH_EVENTS = sql`
  select leased.*, l.last_id, ${siblingsOf('l')}, l.horizon, p.revision = leased.found as is_current, n.*
    from ${LEASED} join ${PICKED} p using (id) join event_log l on l.agent_id = leased.agent_id
    left join lateral (
      select ${EVENT}
        from event e join agent a on a.id = e.agent_id
        left join job j on j.agent_id = e.agent_id and j.lane = leased.id and j.seq = e.id and j.seq > leased.position
       where e.agent_id = leased.agent_id and e.id > leased.position
       order by e.id limit ${FIRST_READ}
    ) n on true
   order by leased.id, n.seq`

const PICKED_OF_AGENTS = sql`${define(PICKED)} as (
      select w.id, w.revision from webhook w join event_log l on l.agent_id = w.agent_id where w.agent_id = any($4::uuid[]) and ${DUE} limit $5
    )`

const OF_AGENTS = {
  name: 'lanes of agents',
  ...composedOf(sql`with ${PICKED_OF_AGENTS}, ${LEASE} ${LANES}`),
}

const OF_AGENTS_WITH_EVENTS = {
  name: 'lanes of agents with events',
  ...composedOf(sql`with ${PICKED_OF_AGENTS}, ${LEASE} ${LANES_WITH_EVENTS}`),
}

export interface LeaseRequest {
  lease: Lease
  /** The time on the schedule's clock, which determines which retries are due. */
  now: Date
}

type LeasedRow = LeasedLane & { horizon: number; is_current?: boolean } & (PendingDelivery | { seq: null })

/** Returns each lane once, with the events of its rows. */
const withEvents = (rows: readonly LeasedRow[]): LeasedLane[] => {
  const lanes = new Map<string, LeasedLane>()
  for (const row of rows) {
    const lane = lanes.get(row.id) ?? row
    lanes.set(row.id, lane)
    if (!row.is_current) continue
    lane.read ??= { lastId: row.last_id, horizon: row.horizon, jobs: [] }
    if (row.seq !== null) lane.read.jobs.push(row)
  }
  return [...lanes.values()]
}

interface AgentsRequest extends LeaseRequest {
  agentIds: readonly string[]
  limit: number
  /** Whether to read the lanes' first events too. */
  events: boolean
}

/** Leases at most `limit` lanes of these agents that have something to do now. */
export const leaseOfAgents = async (
  { pool }: Db,
  { lease, now, agentIds, limit, events }: AgentsRequest,
): Promise<LeasedLane[]> => {
  const values = [lease.owner, lease.ms, now, agentIds, limit]
  const statement = events ? OF_AGENTS_WITH_EVENTS : OF_AGENTS
  const { rows } = await pool.query<LeasedRow>({ ...statement, values })
  return withEvents(rows)
}

const RENEW = {
  name: 'lanes renew',
  ...composedOf(sql`
      with lane as materialized (select * from unnest($3::uuid[], $4::uuid[]) as lane(id, agent_id)),
      free as materialized (
        select w.id, w.agent_id from lane join webhook w using (id, agent_id) where w.lease_owner = $1 for update of w skip locked
      ),
      renewed as (
        update webhook w set lease_until = now() + $2 * interval '1 ms', due_at = now() + $2 * interval '1 ms'
          from free where w.id = free.id and w.agent_id = free.agent_id and w.lease_owner = $1
        returning w.id
      )
      select w.id, r.id is not null as renewed, w.secret, w.revision, w.format, w.asked,
             ${siblingsOf('w')}
        from lane join webhook w using (id, agent_id) left join renewed r on r.id = w.id
       where w.lease_owner = $1`),
}

/**
 * Renews leases; returns the lanes that the owner still holds. Rows that another statement has locked are not
 * renewed (`renewed` is false): writing progress renews the lease too, and two statements that wait for each
 * other's rows would deadlock.
 */
export const renewLeases = async (
  { pool }: Db,
  lease: Lease,
  lanes: readonly LaneKey[],
): Promise<Map<string, Renewed>> => {
  const { rows } = await pool.query<{ id: string } & Renewed>({
    ...RENEW,
    values: [lease.owner, lease.ms, lanes.map(({ id }) => id), lanes.map(({ agentId }) => agentId)],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** Columns that may have changed since the lane was leased. */
export type Renewed = Pick<LeasedLane, 'secret' | 'revision' | 'format' | 'asked' | 'siblings'> & {
  renewed: boolean
}

/** When a lane `w` that is released becomes due, with its log `l` and the time `t`. */
const DUE_AFTER_RELEASE = `
  case when w.paused_at is not null then null when w.answered < w.asked then t.now when w.retry_at is not null then w.retry_at when w.position < l.last_id then t.now end`

/** Releases all leases of this owner. */
export const releaseAll = async ({ pool }: Db, owner: string): Promise<void> => {
  await pool.query(
    `update webhook w set lease_owner = null, lease_until = null, due_at = ${DUE_AFTER_RELEASE}
       from event_log l, (select now() as now) t where l.agent_id = w.agent_id and w.lease_owner = $1`,
    [owner],
  )
}
