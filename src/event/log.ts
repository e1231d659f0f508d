import { type Page, pageOf } from '../core/cursor.ts'
import type { Db, RootDb } from '../db/client.ts'
import { deleteInBatches, deleteOfAgent } from '../db/delete-in-batches.ts'
import { type Rows, raw, SKIP_LOCKED, type Sql, sql } from '../db/sql/sql.ts'
import { composedOf, statement } from '../db/sql/statement.ts'
import { EVENT_NAMES, type EventDetail, type EventType, type LoggedEvent } from './event.ts'

/** The part of a statement that creates the logs of the agents that it has made. */
export const createEventLogs = (made: Rows<'id'>): Sql => sql`
    logs as (
      insert into event_log (agent_id) select id from ${made}
    )`

export interface EventRow {
  agent_id: string
  id: number
  type: EventType
  channel: LoggedEvent['channel']
  message_id: string
  created_at: Date
  sender: LoggedEvent['sender']
  from: string
  subject: string | null
  /** Null for types that have none. */
  detail: EventDetail | null
}

export const toEvent = (row: EventRow): LoggedEvent => {
  const event = {
    agentId: row.agent_id,
    id: row.id,
    type: row.type,
    channel: row.channel,
    messageId: row.message_id,
    createdAt: row.created_at,
    sender: row.sender,
    from: row.from,
    subject: row.subject,
    ...row.detail,
  }
  return event as LoggedEvent
}

const COLUMNS = raw('agent_id, id, type, channel, message_id, created_at, sender, "from", subject, detail')

/** Returns the agent's events with an id above `after`, in order. */
export const readEvents = async (
  { pool }: Db,
  agentId: string,
  after: number,
  limit: number,
): Promise<LoggedEvent[]> => {
  const { rows } = await pool.query<EventRow>({
    name: 'events after',
    ...composedOf(sql`select ${COLUMNS} from event where agent_id = $1 and id > $2 order by id limit $3`),
    values: [agentId, after, limit],
  })
  return rows.map(toEvent)
}

/** A reader's position in an agent's log: after the event with this id. */
export interface LogPosition {
  agentId: string
  after: number
}

/** A log after a position. */
export interface LogRead {
  /** Newest id. */
  lastId: number
  /** Events up to this id are no longer stored. */
  horizon: number
  /** The next events, in order. */
  events: LoggedEvent[]
  /** Whether there may be more than these. */
  more: boolean
}

interface LogsAsked {
  agents: readonly string[]
  after: readonly number[]
  limit: number
}

const LOGS = statement<LogsAsked>(
  'event logs',
  ({ agents, after, limit }) => sql`
    select p.ord::int, coalesce(l.last_id, 0) as last_id, coalesce(l.horizon, 0) as horizon, e.*
      from unnest(${agents}::uuid[], ${after}::bigint[]) with ordinality as p(log, after, ord)
      left join event_log l on l.agent_id = p.log
      left join lateral (
        select ${COLUMNS} from event where agent_id = p.log and id > p.after order by id limit ${limit}
      ) e on true
     order by p.ord, e.id`,
)

type LogRow = { ord: number; last_id: number; horizon: number } & (EventRow | { id: null })

/** Reads many logs with one statement, at most `limit` events of each. */
export const readLogs = async (
  { pool }: Db,
  positions: readonly LogPosition[],
  limit: number,
): Promise<LogRead[]> => {
  const agents = positions.map(({ agentId }) => agentId)
  const after = positions.map((position) => position.after)
  const { rows } = await pool.query<LogRow>(LOGS({ agents, after, limit }))
  const reads = positions.map((): LogRead => ({ lastId: 0, horizon: 0, events: [], more: false }))
  for (const row of rows) {
    const read = reads[row.ord - 1]!
    Object.assign(read, { lastId: row.last_id, horizon: row.horizon })
    if (row.id !== null && read.events.length < limit) read.events.push(toEvent(row))
  }
  for (const read of reads) read.more = read.events.length === limit
  return reads
}

const PAGES = {
  name: 'event pages',
  ...composedOf(sql`select e.* from unnest($1::uuid[]) as a(id) cross join lateral (
           select ${COLUMNS} from event where agent_id = a.id and id > $2 and type = any($4::text[]) order by id limit $3
         ) e`),
}

export interface EventPageRequest {
  limit: number
  after: number
  /** Left out: all types that this version of the service knows. */
  types?: readonly EventType[] | undefined
}

/** Returns an event's cursor in its agent's log. */
export const eventCursor = ({ id }: LoggedEvent): string => String(id)

/** Returns the next events of each of these agents, in order, with one statement for all of them. */
export const readEventPages = async (
  { pool }: Db,
  agentIds: readonly string[],
  { limit, after, types = EVENT_NAMES }: EventPageRequest,
): Promise<Page<LoggedEvent>[]> => {
  const { rows } = await pool.query<EventRow>({ ...PAGES, values: [agentIds, after, limit + 1, types] })
  const lists = new Map(agentIds.map((agentId) => [agentId, [] as LoggedEvent[]]))
  for (const row of rows) lists.get(row.agent_id)?.push(toEvent(row))
  return agentIds.map((agentId) => pageOf(lists.get(agentId) ?? [], limit, eventCursor))
}

/** Returns the newest id of the agent's log, and the id up to which events are no longer stored. */
export const readHead = async (
  { pool }: Db,
  agentId: string,
): Promise<{ lastId: number; horizon: number }> => {
  const { rows } = await pool.query<{ last_id: number; horizon: number }>({
    name: 'event log head',
    text: 'select last_id, horizon from event_log where agent_id = $1',
    values: [agentId],
  })
  return { lastId: rows[0]?.last_id ?? 0, horizon: rows[0]?.horizon ?? 0 }
}

/** Returns the position after the agent's events up to `after` and those that happened before `since`. */
export const readPlaceOf = async (
  { pool }: Db,
  agentId: string,
  after: number,
  since: Date,
): Promise<number> => {
  const { rows } = await pool.query<{ id: number | null }>({
    name: 'event log place',
    text: 'select max(id) as id from event where agent_id = $1 and id > $2 and created_at < $3',
    values: [agentId, after, since],
  })
  return rows[0]?.id ?? after
}

/** Returns the sum of the newest ids of these agents' logs, which grows when one of them does. */
export const sumOfEnds = async ({ pool }: Db, agentIds: Buffer): Promise<number> => {
  const { rows } = await pool.query<{ sum: string }>({
    name: 'sum of log ends',
    text: 'select coalesce(sum(last_id), 0) as sum from event_log where agent_id = any($1::uuid[])',
    values: [agentIds],
  })
  return Number(rows[0]!.sum)
}

/**
 * Returns those of the logs that have grown beyond these positions, with their newest ids: for the slow polls
 * that make up for lost notifications.
 */
export const readGrown = async (
  { pool }: Db,
  known: readonly LogPosition[],
): Promise<{ agentId: string; lastId: number }[]> => {
  const { rows } = await pool.query<{ agent_id: string; last_id: number }>({
    name: 'event logs grown',
    ...composedOf(sql`select l.agent_id, l.last_id from unnest($1::uuid[], $2::bigint[]) as known(agent_id, after)
             join event_log l on l.agent_id = known.agent_id and l.last_id > known.after`),
    values: [known.map(({ agentId }) => agentId), known.map(({ after }) => after)],
  })
  return rows.map((row) => ({ agentId: row.agent_id, lastId: row.last_id }))
}

/** Deletes the first $2 events of the agent $1. */
const DELETE_OF_AGENT = {
  name: 'delete events of an agent',
  text: `
    with gone as (
      delete from event where agent_id = $1 and id = any(array(
        select id from event where agent_id = $1 order by id limit $2 for update skip locked)) returning 1
    )
    select count(*)::int as count from gone`,
}

/** Deletes events of an agent that was deleted, with its log. Returns their number, at most `limit`. */
export const deleteEventsOf = (db: Pick<Db, 'pool'>, agentId: string, limit: number): Promise<number> =>
  deleteOfAgent(db, DELETE_OF_AGENT, agentId, limit)

/** Time for which an event is stored. @limit Streams */
const RETENTION_MS = 7 * 24 * 3_600_000

/**
 * The logs are locked in the order of their ids, as by those that append to them. Events that another process
 * is deleting are skipped.
 */
const DELETE_OLD = composedOf(sql`
  with old as materialized (
    select agent_id, id from event where created_at < $1 order by created_at limit $2 ${SKIP_LOCKED}
  ),
  gone as (
    delete from event e using old where e.agent_id = old.agent_id and e.id = old.id returning e.agent_id, e.id
  ),
  ends as (select agent_id, max(id) as id from gone group by agent_id),
  locked as materialized (
    select agent_id from event_log where agent_id = any(array(select agent_id from ends)) order by agent_id for update
  ),
  moved as (
    update event_log l set horizon = greatest(l.horizon, ends.id)
      from locked join ends using (agent_id) where l.agent_id = locked.agent_id
  )
  select count(*)::int as count from gone`)

/**
 * Deletes events older than the retention, in small batches, and moves the horizons up to them. Idempotent;
 * safe to run in any process at any time. Returns the number of events.
 */
export const pruneEvents = (db: RootDb, now: Date, signal?: AbortSignal): Promise<number> =>
  deleteInBatches(db, DELETE_OLD, new Date(now.getTime() - RETENTION_MS), signal)
