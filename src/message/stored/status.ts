import type { Message, Prisma } from '../../db/generated/prisma/client.ts'
import { define, raw, rows, rowsOf, type Sql, sql } from '../../db/sql/sql.ts'
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
import { type Conclusion, conclusionOf, type RecipientState } from './conclusion.ts'
import { EVENT_COLUMNS, raise } from './raise.ts'

/** Begins the `detail` of a recipient who complained about a message that others have got too. */
export const COMPLAINED = 'complained: '

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

/** Messages of which all recipients are final, with what becomes of them (`conclusionOf`), and their status before. */
export const CONCLUDED = rows('concluded', 'message_id', 'agent_id', 'was', 'at', 'status', 'error')
const MOVED = rows('moved', ...EVENT_COLUMNS, ...(['workspace_id', 'status', 'error', 'was', 'at'] as const))
const HAPPENED = rows('happened', 'agent_id', 'workspace_id', 'at', 'metric')

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
         and (m.status in ('sending', 'sent') or m.status = 'failed' and c.status = 'failed')
      returning m.id, m.agent_id, m.workspace_id, m.address_id, m.thread_id, m.conversation, m.channel, m.subject, m.status, m.error, c.was, c.at
    ),
    ${define(HAPPENED)} as (
      select agent_id, workspace_id, at, status::text as metric
        from ${MOVED} where status is distinct from was and status in ('${raw(SENT)}', '${raw(FAILED)}')
    ),${countForDay(HAPPENED)},${noteChanges('message_changed', MOVED)}`

type Changed = MessageKey & { now: Date }

const CONCLUDE_MESSAGE = statement<Changed & Conclusion>(
  undefined,
  ({ id, agentId, now, status, error }) => sql`with
    ${define(CONCLUDED)} as (
      select id as message_id, agent_id, status as was, ${now}::timestamptz as at, ${status}::"MessageStatus" as status, ${error}::text as error
        from message where id = ${id}::uuid and agent_id = ${agentId}::uuid
    ),${CONCLUDE},${LOG_OUTCOMES} ${SELECT_APPENDED}`,
)

const LOG_OUTCOME = statement<Changed>(
  undefined,
  ({ id, agentId, now }) => sql`with
    ${define(MOVED)} as (
      select id, agent_id, workspace_id, address_id, thread_id, conversation, channel, subject, status, error, null::"MessageStatus" as was, ${now}::timestamptz as at
        from message where id = ${id}::uuid and agent_id = ${agentId}::uuid
    ),${noteChanges('message_changed', MOVED)},${LOG_OUTCOMES} ${SELECT_APPENDED}`,
)

const run = async (tx: Prisma.TransactionClient, statement: Statement): Promise<LoggedEvent[]> =>
  toAppended((await within(tx).pool.query<AppendedRow>(statement)).rows)

/** Returns the recipients of a message that the transaction has locked, by their addresses. */
export const readRecipients = (
  tx: Prisma.TransactionClient,
  { id, agentId }: MessageKey,
): Promise<RecipientState[]> =>
  tx.recipient.findMany({
    where: { messageId: id, agentId },
    select: { address: true, status: true, detail: true },
    orderBy: { address: 'asc' },
  })

/**
 * Updates a message's status from its recipients. Must run in the transaction that has locked the message.
 * Returns the event, if it raised one, to be announced after the commit.
 */
export const concludeMessage = async (
  tx: Prisma.TransactionClient,
  { id, agentId }: MessageKey,
  now: Date,
): Promise<LoggedEvent[]> => {
  const conclusion = conclusionOf(await readRecipients(tx, { id, agentId }))
  return conclusion ? run(tx, CONCLUDE_MESSAGE({ id, agentId, now, ...conclusion })) : []
}

/** Appends the event of a message whose status the transaction has changed. Returns it, as above. */
export const logOutcome = (
  tx: Prisma.TransactionClient,
  { id, agentId }: MessageKey,
  now: Date,
): Promise<LoggedEvent[]> => run(tx, LOG_OUTCOME({ id, agentId, now }))
