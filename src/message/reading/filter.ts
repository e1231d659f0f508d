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
   * Words to find in subject, text and counterpart, as a search box takes them: `"a phrase"`, `or`,
   * `-without`.
   */
  q?: string | undefined
  since?: Date | undefined
  until?: Date | undefined
}

/**
 * The conditions (SQL) under which a message `m` of the agent `agentId` (SQL too) fits the filter, whose
 * `thread` is the thread's own id here, and comes behind the cursor. `parameter` adds a value to the
 * statement and returns its placeholder. Throws `invalid_input` for a cursor that no list of messages gave.
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
