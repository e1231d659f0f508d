import { invalidInput } from '../../core/errors.ts'
import type { Db, RootDb } from '../../db/client.ts'
import { deleteInBatches } from '../../db/delete-in-batches.ts'
import { Refusal } from '../../db/generated/prisma/enums.ts'
import { SKIP_LOCKED, sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'

/** What is counted per day, as statements name it (see `countArrivals` and `countForDay`). */
const METRICS = {
  received: 'received',
  sent: 'sent',
  failed: 'failed',
  bounced: 'bounced',
  reported: 'reported',
  deliveriesAccepted: 'delivery_accepted',
  deliveriesFailed: 'delivery_failed',
} as const

/** The metrics of outgoing messages, of their recipients, and of attempts to deliver to webhooks. */
export const { sent: SENT, failed: FAILED, bounced: BOUNCED, reported: REPORTED } = METRICS
export const { deliveriesAccepted: DELIVERY_ACCEPTED, deliveriesFailed: DELIVERY_FAILED } = METRICS
export type Metric = (typeof METRICS)[keyof typeof METRICS]

/** What happened on one day (UTC). */
export interface DayCounts extends Record<keyof typeof METRICS, number> {
  /** `YYYY-MM-DD` */
  day: string
  refused: number
  /** Why messages were refused; only reasons that occurred. */
  refusals: { reason: Refusal; count: number }[]
}

/** The first and the last day of a range, as `YYYY-MM-DD`; the last 30 days by default. */
export interface DayRange {
  from?: string | null | undefined
  to?: string | null | undefined
}

const DAY_MS = 24 * 3_600_000
const KEPT_DAYS = 400
const DEFAULT_DAYS = 30

const dayOf = (time: Date): string => time.toISOString().slice(0, 10)

const readDay = (field: string, value: string): Date => {
  const time = /^(?!0)\d{4}-\d\d-\d\d$/.test(value) ? new Date(`${value}T00:00:00Z`) : null
  if (time === null || Number.isNaN(time.getTime()) || dayOf(time) !== value)
    throw invalidInput(field, 'must be a date as YYYY-MM-DD')
  return time
}

/** Returns every day of the range. Throws `invalid_input` for what is not a day, or not a range. */
export const daysIn = ({ from, to }: DayRange, now: Date): string[] => {
  const last = readDay('to', to ?? dayOf(now))
  const first = from != null ? readDay('from', from) : new Date(last.getTime() - (DEFAULT_DAYS - 1) * DAY_MS)
  const count = Math.round((last.getTime() - first.getTime()) / DAY_MS) + 1
  if (count < 1) throw invalidInput('from', 'must not be after `to`')
  if (count > KEPT_DAYS) throw invalidInput('from', `must be less than ${KEPT_DAYS} days before \`to\``)
  return Array.from({ length: count }, (_, n) => dayOf(new Date(first.getTime() + n * DAY_MS)))
}

/** The kept rows and the changes that are not added yet. $1 workspace, $2 agent or null, $3 and $4 days. */
const readFrom = (kept: string, changed: string) => `
    select day::text, metric, sum(count)::int as count from (
      select day, metric, count from ${kept} and day between $3::date and $4::date
      union all
      select day, metric, count from usage_change
       where workspace_id = $1::uuid and ${changed} and metric is not null and day between $3::date and $4::date
    ) c group by day, metric`
const OF_AGENT = {
  name: 'counts of an agent',
  text: readFrom('agent_day where agent_id = $2::uuid', 'agent_id = $2::uuid'),
}
const OF_WORKSPACE = {
  name: 'counts of a workspace',
  text: readFrom('workspace_day where workspace_id = $1::uuid', '$2::uuid is null'),
}

interface Row {
  day: string
  metric: string
  count: number
}

const toCounts = (day: string, rows: readonly Row[]): DayCounts => {
  const of = (metric: string) => rows.find((row) => row.metric === metric)?.count ?? 0
  const metrics = Object.entries(METRICS).map(([name, metric]) => [name, of(metric)])
  const refusals = Object.values(Refusal)
    .map((reason) => ({ reason, count: of(`refused_${reason}`) }))
    .filter(({ count }) => count > 0)
  const refused = refusals.reduce((sum, { count }) => sum + count, 0)
  return { day, ...(Object.fromEntries(metrics) as Record<keyof typeof METRICS, number>), refused, refusals }
}

/** Returns what happened on each of these days, to one agent or to all agents of the workspace. */
export const readDayCounts = async (
  { pool }: Pick<Db, 'pool'>,
  { workspaceId, agentId }: { workspaceId: string; agentId: string | null },
  days: readonly string[],
): Promise<DayCounts[]> => {
  const values = [workspaceId, agentId, days[0], days.at(-1)]
  const { rows } = await pool.query<Row>({ ...(agentId === null ? OF_WORKSPACE : OF_AGENT), values })
  const byDay = new Map<string, Row[]>()
  for (const row of rows) byDay.set(row.day, [...(byDay.get(row.day) ?? []), row])
  return days.map((day) => toCounts(day, byDay.get(day) ?? []))
}

const DELETE_OLD_OF_AGENTS = composedOf(sql`
  with old as materialized (
    select agent_id, day, metric from agent_day where day < $1 order by day limit $2 ${SKIP_LOCKED}
  ),
  gone as (
    delete from agent_day d using old
     where d.agent_id = old.agent_id and d.day = old.day and d.metric = old.metric returning 1
  )
  select count(*)::int as count from gone`)

const DELETE_OLD_OF_WORKSPACES = `
  with old as materialized (
    select workspace_id, day, metric from workspace_day where day < $1 order by day limit $2 for update skip locked
  ),
  gone as (
    delete from workspace_day d using old
     where d.workspace_id = old.workspace_id and d.day = old.day and d.metric = old.metric returning 1
  )
  select count(*)::int as count from gone`

/** Deletes counts older than 400 days, in small batches. Idempotent; any process may call it at any time. */
export const pruneDayCounts = async (db: RootDb, now: Date, signal?: AbortSignal): Promise<number> => {
  const before = new Date(now.getTime() - KEPT_DAYS * DAY_MS)
  return (
    (await deleteInBatches(db, DELETE_OLD_OF_AGENTS, before, signal)) +
    (await deleteInBatches(db, DELETE_OLD_OF_WORKSPACES, before, signal))
  )
}
