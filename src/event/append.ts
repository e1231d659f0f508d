import { amongAgents, dialect } from '../db/dialect.ts'
import { type LoggedEvent, MESSAGE_RECEIVED } from './event.ts'
import { type EventRow, toEvent } from './log.ts'

/** Whether the settings of an agent `g` name a type. */
export const IS_LOGGED = (type: string): string => `${type} = any(g.event_types)`

/** Whether an agent `g` logs more than its new messages. */
export const LOGS_MORE = `g.event_types <> '{${MESSAGE_RECEIVED}}'`

/**
 * Citus cannot lock rows of several agents but by an update. Updates of two batches are in no certain order: it ends one
 * of two that wait for each other, and its caller tries again.
 */
const NEW_IDS = dialect(
  `
    locked_logs as materialized (
      select agent_id, last_id from event_log
       where agent_id = any(array(select agent_id from fresh)) order by agent_id for update
    ),
    appended as materialized (
      select f.*, l.last_id + row_number() over (partition by f.agent_id order by f.ord) as event_id
        from fresh f join locked_logs l using (agent_id)
    ),
    heads as (
      update event_log l set last_id = a.last_id
        from (select agent_id, max(event_id) as last_id from appended group by agent_id) a
       where l.agent_id = a.agent_id
    )`,
  `
    heads as (
      update event_log l set last_id = l.last_id + f.count from (select agent_id, count(*) as count from fresh group by agent_id) f
       where l.agent_id = f.agent_id${amongAgents('l.agent_id')} returning l.agent_id, l.last_id - f.count as last_id
    ),
    appended as materialized (
      select f.*, h.last_id + row_number() over (partition by f.agent_id order by f.ord) as event_id from fresh f join heads h using (agent_id)
    )`,
)

/**
 * The part of a statement that appends to agents' logs. It continues a `with`: it reads `raised (id, agent_id,
 * ord, type, channel, subject, created_at, sender, "from", detail)`, one row for each event and its message, and
 * defines `appended`: those whose types the settings of their agents name, with `event_id` and `agent_name`, the
 * agent's current name.
 *
 * `locked_logs` locks the agents' logs in the order of their ids (so that two batches cannot deadlock) until the
 * commit: a waiting transaction then reads the newest id, which makes the order of ids the order of commits.
 * With an array the logs are found by their key; `in (select …)` would scan the logs of all agents.
 */
export const APPEND_EVENTS = `
    fresh as materialized (
      select r.*, g.name as agent_name from raised r join agent g on g.id = r.agent_id where ${IS_LOGGED('r.type')}
    ),${NEW_IDS},
    events as (
      insert into event (agent_id, id, type, channel, message_id, agent_name, sender, "from", subject, detail, created_at)
      select agent_id, event_id, type, channel, id, agent_name, sender, "from", subject, detail, created_at from appended
    )`

/** Columns of the events of `appended e`. */
export const APPENDED_COLUMNS =
  'e.agent_id, e.event_id as id, e.type, e.channel, e.id as message_id, e.created_at, e.sender, e."from", e.subject, e.detail, e.agent_name'

/** Selects the events of `appended`, in the order of their ids. */
export const SELECT_APPENDED = `
    select ${APPENDED_COLUMNS} from appended e order by e.agent_id, e.event_id`

/** All null where an outer join found no event. */
export type AppendedRow = (EventRow & { agent_name: string }) | { id: null }

/** Returns the events of rows with `APPENDED_COLUMNS`. */
export const toAppended = (rows: readonly AppendedRow[]): LoggedEvent[] =>
  rows.flatMap((row) => (row.id === null ? [] : [{ ...toEvent(row), agentName: row.agent_name }]))

/**
 * Locks the logs of those of `agents (agent_id)` that log more than arrivals, until the commit. Statements that
 * lock messages whose changes are logged do this first, because the deletion of an agent locks in this order too.
 */
export const lockLogs = (agents: string): string => {
  const ids = `any(array(select a.agent_id from ${agents} a join agent g on g.id = a.agent_id where ${LOGS_MORE}))`
  return dialect(
    `select agent_id from event_log where agent_id = ${ids} order by agent_id for update`,
    `update event_log set last_id = last_id where agent_id = ${ids}${amongAgents('agent_id')} returning agent_id`,
  )
}

/** Locks the logs of the agents $1 until the commit, in the order that all batches use. */
export const LOCK_ALL_LOGS = dialect(
  'select from event_log where agent_id = any($1::uuid[]) order by agent_id for update',
  'update event_log set last_id = last_id where agent_id = any($1::uuid[])',
)
