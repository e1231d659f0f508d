import { readMoment } from '../../core/cursor.ts'
import type { Channel, Direction, MessageStatus } from '../../db/generated/prisma/enums.ts'
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
}

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
  const conditions: string[] = []
  if (channel) conditions.push(`m.channel = ${parameter(channel)}::"Channel"`)
  if (direction) conditions.push(`m.direction = ${parameter(direction)}::"Direction"`)
  if (status) conditions.push(`m.status = ${parameter(status)}::"MessageStatus"`)
  if (thread) conditions.push(`m.thread_id = ${parameter(thread)}::uuid`)
  if (q) conditions.push(`m.id in (${foundIn(agentId, parameter(asPhrases(q)))})`)
  if (since) conditions.push(`m.created_at >= ${parameter(since)}::timestamptz`)
  if (until) conditions.push(`m.created_at <= ${parameter(until)}::timestamptz`)
  if (cursor !== undefined) {
    const [createdAt, id] = readMoment(cursor)
    conditions.push(`(m.created_at, m.id) < (${parameter(createdAt)}::timestamptz, ${parameter(id)}::uuid)`)
  }
  return conditions
}
