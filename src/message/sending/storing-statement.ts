import { CHATS_IN_SQL } from '../../core/channels.ts'
import type { Approval } from '../../db/generated/prisma/enums.ts'
import { define, empty, type Rows, raw, rows, rowsOf, type Sql, sql } from '../../db/sql/sql.ts'
import { type ParametersOf, statement } from '../../db/sql/statement.ts'
import { APPEND_EVENTS, APPENDED, APPENDED_COLUMNS, LOGS_MORE } from '../../event/index.ts'
import { enqueueWebhookJobs } from '../../webhook/index.ts'
import { auditSends, countMessages, noteChanges } from '../../workspace/index.ts'
import { holdEvents } from '../approval/hold.ts'
import { isUnread } from '../reading/filter.ts'
import { EVENT_COLUMNS, raise } from '../stored/raise.ts'
import { insertMessages, noteUnindexed } from '../stored/row.ts'
import { enqueueSends } from '../stored/send-job.ts'
import { PLACE } from './place.ts'

const CHATS = raw(CHATS_IN_SQL)
const THREAD_OF_CHAT = sql`select l.thread_id from message l
    where l.agent_id = m.agent_id and l.address_id = place.id and l.counterpart = m.counterpart and l.channel in ${CHATS}
    order by l.created_at desc limit 1`

/** A batch of messages; arrays of the same kind are of equal length. */
export interface Stored {
  /** The messages as JSON. */
  messages: string
  /** For each message, its id; and what of its agent decided whether it may leave and what it waits for. */
  decided: readonly string[]
  approvals: readonly Approval[]
  guards: readonly number[]
  /** For each recipient, the message; and the address. */
  recipients: readonly string[]
  addresses: readonly string[]
  /** For each file, the message; and what it has. */
  files: readonly string[]
  indexes: readonly number[]
  names: readonly string[]
  types: readonly string[]
  contents: Buffer
  sizes: readonly number[]
  blobs: readonly (string | null)[]
  /** The messages that they answer, sorted. */
  answered: readonly string[]
  /** Those that members send, and their entries in the audit log. */
  byMembers: readonly string[]
  entries: readonly string[]
  tokens: readonly (string | null)[]
  requests: readonly (string | null)[]
}

const DRAFTED = rows(
  'drafted',
  ...EVENT_COLUMNS,
  ...(['workspace_id', 'direction', 'status', 'hold_reason', 'hold_until', 'send_at'] as const),
  ...(['created_at', 'reply_to_id', 'sent_by_member_id', 'sent_by_name'] as const),
)
const ANSWERED = rows('answered', 'id', 'agent_id', 'workspace_id')

/** Inserts those of the messages `m` whose agents `g` meet the condition. */
const insertMessagesOf = ({ messages }: ParametersOf<Stored>, condition: Sql): Sql => {
  const drafts = sql`json_populate_recordset(null::message, (select ${messages}::json)) m`
  const insert = (addressId: Sql, threadId: Sql) =>
    insertMessages({
      addressId,
      threadId,
      conversation: sql`coalesce(m.conversation, (select s.conversation from thread_state s where s.agent_id = m.agent_id and s.thread_id = ${threadId}))`,
    })
  return sql`
    ${define(DRAFTED)} as (
      ${insert(raw('place.id'), sql`coalesce(m.thread_id, (${THREAD_OF_CHAT}), m.id)`)}
        from ${drafts} join agent g on g.id = m.agent_id and ${condition} cross join lateral (${PLACE}) place
      returning ${DRAFTED.list}
    )`
}

/** Marks as read what the messages answer. */
const markAnswered = ({ answered }: ParametersOf<Stored>): Sql => sql`
    ${define(ANSWERED)} as (
      update message m set read_at = (select min(d.created_at) from ${DRAFTED} d where d.reply_to_id = m.id)
       where m.id = any((select ${answered}::uuid[])::uuid[]) and ${isUnread('m')}
         and exists (select from ${DRAFTED} d where d.reply_to_id = m.id and d.agent_id = m.agent_id)
      returning m.id, m.agent_id, m.workspace_id
    )`

const hidden = (parameter: Sql, type: string): Sql => sql`(select ${parameter}::${raw(type)}[])`

const storeFiles = (given: ParametersOf<Stored>): Sql => sql`
    files as (
      insert into attachment (message_id, agent_id, index, name, type, size, content, blob_id)
      select f.id, agent_id, f.index, f.name, f.type, f.size, f.content, f.blob_id
        from unnest(${hidden(given.files, 'uuid')}, ${hidden(given.indexes, 'int')}, ${hidden(given.names, 'text')}, ${hidden(given.types, 'text')},
                    ${hidden(given.contents, 'bytea')}, ${hidden(given.sizes, 'int')}, ${hidden(given.blobs, 'uuid')})
               as f(id, index, name, type, content, size, blob_id) join ${DRAFTED} using (id)
    )`

/** Keeps the agents' keys of threads for their later messages. The newest one counts. */
const KEEP_CONVERSATIONS = sql`
    conversations as (
      insert into thread_state as s (agent_id, thread_id, workspace_id, conversation)
      select distinct on (agent_id, thread_id) agent_id, thread_id, workspace_id, conversation
        from ${DRAFTED} where conversation is not null order by agent_id, thread_id, id desc
      on conflict (agent_id, thread_id) do update set conversation = excluded.conversation
       where s.conversation is distinct from excluded.conversation
    )`

/** The messages that a batch changes: the new ones, and those that they answer. */
const NOTED = rowsOf<'id' | 'agent_id' | 'workspace_id'>(
  sql`select id, agent_id, workspace_id from ${DRAFTED} union all select id, agent_id, workspace_id from ${ANSWERED}`,
)

/** What a message waits for rests on its agent's setting and secrets, which may have changed since that was decided. */
const isAsDecided = ({ decided, approvals, guards }: ParametersOf<Stored>): Sql =>
  sql`(m.id, g.approval, g.guard_version) in (select * from unnest((select ${decided}::uuid[]), (select ${approvals}::"Approval"[]), (select ${guards}::int[])))`

const NO_EVENTS = {
  condition: (given: ParametersOf<Stored>) => sql`${isAsDecided(given)} and not (${LOGS_MORE})`,
  parts: empty,
  columns: sql`null as id`,
  join: empty,
}
const EVENTS = {
  condition: isAsDecided,
  parts: sql`,${raise(holdEvents(DRAFTED))},${APPEND_EVENTS},${enqueueWebhookJobs()}`,
  columns: APPENDED_COLUMNS,
  join: sql`left join ${APPENDED} e on e.id = d.id`,
}

/** For messages that answer none, give no key of their thread and have no files. */
const BARE = {
  parts: (_: ParametersOf<Stored>): Sql => empty,
  noted: DRAFTED as Rows<'id' | 'agent_id' | 'workspace_id'>,
  marksRead: raw('false'),
  join: empty,
}
const WITH_ALL: typeof BARE = {
  parts: (given) => sql`${storeFiles(given)},${KEEP_CONVERSATIONS},${markAnswered(given)},`,
  noted: NOTED,
  marksRead: raw('a.id is not null'),
  join: sql`left join ${ANSWERED} a on a.id = d.reply_to_id`,
}

/**
 * Stores a batch of messages with their recipients and jobs in one statement, and marks those that they answer
 * as read. Those that members send are in the audit log. A message that waits for approval gets its job when it is
 * approved. It skips messages whose agent is not in their workspace or has no address on their channel, and those whose
 * agent does not meet the condition.
 *
 * The parameters stand in subqueries, so that the planner expects the same cost with and without their values
 * and keeps one plan. See docs/decisions.md#kept-plans.
 */
const storing = (name: string, events: typeof EVENTS, more: typeof BARE) =>
  statement<Stored>(name, (given) => {
    const audited = {
      messages: hidden(given.byMembers, 'uuid'),
      entries: hidden(given.entries, 'uuid'),
      tokens: hidden(given.tokens, 'uuid'),
      requests: hidden(given.requests, 'uuid'),
    }
    return sql`
    with${insertMessagesOf(given, events.condition(given))},
    recipients as (
      insert into recipient (message_id, agent_id, address, updated_at)
      select r.id, d.agent_id, r.address, d.created_at from unnest(${hidden(given.recipients, 'uuid')}, ${hidden(given.addresses, 'text')}) as r(id, address) join ${DRAFTED} d using (id)
    ),
    ${more.parts(given)}${noteUnindexed(DRAFTED)},${auditSends(DRAFTED, audited)},${countMessages(DRAFTED)},${noteChanges('message_changed', more.noted)},${enqueueSends(DRAFTED)}${events.parts}
    select d.id as outgoing_id, d.address_id as "addressId", thread_id as "threadId", conversation, hold_reason as "holdReason", hold_until as "holdUntil",
           ${more.marksRead} as "marksRead", ${events.columns}
      from ${DRAFTED} d ${more.join} ${events.join}`
  })

/**
 * For agents that log new messages alone and need no approval: without the parts for events. They skip all others. A bare
 * message leaves out three more parts (docs/decisions.md#parts-of-a-statement).
 */
export const STORE_BARE = storing('store bare outgoing messages', NO_EVENTS, BARE)
export const STORE = storing('store outgoing messages', NO_EVENTS, WITH_ALL)
/** For all agents whose setting is still the one by which it was decided what their messages wait for. */
export const STORE_LOGGED = storing('store and log outgoing messages', EVENTS, WITH_ALL)
