import { v7 as newId } from 'uuid'
import { CHATS_IN_SQL } from '../../core/channels.ts'
import { createDbBatch, type DbBatch } from '../../db/batch.ts'
import { byteaArray } from '../../db/bytea.ts'
import { type Db, isUnavailable, type Statements } from '../../db/client.ts'
import { amongAgents, dialect } from '../../db/dialect.ts'
import type { Message } from '../../db/generated/prisma/client.ts'
import {
  APPEND_EVENTS,
  APPENDED_COLUMNS,
  type AppendedRow,
  LOGS_MORE,
  toAppended,
} from '../../event/append.ts'
import type { LoggedEvent } from '../../event/event.ts'
import { enqueueWebhookJobs } from '../../webhook/delivery/enqueue.ts'
import { auditSends } from '../../workspace/audit.ts'
import { noteChanges } from '../../workspace/change-log.ts'
import { countMessages } from '../../workspace/usage.ts'
import { isUnread } from '../reading/filter.ts'
import { insertMessages, noteUnindexed, toRow } from '../row.ts'
import type { Draft } from './draft.ts'
import { HELD, HOLD, HOLD_BY_KNOWN, HOLD_EVENTS, KNOWN_RECIPIENTS } from './hold.ts'
import { raise } from './raise.ts'
import { ENQUEUE_SENDS } from './send-job.ts'

/**
 * The address that a message `m` is sent from: the one at which its original arrived, if the agent still has
 * it, else the channel's primary address.
 */
export const PLACE = `select a.id from address a where a.agent_id = m.agent_id and a.workspace_id = m.workspace_id and a.channel = m.channel
    order by a.id = m.address_id desc, a."primary" desc, a.created_at limit 1`

const THREAD_OF_CHAT = `select l.thread_id from message l
    where l.agent_id = m.agent_id and l.address_id = place.id and l.counterpart = m.counterpart and l.channel in ${CHATS_IN_SQL}
    order by l.created_at desc limit 1`

const DRAFTS = 'json_populate_recordset(null::message, (select $1::json)) m'
const DRAFTED_COLUMNS =
  'id, agent_id, workspace_id, address_id, thread_id, channel, direction, status, subject, hold_reason, hold_until, send_at, created_at, reply_to_id, sent_by_member_id, sent_by_name'

/** Inserts the drafts. Citus takes no query with a limit for each of them: there, what they need is joined first. */
const drafted = (condition: string): string =>
  dialect(
    `
    drafted as (
      ${insertMessages({ address_id: 'place.id', thread_id: `coalesce(m.thread_id, (${THREAD_OF_CHAT}), m.id)`, ...HELD })}
        from ${DRAFTS} cross join lateral (${PLACE}) place cross join lateral (${HOLD}${condition}) hold
      returning ${DRAFTED_COLUMNS}
    )`,
    `
    given as materialized (select m.*, place.id as place_id from ${DRAFTS} cross join lateral (${PLACE}) place),
    chats as materialized (
      select m.id, (array_agg(l.thread_id order by l.created_at desc))[1] as thread_id from given m
        join message l on l.agent_id = m.agent_id and l.address_id = m.place_id and l.counterpart = m.counterpart and l.channel in ${CHATS_IN_SQL}
             ${amongAgents('l.agent_id')}
       group by m.id
    ),
${KNOWN_RECIPIENTS},
    drafted as (
      ${insertMessages({ address_id: 'm.place_id', thread_id: 'coalesce(m.thread_id, c.thread_id, m.id)', ...HELD })}
        from given m left join chats c on c.id = m.id cross join lateral (${HOLD_BY_KNOWN}${condition}) hold
      returning ${DRAFTED_COLUMNS}
    )`,
  )

/** Marks as read what the drafts answer. */
const ANSWERED = dialect(
  `
    answered as (
      update message m set read_at = (select min(d.created_at) from drafted d where d.reply_to_id = m.id)
       where m.id = any((select $9::uuid[])::uuid[]) and ${isUnread('m')}
         and exists (select from drafted d where d.reply_to_id = m.id and d.agent_id = m.agent_id)
      returning m.id, m.agent_id, m.workspace_id
    )`,
  `
    answered as (
      update message m set read_at = d.at
        from (select reply_to_id, agent_id, min(created_at) as at from drafted where reply_to_id = any($9::uuid[]) group by 1, 2) d
       where m.id = d.reply_to_id and m.agent_id = d.agent_id${amongAgents('m.agent_id')} and ${isUnread('m')}
      returning m.id, m.agent_id, m.workspace_id
    )`,
)

/** The messages that a batch changes: the new ones, and those that they answer. */
const NOTED =
  '(select id, agent_id, workspace_id from drafted union all select id, agent_id, workspace_id from answered)'

const SENT_BY_MEMBERS = [
  '(select $12::uuid[])',
  '(select $13::uuid[])',
  '(select $14::uuid[])',
  '(select $15::uuid[])',
] as const

/**
 * Stores a batch of messages with their recipients and jobs in one statement, and marks those that they answer
 * ($9) as read. Those that members send ($12) are in the audit log. A message that waits for approval gets its job when it is approved. It skips messages whose
 * agent is not in their workspace or has no address on their channel.
 *
 * The parameters stand in subqueries, so that the planner expects the same cost with and without their values
 * and keeps one plan. See docs/decisions.md#kept-plans.
 */
const storing = ({ logged }: { logged: boolean }): string => `
    with${drafted(logged ? '' : ` and not (${LOGS_MORE})`)},
    recipients as (
      insert into recipient (message_id, agent_id, address, updated_at)
      select r.id, d.agent_id, r.address, d.created_at from unnest((select $2::uuid[]), (select $3::text[])) as r(id, address) join drafted d using (id)
    ),
    files as (
      insert into attachment (message_id, agent_id, index, name, type, size, content, blob_id)
      select f.id, agent_id, f.index, f.name, f.type, f.size, f.content, f.blob_id
        from unnest((select $4::uuid[]), (select $5::int[]), (select $6::text[]), (select $7::text[]), (select $8::bytea[]), (select $10::int[]), (select $11::uuid[]))
               as f(id, index, name, type, content, size, blob_id) join drafted using (id)
    ),${ANSWERED},${noteUnindexed('drafted')},${auditSends('drafted', SENT_BY_MEMBERS)},${countMessages('drafted')},${noteChanges('message_changed', NOTED)},${ENQUEUE_SENDS}${logged ? `,${raise(HOLD_EVENTS)},${APPEND_EVENTS},${enqueueWebhookJobs()}` : ''}
    select d.id as draft_id, d.address_id as "addressId", thread_id as "threadId", hold_reason as "holdReason", hold_until as "holdUntil",
           a.id is not null as "marksRead", ${logged ? APPENDED_COLUMNS : 'null as id'}
      from drafted d left join answered a on a.id = d.reply_to_id ${logged ? 'left join appended e on e.id = d.id' : ''}`

/** For agents that log new messages alone: without the parts for events. It skips all others. */
const STORE = { name: 'store drafts', text: storing({ logged: false }) }
/** For all agents. */
const STORE_LOGGED = { name: 'store logged drafts', text: storing({ logged: true }) }

/** Columns whose values are determined when a draft is stored. */
export type Placed = Pick<Message, 'addressId' | 'threadId' | 'holdReason' | 'holdUntil'> & {
  /** Whether it marked the message that it answers as read. */
  marksRead: boolean
  /** The event that it waits, if it raised one. */
  events: LoggedEvent[]
}

type PlacedRow = Omit<Placed, 'events'> & { draft_id: string } & AppendedRow

const placedOf = (row: PlacedRow): Placed => {
  const { addressId, threadId, holdReason, holdUntil, marksRead } = row
  return { addressId, threadId, holdReason, holdUntil, marksRead, events: toAppended([row]) }
}

const write = async (
  { pool }: Statements,
  statement: typeof STORE,
  drafts: readonly Draft[],
): Promise<Map<string, Placed>> => {
  const recipients = drafts.flatMap(({ message, recipients }) =>
    recipients.map((address) => ({ id: message.id, address })),
  )
  const files = drafts.flatMap(({ message, attachments, blobs }) =>
    attachments.map((file, index) => ({ id: message.id, index, file, blobId: blobs?.[index] ?? null })),
  )
  const byMembers = drafts.flatMap(({ message, sentWith }) =>
    sentWith ? [{ id: message.id, ...sentWith }] : [],
  )
  const { rows } = await pool.query<PlacedRow>({
    ...statement,
    agents: drafts.map(({ message }) => message.agentId),
    values: [
      JSON.stringify(drafts.map(({ message }) => toRow(message))),
      recipients.map(({ id }) => id),
      recipients.map(({ address }) => address),
      files.map(({ id }) => id),
      files.map(({ index }) => index),
      files.map(({ file }) => file.name),
      files.map(({ file }) => file.type),
      byteaArray(files.map(({ file, blobId }) => (blobId === null ? file.content : null))),
      drafts.flatMap(({ message: { replyToId } }) => replyToId ?? []).sort(),
      files.map(({ file }) => file.content.byteLength),
      files.map(({ blobId }) => blobId),
      byMembers.map(({ id }) => id),
      byMembers.map(() => newId()),
      byMembers.map(({ tokenId }) => tokenId),
      byMembers.map(({ requestId }) => requestId ?? null),
    ],
  })
  return new Map(rows.map((row) => [row.draft_id, placedOf(row)]))
}

/**
 * Stores drafts, with one statement for the agents that log new messages alone and one for the others. Returns
 * null for each that was skipped.
 */
export const storeDrafts = async (db: Statements, drafts: readonly Draft[]): Promise<(Placed | null)[]> => {
  const plain = await write(db, STORE, drafts)
  const others = drafts.filter(({ message }) => !plain.has(message.id))
  const logged = others.length > 0 ? await write(db, STORE_LOGGED, others) : plain
  return drafts.map(({ message: { id } }) => plain.get(id) ?? logged.get(id) ?? null)
}

/** Maximum size of attachments in one statement; a larger message is stored alone. */
const MAX_BYTES = 4 * 1024 * 1024
const sizeOf = ({ files, blobs }: Draft) =>
  files.reduce((sum, { size }, index) => sum + (blobs?.[index] ? 0 : size), 0)

/** Collects messages to send so that they are committed in batches. */
export type DraftStore = DbBatch<Draft, Placed | null>

export const createDraftStore = (db: Db): DraftStore =>
  createDbBatch(db, storeDrafts, {
    most: 100,
    parallel: 1,
    maxBytes: MAX_BYTES,
    sizeOf,
    isUnavailable,
  })
