import { amongAgents, dialect } from '../../db/dialect.ts'
import type { Message, Prisma } from '../../db/generated/prisma/client.ts'
import { within } from '../../db/transaction.ts'
import { APPEND_EVENTS, type AppendedRow, lockLogs, SELECT_APPENDED, toAppended } from '../../event/append.ts'
import { type LoggedEvent, MESSAGE_FAILED, MESSAGE_REPORTED, MESSAGE_SENT } from '../../event/event.ts'
import { enqueueWebhookJobs } from '../../webhook/delivery/enqueue.ts'
import { noteChanges } from '../../workspace/change-log.ts'
import { FAILED, SENT } from '../../workspace/day-counts.ts'
import { countForDay } from '../../workspace/usage.ts'
import { raise } from './raise.ts'

/** Formats the failure reasons of recipients as the message's `error`. */
export const errorOf = (
  failed: readonly { recipient: string; reason: string }[],
  recipients: number,
): string =>
  failed.map(({ recipient, reason }) => (recipients === 1 ? reason : `${recipient}: ${reason}`)).join('; ')

type MessageKey = Pick<Message, 'id' | 'agentId'>

const LOCK = `
  with logs as materialized (${lockLogs('(select $2::uuid as agent_id)')})
  select 1 from message where id = $1::uuid and agent_id = $2::uuid and (select count(*) from logs) >= 0 for no key update`

/**
 * Serializes updates of one message's recipients: otherwise two concurrent updates could each see the other's
 * recipient as still in progress.
 */
export const lockMessage = async (
  tx: Prisma.TransactionClient,
  { id, agentId }: MessageKey,
): Promise<void> => {
  await tx.$queryRawUnsafe(LOCK, id, agentId)
}

/**
 * The status and error of the messages of `recipients (message_id, agent_id, address, status, detail, was, at)`:
 * `failed` when one failed, with the reasons as `errorOf` formats them; `sent` when all were sent; none while one
 * is in progress. `was` is the message's status before, and `at` the time of the change.
 */
export const conclusionsFrom = (recipients: string): string => `
    select message_id, agent_id, was, at, case when bool_or(failed) then 'failed' else 'sent' end::"MessageStatus" as status,
           string_agg(case when n > 1 then address || ': ' else '' end || coalesce(detail, 'not delivered'), '; ' order by address)
             filter (where failed) as error
      from (select *, status = 'failed' as failed, count(*) over (partition by message_id, agent_id) as n from ${recipients}) r
     group by message_id, agent_id, was, at having not bool_or(status = 'sending')`

const TYPES = { sent: MESSAGE_SENT, failed: MESSAGE_FAILED, reported: MESSAGE_REPORTED }
const TYPE = `case status ${Object.entries(TYPES)
  .map(([status, type]) => `when '${status}' then '${type}'`)
  .join(' ')} end`

/**
 * The part of a statement that appends the events of messages whose status has changed, with their webhook jobs.
 * It reads `moved (id, agent_id, workspace_id, address_id, channel, subject, status, error, was, at)`.
 */
export const LOG_OUTCOMES = `${raise(`
      select *, ${TYPE} as type, case status when 'failed' then jsonb_build_object('error', error) end as detail
        from moved where status is distinct from was`)},${APPEND_EVENTS},${enqueueWebhookJobs()}`

/**
 * The part of a statement that updates the messages of `concluded (message_id, agent_id, status, error, was, at)`
 * and counts them for their day. Never reverts a later status.
 */
export const CONCLUDE = `
    moved as (
      update message m set status = c.status, error = c.error from concluded c
       where m.id = c.message_id and m.agent_id = c.agent_id
         and (m.status in ('sending', 'sent') or m.status = 'failed' and c.status = 'failed') ${dialect('', amongAgents('m.agent_id'))}
      returning m.id, m.agent_id, m.workspace_id, m.address_id, m.channel, m.subject, m.status, m.error, c.was, c.at
    ),
    happened as (
      select agent_id, workspace_id, at, status::text as metric
        from moved where status is distinct from was and status in ('${SENT}', '${FAILED}')
    ),${countForDay('happened')},${noteChanges('message_changed', 'moved')}`

const RECIPIENTS = `(
    select r.*, m.status as was, $3::timestamptz as at from recipient r join message m on m.id = r.message_id and m.agent_id = r.agent_id
     where r.message_id = $1::uuid and r.agent_id = $2::uuid) recipient`

const run = async (
  tx: Prisma.TransactionClient,
  parts: string,
  { id, agentId }: MessageKey,
  now: Date,
): Promise<LoggedEvent[]> => {
  const text = `with ${parts} ${SELECT_APPENDED}`
  const { rows } = await within(tx).pool.query<AppendedRow>({ text, values: [id, agentId, now] })
  return toAppended(rows)
}

/**
 * Updates a message's status from its recipients. Must run in the transaction that has locked the message.
 * Returns the event, if it raised one, to be announced after the commit.
 */
export const concludeMessage = (
  tx: Prisma.TransactionClient,
  message: MessageKey,
  now: Date,
): Promise<LoggedEvent[]> =>
  run(tx, `concluded as (${conclusionsFrom(RECIPIENTS)}),${CONCLUDE},${LOG_OUTCOMES}`, message, now)

/** Appends the event of a message whose status the transaction has changed. Returns it, as above. */
export const logOutcome = (
  tx: Prisma.TransactionClient,
  message: MessageKey,
  now: Date,
): Promise<LoggedEvent[]> => {
  const moved = `
    moved as (
      select id, agent_id, workspace_id, address_id, channel, subject, status, error, null::"MessageStatus" as was, $3::timestamptz as at
        from message where id = $1::uuid and agent_id = $2::uuid
    ),${noteChanges('message_changed', 'moved')},${LOG_OUTCOMES}`
  return run(tx, moved, message, now)
}
