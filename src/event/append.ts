import { define, type Rows, raw, rows, type Sql, sql } from '../db/sql/sql.ts'
import { type LoggedEvent, MESSAGE_RECEIVED, QUESTION_ANSWERED } from './event.ts'
import { type EventRow, toEvent } from './log.ts'

/** Whether an agent `g` logs a type: its settings name it, or the agent has asked for the event with a question. */
export const isLogged = (type: Sql): Sql =>
  sql`(${type} = any(g.event_types) or ${type} = '${raw(QUESTION_ANSWERED)}')`

/** Whether an agent `g` logs more than its new messages. */
export const LOGS_MORE: Sql = raw(`g.event_types <> '{${MESSAGE_RECEIVED}}'`)

/** Events to append, one for each row with its message. */
export const RAISED = rows(
  'raised',
  ...([
    'id',
    'agent_id',
    'ord',
    'type',
    'channel',
    'subject',
    'created_at',
    'sender',
    'from',
    'detail',
  ] as const),
)

/** Those that their agents log; `agent_name` is the agent's current name. */
export const APPENDED = rows(
  'appended',
  'id',
  'agent_id',
  'event_id',
  'type',
  'channel',
  'created_at',
  'agent_name',
)

const FRESH = rows('fresh', 'agent_id', 'ord')
const LOCKED = rows('locked_logs', 'agent_id', 'last_id')

const NEW_IDS = sql`
    ${define(LOCKED)} as materialized (
      select agent_id, last_id from event_log
       where agent_id = any(array(select agent_id from ${FRESH})) order by agent_id for update
    ),
    ${define(APPENDED)} as materialized (
      select f.*, l.last_id + row_number() over (partition by f.agent_id order by f.ord) as event_id
        from ${FRESH} f join ${LOCKED} l using (agent_id)
    ),
    heads as (
      update event_log l set last_id = a.last_id
        from (select agent_id, max(event_id) as last_id from ${APPENDED} group by agent_id) a
       where l.agent_id = a.agent_id
    )`

/**
 * The parts of a statement that append the events of `RAISED` to agents' logs, and define `APPENDED`.
 *
 * They lock the agents' logs in the order of their ids (so that two batches cannot deadlock) until the
 * commit: a waiting transaction then reads the newest id, which makes the order of ids the order of commits.
 * With an array the logs are found by their key; `in (select …)` would scan the logs of all agents.
 */
export const APPEND_EVENTS: Sql = sql`
    ${define(FRESH)} as materialized (
      select r.*, g.name as agent_name from ${RAISED} r join agent g on g.id = r.agent_id where ${isLogged(raw('r.type'))}
    ),${NEW_IDS},
    events as (
      insert into event (agent_id, id, type, channel, message_id, agent_name, sender, "from", subject, detail, created_at)
      select agent_id, event_id, type, channel, id, agent_name, sender, "from", subject, detail, created_at from ${APPENDED}
    )`

/** Columns of the events of `APPENDED`, as `e`. */
export const APPENDED_COLUMNS: Sql = raw(
  'e.agent_id, e.event_id as id, e.type, e.channel, e.id as message_id, e.created_at, e.sender, e."from", e.subject, e.detail, e.agent_name',
)

/** Selects the events of `APPENDED`, in the order of their ids. */
export const SELECT_APPENDED: Sql = sql`
    select ${APPENDED_COLUMNS} from ${APPENDED} e order by e.agent_id, e.event_id`

/** All null where an outer join found no event. */
export type AppendedRow = (EventRow & { agent_name: string }) | { id: null }

/** Returns the events of rows with `APPENDED_COLUMNS`. */
export const toAppended = (rows: readonly AppendedRow[]): LoggedEvent[] =>
  rows.flatMap((row) => (row.id === null ? [] : [{ ...toEvent(row), agentName: row.agent_name }]))

/**
 * Locks the logs of those of the agents that log more than arrivals, until the commit. Statements that
 * lock messages whose changes are logged do this first, because the deletion of an agent locks in this order too.
 */
export const lockLogs = (agents: Rows<'agent_id'>): Sql => {
  const ids = sql`array(select a.agent_id from ${agents} a join agent g on g.id = a.agent_id where ${LOGS_MORE})`
  return sql`select agent_id from event_log where agent_id = any(${ids}) order by agent_id for update`
}

/** Locks the logs of these agents until the commit, in the order that all batches use. */
export const lockAllLogs = (ids: Sql): Sql =>
  sql`select from event_log where agent_id = any(${ids}) order by agent_id for update`
