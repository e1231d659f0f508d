import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import { type Led, Routine } from '../../core/routine.ts'
import type { Db } from '../../db/client.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import { type Rows, raw, SKIP_LOCKED, type Sql, sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'

/**
 * What a workspace uses of its plan, kept instead of counted (docs/decisions.md#kept-usage). Each statement that
 * changes the usage also inserts a row with the change, so that the numbers are exact and no writer waits for
 * another. A worker adds the changes to the workspace's totals.
 */

/** The day (UTC) of a time. */
const dayOf = (time: string): Sql => raw(`(${time} at time zone 'UTC')::date`)

type OfAgents = 'agent_id' | 'workspace_id'

/**
 * The part of a statement that counts the messages that it has stored. Imported ones take room, but the service has
 * not sent them.
 */
export const countMessages = (stored: Rows<OfAgents | 'status' | 'direction' | 'created_at'>): Sql => sql`
    counted as (
      insert into usage_change (id, agent_id, workspace_id, stored, sent, sent_at)
      select gen_random_uuid(), agent_id, workspace_id, count(*), count(s.at), s.at
        from ${stored}, lateral (select case when direction = 'outbound' and status <> 'imported' then date_trunc('minute', created_at) end as at) s
       where status <> 'refused' group by agent_id, workspace_id, s.at
    )`

/** The part of a statement that counts the inbound messages that it has stored, also for their day. */
export const countArrivals = (stored: Rows<OfAgents | 'status' | 'refusal' | 'created_at'>): Sql => sql`
    counted as (
      insert into usage_change (id, agent_id, workspace_id, stored, day, metric, count)
      select gen_random_uuid(), agent_id, workspace_id, count(*) filter (where status <> 'refused'), s.day, s.metric, count(*)
        from ${stored}, lateral (select ${dayOf('created_at')} as day,
                                        case when status = 'refused' then 'refused_' || refusal else 'received' end as metric) s
       group by agent_id, workspace_id, s.day, s.metric
    )`

/** The part of a statement that counts what happened for its day; nothing when the metric is null. */
export const countForDay = (happened: Rows<OfAgents | 'at' | 'metric'>): Sql => sql`
    counted as (
      insert into usage_change (id, agent_id, workspace_id, day, metric, count)
      select gen_random_uuid(), agent_id, workspace_id, day, metric, count(*)
        from ${happened}, lateral (select ${dayOf('at')} as day) d where metric is not null group by agent_id, workspace_id, day, metric
    )`

/**
 * Inserts counts of days that were gathered elsewhere; nothing for an id that is there, so that the statement may be
 * retried when its result was lost.
 */
const COUNT_FOR_DAYS = {
  name: 'count for days',
  text: `insert into usage_change (id, agent_id, workspace_id, day, metric, count)
         select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::date[], $5::text[], $6::int[]) on conflict do nothing`,
}

/** How often something happened to an agent on a day (`YYYY-MM-DD`, UTC). */
export interface DayCount {
  id: string
  agentId: string
  workspaceId: string
  day: string
  metric: string
  count: number
}

export const countForDays = async ({ pool }: Pick<Db, 'pool'>, counts: readonly DayCount[]) => {
  const columns = ['id', 'agentId', 'workspaceId', 'day', 'metric', 'count'] as const
  await pool.query({
    ...COUNT_FOR_DAYS,
    values: columns.map((column) => counts.map((each) => each[column])),
  })
}

/** The part of a statement that subtracts the messages that it has deleted. */
export const uncountMessages = (gone: Rows<OfAgents | 'status'>): Sql => sql`
    uncounted as (
      insert into usage_change (id, agent_id, workspace_id, stored)
      select gen_random_uuid(), agent_id, workspace_id, -count(*)
        from ${gone} where status <> 'refused' group by agent_id, workspace_id
    )`

/** The part of a statement that counts the agents that it has made. */
export const countAgents = (made: Rows<'id' | 'workspace_id'>): Sql => sql`
    counted as (
      insert into usage_change (id, agent_id, workspace_id, agents) select gen_random_uuid(), id, workspace_id, 1 from ${made}
    )`

/** A change of what one agent makes its workspace use. */
export interface UsageChange {
  agentId: string
  workspaceId: string
  webhooks?: number
  /** Messages that count against the plan: refused ones do not. */
  stored?: number
  /** How often something happened on a day (UTC). */
  day?: Date
  metric?: string
  count?: number
}

/** Counts a change, in the transaction that makes it. */
export const changeUsage = async (
  tx: Pick<Prisma.TransactionClient, 'usageChange'>,
  change: UsageChange,
): Promise<void> => {
  await tx.usageChange.create({ data: change })
}

/**
 * Subtracts an agent and its webhooks, in the transaction that deletes it. Nobody may add to it meanwhile. Its
 * messages are subtracted as they are deleted.
 */
export const subtractAgent = async (tx: Prisma.TransactionClient, agentId: string): Promise<void> => {
  await tx.$executeRaw`
    insert into usage_change (id, agent_id, workspace_id, agents, webhooks)
    select gen_random_uuid(), a.id, a.workspace_id, -1, -w.count
      from agent a, (select count(*) from webhook where agent_id = ${agentId}::uuid and kind = 'webhook') w
     where a.id = ${agentId}::uuid`
}

/** A workspace's usage of the limits of its plan. */
export interface Usage {
  agents: number
  members: number
  ownDomains: number
  webhooks: number
  /** Messages sent in the last 24 hours, to the minute. */
  sendsPerDay: number
  /** Without refused messages, because strangers decide how many there are. */
  storedMessages: number
  phoneNumbers: number
}

/** The part of the usage that is kept. */
export type KeptUsage = Pick<Usage, 'agents' | 'webhooks' | 'sendsPerDay' | 'storedMessages'>

const DAY_MS = 24 * 3_600_000

const READ = {
  name: 'workspace usage',
  text: `
    select coalesce(sum(agents), 0)::int as agents, coalesce(sum(webhooks), 0)::int as webhooks,
           coalesce(sum(stored), 0)::bigint as "storedMessages",
           coalesce(sum(sent) filter (where minute > $2::timestamptz), 0)::int as "sendsPerDay"
      from (select agents, webhooks, stored, sent, minute from workspace_usage where workspace_id = $1::uuid
            union all
            select agents, webhooks, stored, sent, sent_at from usage_change where workspace_id = $1::uuid) u`,
}

/** Reads the part of the usage that is kept. Inside a transaction, it includes that transaction's changes. */
export const readKeptUsage = async (
  { pool, clock }: Pick<Db, 'pool'> & { clock: Clock },
  workspaceId: string,
): Promise<KeptUsage> => {
  const since = new Date(clock.now().getTime() - DAY_MS)
  since.setUTCSeconds(0, 0)
  const { rows } = await pool.query<KeptUsage & Record<string, unknown>>({
    ...READ,
    values: [workspaceId, since],
  })
  return rows[0]!
}

/** Returns the current usage. */
export const usageOf = async (deps: Db & { clock: Clock }, workspaceId: string): Promise<Usage> => {
  const where = { workspaceId }
  const [kept, members, ownDomains, phoneNumbers] = await Promise.all([
    readKeptUsage(deps, workspaceId),
    deps.prisma.member.count({ where }),
    deps.prisma.domain.count({ where }),
    deps.prisma.phoneNumber.count({ where }),
  ])
  return { ...kept, members, ownDomains, phoneNumbers }
}

/** Maximum number of changes added in one statement. */
const MAX = 5_000

/**
 * $1 the maximum number of changes, $2 the time from which the minutes of sent messages are kept. The rows of
 * the totals are locked in one order, because two workers would deadlock otherwise. Changes of a workspace
 * that no longer exists are dropped.
 */
const ADD_UP = {
  name: 'add up usage',
  ...composedOf(sql`
    with
    taken as (
      delete from usage_change
       where (workspace_id, id, agent_id) in (select workspace_id, id, agent_id from usage_change limit $1 ${SKIP_LOCKED})
      returning *
    ),
    totals as (
      insert into workspace_usage (workspace_id, minute, agents, webhooks, stored)
      select workspace_id, 'epoch'::timestamptz, sum(agents), sum(webhooks), sum(stored) from taken
       where workspace_id in (select id from workspace) group by workspace_id order by workspace_id
      on conflict (workspace_id, minute) do update
         set agents = workspace_usage.agents + excluded.agents, webhooks = workspace_usage.webhooks + excluded.webhooks,
             stored = workspace_usage.stored + excluded.stored
    ),
    minutes as (
      insert into workspace_usage (workspace_id, minute, sent)
      select workspace_id, sent_at, sum(sent) from taken
       where sent_at > $2::timestamptz and workspace_id in (select id from workspace) group by 1, 2 order by 1, 2
      on conflict (workspace_id, minute) do update set sent = workspace_usage.sent + excluded.sent
    ),
    agent_days as (
      insert into agent_day (agent_id, day, metric, count)
      select agent_id, day, metric, sum(count) from taken
       where metric is not null and agent_id in (select id from agent) group by 1, 2, 3 order by 1, 2, 3
      on conflict (agent_id, day, metric) do update set count = agent_day.count + excluded.count
    ),
    workspace_days as (
      insert into workspace_day (workspace_id, day, metric, count)
      select workspace_id, day, metric, sum(count) from taken
       where metric is not null and workspace_id in (select id from workspace) group by 1, 2, 3 order by 1, 2, 3
      on conflict (workspace_id, day, metric) do update set count = workspace_day.count + excluded.count
    ),
    old as (
      delete from workspace_usage
       where workspace_id = any(array(select distinct workspace_id from taken))
         and minute > 'epoch'::timestamptz and minute <= $2::timestamptz
    )
    select count(*)::int as count from taken`),
}

/** Adds changes to the totals. Returns their number, at most `limit`. */
export const addUpUsage = async (
  { pool, clock }: Pick<Db, 'pool'> & { clock: Clock },
  limit = MAX,
): Promise<number> => {
  const from = new Date(clock.now().getTime() - DAY_MS - 60_000)
  const { rows } = await pool.query<{ count: number }>({ ...ADD_UP, values: [limit, from] })
  return rows[0]!.count
}

/** A read adds up as many changes as are stored in this time. */
const EVERY_MS = 5_000

/** The worker that adds changes to the totals. Any number of processes may run one. */
export const createUsageCounter = (deps: Db & Led & { clock: Clock; log: Logger }): Routine =>
  new Routine(
    async (signal) => {
      while ((await addUpUsage(deps)) === MAX && !signal.aborted);
    },
    {
      ...{ clock: deps.clock, log: deps.log, isOurs: deps.isOurs, everyMs: EVERY_MS },
      failed: 'could not add up usage; retrying',
    },
  )
