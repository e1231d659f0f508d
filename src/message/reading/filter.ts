import { normalizeGiven } from '../../core/address/email-address.ts'
import { readMoment } from '../../core/cursor.ts'
import { invalidInput } from '../../core/errors.ts'
import type { Metadata } from '../../core/rules.ts'
import { lowerCase, lowerCaseSql } from '../../core/text/lower-case.ts'
import {
  Channel,
  Direction,
  type HoldReason,
  MessageStatus,
  type Refusal,
} from '../../db/generated/prisma/enums.ts'
import { allOf, bind, raw, type Sql, sql } from '../../db/sql/sql.ts'
import { HAS_METADATA, hasMetadata, isWanted } from '../stored/metadata.ts'
import { joinMessage } from './for-each.ts'
import { searchWords } from './words.ts'

/** Which messages a list shows. */
export interface MessageFilter {
  channel?: Channel | undefined
  direction?: Direction | undefined
  status?: MessageStatus | undefined
  /** The id of any message of the thread. */
  thread?: string | undefined
  /** The same, as messages and events say it. */
  threadId?: string | undefined
  /**
   * Words to find in subject, text and counterpart, in the syntax of search engines: `"a phrase"`, `or`,
   * `-without`.
   */
  q?: string | undefined
  since?: Date | undefined
  until?: Date | undefined
  label?: string | undefined
  /** Whether it is received and not marked as read. */
  unread?: boolean | undefined
  refusal?: Refusal | undefined
  hasAttachment?: boolean | undefined
  /**
   * The sender of an inbound message: an address, all addresses of a domain (`*@example.com`), or words of a name or address. Each word may
   * be a part of one.
   */
  from?: string | undefined
  /** A recipient, in the same way. */
  to?: string | undefined
  /** Words of the subject, or parts of them. */
  subject?: string | undefined
  /** What it waits for. */
  hold?: HoldReason | undefined
  /** Values that it has in its metadata. */
  metadata?: Metadata | undefined
}

/** A message `m` that is received and not marked as read; these are the conditions of `message_unread_idx`. */
export const isUnread = (m: string): Sql => raw(`${m}.status = 'received' and ${m}.read_at is null`)

/** A message `m` that makes its thread an open one; these are the conditions of the indexes of open messages. */
export const isOpen = (m: string): Sql =>
  raw(`not ${m}.handled and ${m}.status not in ('refused', 'imported')`)

/** A message `m` with the label. The first condition is that of the indexes of labelled messages. */
export const hasLabel = (m: string, label: string): Sql =>
  sql`${raw(m)}.labels <> '{}' and ${raw(m)}.labels @> array[${bind(label)}]::text[]`

/** A message `m` that waits for approval or for its time; these are the conditions of the indexes of held messages. */
export const IS_HELD: Sql = sql`m.status = 'sending' and m.hold_reason is not null and m.hold_until is not null`

const HAS_ATTACHMENT = sql`exists (select from attachment f where f.message_id = m.id and f.agent_id = m.agent_id)`

/** An address, a phone number or an id, which has no letters; or all addresses of a domain. */
const ADDRESS = /^(?:\*|[^\s@*<>,;]+|"[^"]*")@[^\s@*<>,;]+$|^\+?\d+$/

const escaped = (part: string): string => part.replaceAll(/[\\%_]/g, '\\$&')

/** A pattern for `like`, in lowercase; null for what is no address. */
const addressPattern = (wanted: string): string | null =>
  ADDRESS.test(wanted) ? escaped(normalizeGiven(wanted)).replace(/^\*(?=@)/, '%') : null

/** Patterns for `like`, one for each word of a text, folded as in the search index. Throws `invalid_input` for a blank, and for what looks like an address. */
const wordPatterns = (field: string, wanted: string): string[] => {
  if (wanted.trim() === '') throw invalidInput(field, 'must not be blank')
  if (field !== 'subject' && wanted.includes('*'))
    throw invalidInput(field, 'takes an address, *@domain, or a part of a name or address')
  const words = searchWords(wanted)
  return (words.length > 0 ? words : [lowerCase(wanted.trim())]).map((word) => `%${escaped(word)}%`)
}

/** A text as `searchWords` folds it, but for rare letters. It is cut, because a name may have very many marks, which take quadratic time. */
const folded = (text: string): Sql =>
  raw(`replace(replace(lower(normalize(left(${text}, 500), NFKC)), 'ß', 'ss'), 'ς', 'σ')`)

const likeAll = (text: string, patterns: readonly string[]): Sql =>
  sql`${folded(text)} like all(${bind(patterns)}::text[])`
const isLike = (text: string, pattern: string): Sql => sql`${raw(lowerCaseSql(text))} like ${bind(pattern)}`

/** The conditions of a filter that depend on the message itself: not its thread, its time or its words. */
export type Marks = Omit<MessageFilter, 'thread' | 'threadId' | 'q' | 'since' | 'until'>

const marksOf = ({
  thread: _thread,
  threadId: _threadId,
  q: _q,
  since: _since,
  until: _until,
  ...marks
}: MessageFilter): Marks => marks

/** Returns the conditions under which a message `m` has this sender, these recipients and this subject. */
export const named = (
  { from, to, subject }: Pick<MessageFilter, 'from' | 'to' | 'subject'>,
  m = 'm',
): Sql[] => {
  const conditions: Sql[] = []
  if (from !== undefined) {
    const pattern = addressPattern(from)
    const sender =
      pattern === null
        ? likeAll(`concat_ws(' ', ${m}.counterpart_name, ${m}.counterpart)`, wordPatterns('from', from))
        : isLike(`${m}.counterpart`, pattern)
    conditions.push(sql`${raw(m)}.direction = 'inbound' and ${sender}`)
  }
  if (to !== undefined) {
    const pattern = addressPattern(to)
    const name = `case when ${m}.direction = 'outbound' then ${m}.counterpart_name end`
    const meets = pattern === null ? likeAll('r.name', wordPatterns('to', to)) : isLike('r.name', pattern)
    const among = raw(`${m}."to" || ${m}.cc || ${m}.bcc ${pattern === null ? `|| (${name})` : ''}`)
    conditions.push(sql`exists (select from unnest(${among}) as r(name) where ${meets})`)
  }
  if (subject !== undefined) conditions.push(likeAll(`${m}.subject`, wordPatterns('subject', subject)))
  return conditions
}

/** Returns the conditions under which a message `m` has these marks. */
export const marked = ({
  channel,
  direction,
  status,
  label,
  unread,
  refusal,
  hasAttachment,
  hold,
  metadata,
  ...names
}: Marks): Sql[] => {
  const conditions: Sql[] = []
  if (channel) conditions.push(sql`m.channel = ${bind(channel)}::"Channel"`)
  if (direction) conditions.push(sql`m.direction = ${bind(direction)}::"Direction"`)
  if (status) conditions.push(sql`m.status = ${bind(status)}::"MessageStatus"`)
  if (label !== undefined) conditions.push(hasLabel('m', label))
  if (unread !== undefined) conditions.push(unread ? isUnread('m') : sql`not (${isUnread('m')})`)
  if (refusal) conditions.push(sql`m.status = 'refused' and m.refusal = ${bind(refusal)}::"Refusal"`)
  if (hasAttachment !== undefined)
    conditions.push(hasAttachment ? HAS_ATTACHMENT : sql`not ${HAS_ATTACHMENT}`)
  conditions.push(...named(names))
  if (isWanted(metadata)) conditions.push(hasMetadata(metadata))
  if (hold) conditions.push(sql`${IS_HELD} and m.hold_reason = ${bind(hold)}::"HoldReason"`)
  return conditions
}

/** Whose messages are listed: an agent's, those in one of its threads, or all of a workspace's. */
export interface Owner {
  column: 'agent_id' | 'workspace_id'
  id: Sql
  threadId?: Sql | undefined
}

/** Hides the messages of deleted agents, whose rows are deleted later; there are seldom any. */
const OF_DELETED = sql`m.agent_id = any(array(select agent_id from deleted_agent))`

/** Whether the message, or another row, `m` is the owner's. */
export const isOf = ({ column, id }: Owner): Sql =>
  column === 'agent_id' ? sql`m.agent_id = ${id}` : sql`m.workspace_id = ${id} and not (${OF_DELETED})`

/** The part of a list that a page is taken from. */
export interface Range {
  owner: Owner
  filter: MessageFilter
  cursor?: string | undefined
}

/**
 * Returns the conditions under which a message `m` of the owner is in the range. The filter's `thread`
 * must be the thread's own id here. Throws `invalid_input` for a cursor that does not come from a list of
 * messages.
 */
const inRange = ({ owner, filter, cursor }: Range): Sql[] => {
  const { thread, since, until } = filter
  const conditions: Sql[] = []
  if (owner.threadId !== undefined) conditions.push(sql`m.thread_id = ${owner.threadId}`)
  if (thread) conditions.push(sql`m.thread_id = ${bind(thread)}::uuid`)
  if (since) conditions.push(sql`m.created_at >= ${bind(since)}::timestamptz`)
  if (until) conditions.push(sql`m.created_at <= ${bind(until)}::timestamptz`)
  if (cursor !== undefined) {
    const [createdAt, id] = readMoment(cursor)
    conditions.push(sql`(m.created_at, m.id) < (${bind(createdAt)}::timestamptz, ${bind(id)}::uuid)`)
  }
  return conditions
}

/** Returns the condition under which a message `m` is in the range and meets the whole filter except `q`. */
export const meets = (range: Range): Sql =>
  allOf([isOf(range.owner), ...inRange(range), ...marked(marksOf(range.filter))])

/** Channels, directions and statuses: all combinations of them are kinds of messages. */
interface Kinds {
  channels: readonly string[]
  directions: readonly string[]
  statuses: readonly string[]
}

const STORED = Object.values(Channel).filter((channel) => channel !== 'url')

/** The values that are among these and equal each of those given. */
const only = <Value>(values: readonly Value[], ...given: (Value | undefined)[]): Value[] =>
  values.filter((value) => given.every((one) => one === undefined || one === value))

const kindsOf = ({ channel, direction, status, refusal, from }: MessageFilter): Kinds => ({
  channels: only(STORED, channel),
  directions: only(Object.values(Direction), direction, from === undefined ? undefined : 'inbound'),
  statuses: only(Object.values(MessageStatus), status, refusal && 'refused'),
})

/** How a list is read: what an index serves, and what has to be tested for each message. */
export interface Access {
  /** Kinds of messages to merge; null: all messages that meet `where`, in one list. */
  kinds: Kinds | null
  where: Sql[]
  tested: Marks
}

const IS_LABELLED = sql`m.labels <> '{}'`

/** Statuses of few of a workspace's messages; the condition of `message_workspace_status_idx`. */
const RARE: readonly MessageStatus[] = ['refused', 'failed', 'reported']

/**
 * Returns how the list of a workspace with this filter is read: in order through the index of the condition that
 * is met by the fewest messages, or of all messages.
 */
const accessOfWorkspace = (filter: MessageFilter): Access => {
  const marks = marksOf(filter)
  const { label, unread, refusal, hold } = filter
  const status = RARE.find((rare) => rare === (refusal ? 'refused' : filter.status))
  if (hold) return { kinds: null, where: [IS_HELD], tested: marks }
  if (status)
    return {
      kinds: null,
      where: [raw(`m.status = '${status}'`)],
      tested: filter.status === status ? { ...marks, status: undefined } : marks,
    }
  if (isWanted(filter.metadata)) return { kinds: null, where: [HAS_METADATA], tested: marks }
  if (label !== undefined) return { kinds: null, where: [IS_LABELLED], tested: marks }
  if (unread) return { kinds: null, where: [isUnread('m')], tested: { ...marks, unread: undefined } }
  return { kinds: null, where: [], tested: marks }
}

/** Returns how the list with this filter is read. */
export const accessOf = (filter: MessageFilter, { column, threadId }: Owner): Access => {
  if (column === 'workspace_id') return accessOfWorkspace(filter)
  const marks = marksOf(filter)
  const { channel, direction, status, label, unread, refusal, from, hold } = filter
  if (threadId !== undefined || filter.thread !== undefined) return { kinds: null, where: [], tested: marks }
  if (hold) return { kinds: null, where: [IS_HELD], tested: marks }
  if ([channel, direction, status, refusal, from].some((one) => one !== undefined))
    return {
      kinds: kindsOf(filter),
      where: [],
      tested: { ...marks, channel: undefined, direction: undefined, status: undefined },
    }
  if (isWanted(filter.metadata)) return { kinds: null, where: [HAS_METADATA], tested: marks }
  if (label !== undefined) return { kinds: null, where: [IS_LABELLED], tested: marks }
  if (unread) return { kinds: null, where: [isUnread('m')], tested: { ...marks, unread: undefined } }
  return { kinds: null, where: [], tested: marks }
}

const NEWEST_FIRST = sql`order by m.created_at desc, m.id desc`

/**
 * Selects the places (`id`, `agent_id`, `created_at`) of the newest `limit` messages in the range that `access` serves,
 * newest first. It reads about as many messages, even if the filter excludes all: the lists of the kinds are
 * merged, each of which is in order in `message_kind_idx`. An index for one condition would still have to be
 * read to its end for the others.
 */
export const newestPlaces = (access: Access, { limit, ...range }: Range & { limit: Sql }): Sql => {
  const { kinds, where } = access
  const place = allOf([isOf(range.owner), ...where, ...inRange(range)])
  const list = (condition: Sql) =>
    sql`select m.id, m.agent_id, m.created_at from message m where ${condition} ${NEWEST_FIRST} limit ${limit}`
  if (!kinds) return list(place)
  const each = (values: readonly string[], type: string) =>
    sql`unnest((select ${bind(values)}::"${raw(type)}"[]))`
  return sql`
    select p.id, p.agent_id, p.created_at
      from ${each(kinds.channels, 'Channel')} c cross join ${each(kinds.directions, 'Direction')} d
     cross join ${each(kinds.statuses, 'MessageStatus')} s
     cross join lateral (${list(sql`${place} and m.channel = c and m.direction = d and m.status = s`)}) p
     order by p.created_at desc, p.id desc limit ${limit}`
}

/** Selects the same messages `m` as `newestPlaces`: a statement without its columns. */
export const newestMessages = (access: Access, { limit, ...range }: Range & { limit: Sql }): Sql => {
  if (access.kinds)
    return sql`from (${newestPlaces(access, { ...range, limit })}) p
      ${joinMessage('p')} ${NEWEST_FIRST}`
  const place = allOf([isOf(range.owner), ...access.where, ...inRange(range)])
  return sql`from message m where ${place} ${NEWEST_FIRST} limit ${limit}`
}
