import { readMoment } from '../../core/cursor.ts'
import type { Channel, Direction, MessageStatus, Refusal } from '../../db/generated/prisma/enums.ts'
import { asPhrases, foundIn } from './search.ts'

/** Which of an agent's messages a list shows. */
export interface MessageFilter {
  channel?: Channel | undefined
  direction?: Direction | undefined
  status?: MessageStatus | undefined
  /** The id of any message of the thread. */
  thread?: string | undefined
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
  /** The sender of an inbound message; `*@example.com` stands for all addresses of the domain. */
  from?: string | undefined
}

/** A message `m` that is received and not marked as read; these are the conditions of `message_unread_idx`. */
export const isUnread = (m: string) => `${m}.status = 'received' and ${m}.read_at is null`

/** A message `m` with the label. The first condition is that of the indexes of labelled messages. */
export const hasLabel = (m: string, label: string) =>
  `${m}.labels <> '{}' and ${m}.labels @> array[${label}]::text[]`

const HAS_ATTACHMENT =
  'exists (select from attachment f where f.message_id = m.id and f.agent_id = m.agent_id)'

/** A pattern for `like`, in lowercase. */
const patternOf = (from: string): string =>
  from
    .toLowerCase()
    .replaceAll(/[\\%_]/g, '\\$&')
    .replace(/^\*(?=@)/, '%')

/**
 * Returns the SQL conditions under which a message `m` of the agent `agentId` (also SQL) matches the filter
 * and comes after the cursor. The filter's `thread` must be the thread's own id here. `parameter` adds a
 * value to the statement and returns its placeholder. Throws `invalid_input` for a cursor that does not come
 * from a list of messages.
 */
export const conditionsOf = (
  filter: MessageFilter,
  cursor: string | undefined,
  agentId: string,
  parameter: (value: unknown) => string,
): string[] => {
  const { channel, direction, status, thread, q, since, until } = filter
  const { label, unread, refusal, hasAttachment, from } = filter
  const conditions: string[] = []
  if (channel) conditions.push(`m.channel = ${parameter(channel)}::"Channel"`)
  if (direction) conditions.push(`m.direction = ${parameter(direction)}::"Direction"`)
  if (status) conditions.push(`m.status = ${parameter(status)}::"MessageStatus"`)
  if (thread) conditions.push(`m.thread_id = ${parameter(thread)}::uuid`)
  if (q) conditions.push(`m.id in (${foundIn(agentId, parameter(asPhrases(q)))})`)
  if (since) conditions.push(`m.created_at >= ${parameter(since)}::timestamptz`)
  if (until) conditions.push(`m.created_at <= ${parameter(until)}::timestamptz`)
  if (label !== undefined) conditions.push(hasLabel('m', parameter(label)))
  if (unread !== undefined) conditions.push(unread ? isUnread('m') : `not (${isUnread('m')})`)
  // The status is the condition of `message_refused_idx`.
  if (refusal) conditions.push(`m.status = 'refused' and m.refusal = ${parameter(refusal)}::"Refusal"`)
  if (hasAttachment !== undefined) conditions.push(`${hasAttachment ? '' : 'not '}${HAS_ATTACHMENT}`)
  if (from !== undefined)
    conditions.push(`m.direction = 'inbound' and lower(m.counterpart) like ${parameter(patternOf(from))}`)
  if (cursor !== undefined) {
    const [createdAt, id] = readMoment(cursor)
    conditions.push(`(m.created_at, m.id) < (${parameter(createdAt)}::timestamptz, ${parameter(id)}::uuid)`)
  }
  return conditions
}
