import type { Message, Prisma } from '../../db/generated/prisma/client.ts'
import { amongAgents, define, type Rows, raw, rows, rowsOf, type Sql, sql } from '../../db/sql/sql.ts'
import { type Statement, statement } from '../../db/sql/statement.ts'
import { within } from '../../db/transaction.ts'
import {
  APPEND_EVENTS,
  type AppendedRow,
  type LoggedEvent,
  lockLogs,
  MESSAGE_FAILED,
  MESSAGE_REPORTED,
  MESSAGE_SENT,
  SELECT_APPENDED,
  toAppended,
} from '../../event/index.ts'
import { enqueueWebhookJobs } from '../../webhook/index.ts'
import { countForDay, FAILED, noteChanges, SENT } from '../../workspace/index.ts'
import { raise } from './raise.ts'

/** Begins the `detail` of a recipient who complained about a message that others have got too. */
export const COMPLAINED = 'complained: '

/** Formats the failure reasons of recipients as the message's `error`. */
export const errorOf = (
  failed: readonly { recipient: string; reason: string }[],
  recipients: number,
): string =>
  failed.map(({ recipient, reason }) => (recipients === 1 ? reason : `${recipient}: ${reason}`)).join('; ')

type MessageKey = Pick<Message, 'id' | 'agentId'>

const LOGS = rows('logs', 'agent_id')
const LOCK = statement<MessageKey>(
  undefined,
  ({ id, agentId }) => sql`
  with ${define(LOGS)} as materialized (${lockLogs(rowsOf(sql`select ${agentId}::uuid as agent_id`))})
  select 1 from message where id = ${id}::uuid and agent_id = ${agentId}::uuid and (select count(*) from ${LOGS}) >= 0 for no key update`,
)

/**
 * Serializes updates of one message's recipients: otherwise two concurrent updates could each see the other's
 * recipient as still in progress.
 */
export const lockMessage = async (
  tx: Prisma.TransactionClient,
  { id, agentId }: MessageKey,
): Promise<void> => {
  await within(tx).pool.query(LOCK({ id, agentId }))
}

type Recipients = Rows<'message_id' | 'agent_id' | 'address' | 'status' | 'detail' | 'was' | 'at'>
export const CONCLUDED = rows('concluded', 'message_id', 'agent_id', 'was', 'at', 'status', 'error')
const MOVED = rows(
  'moved',
  ...([
    'id',
    'agent_id',
    'workspace_id',
    'address_id',
    'channel',
    'subject',
    'status',
    'error',
    'was',
    'at',
  ] as const),
)
const HAPPENED = rows('happened', 'agent_id', 'workspace_id', 'at', 'metric')

/**
 * The status and error of the messages of recipients: `failed` when one failed, with the reasons as `errorOf` formats
 * them; `sent` when all were sent; none while one is in progress. `was` is the message's status before, and `at` the
 * time of the change.
 */
export const conclusionsFrom = (recipients: Recipients): Sql => sql`
    select message_id, agent_id, was, at, case when bool_or(failed) then 'failed' else 'sent' end::"MessageStatus" as status,
           string_agg(case when n > 1 then address || ': ' else '' end || coalesce(detail, 'not delivered'), '; ' order by address)
             filter (where failed) as error
      from (select *, status = 'failed' as failed, count(*) over (partition by message_id, agent_id) as n from ${recipients}) r
     group by message_id, agent_id, was, at having not bool_or(status = 'sending')`

const TYPES = { sent: MESSAGE_SENT, failed: MESSAGE_FAILED, reported: MESSAGE_REPORTED }
const TYPE = raw(
  `case status ${Object.entries(TYPES)
    .map(([status, type]) => `when '${status}' then '${type}'`)
    .join(' ')} end`,
)

/** The parts of a statement that append the events of messages whose status has changed, with their webhook jobs. */
export const LOG_OUTCOMES: Sql = sql`${raise(
  rowsOf(sql`
      select *, ${TYPE} as type, case status when 'failed' then jsonb_build_object('error', error) end as detail
        from ${MOVED} where status is distinct from was`),
)},${APPEND_EVENTS},${enqueueWebhookJobs()}`

/**
 * The parts of a statement that update the messages of `CONCLUDED` and count them for their day. They never revert a
 * later status.
 */
export const CONCLUDE: Sql = sql`
    ${define(MOVED)} as (
      update message m set status = c.status, error = c.error from ${CONCLUDED} c
       where m.id = c.message_id and m.agent_id = c.agent_id
         and (m.status in ('sending', 'sent') or m.status = 'failed' and c.status = 'failed') ${amongAgents('m.agent_id')}
      returning m.id, m.agent_id, m.workspace_id, m.address_id, m.channel, m.subject, m.status, m.error, c.was, c.at
    ),
    ${define(HAPPENED)} as (
      select agent_id, workspace_id, at, status::text as metric
        from ${MOVED} where status is distinct from was and status in ('${raw(SENT)}', '${raw(FAILED)}')
    ),${countForDay(HAPPENED)},${noteChanges('message_changed', MOVED)}`

type Changed = MessageKey & { now: Date }

const CONCLUDE_MESSAGE = statement<Changed>(undefined, ({ id, agentId, now }) => {
  const recipients: Recipients = rowsOf(sql`
    select r.*, m.status as was, ${now}::timestamptz as at from recipient r join message m on m.id = r.message_id and m.agent_id = r.agent_id
     where r.message_id = ${id}::uuid and r.agent_id = ${agentId}::uuid`)
  return sql`with ${define(CONCLUDED)} as (${conclusionsFrom(recipients)}),${CONCLUDE},${LOG_OUTCOMES} ${SELECT_APPENDED}`
})

const LOG_OUTCOME = statement<Changed>(
  undefined,
  ({ id, agentId, now }) => sql`with
    ${define(MOVED)} as (
      select id, agent_id, workspace_id, address_id, channel, subject, status, error, null::"MessageStatus" as was, ${now}::timestamptz as at
        from message where id = ${id}::uuid and agent_id = ${agentId}::uuid
    ),${noteChanges('message_changed', MOVED)},${LOG_OUTCOMES} ${SELECT_APPENDED}`,
)

const run = async (tx: Prisma.TransactionClient, statement: Statement): Promise<LoggedEvent[]> =>
  toAppended((await within(tx).pool.query<AppendedRow>(statement)).rows)

/**
 * Updates a message's status from its recipients. Must run in the transaction that has locked the message.
 * Returns the event, if it raised one, to be announced after the commit.
 */
export const concludeMessage = (
  tx: Prisma.TransactionClient,
  { id, agentId }: MessageKey,
  now: Date,
): Promise<LoggedEvent[]> => run(tx, CONCLUDE_MESSAGE({ id, agentId, now }))

/** Appends the event of a message whose status the transaction has changed. Returns it, as above. */
export const logOutcome = (
  tx: Prisma.TransactionClient,
  { id, agentId }: MessageKey,
  now: Date,
): Promise<LoggedEvent[]> => run(tx, LOG_OUTCOME({ id, agentId, now }))
