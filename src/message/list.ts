import { findAgent } from '../agent/reach.ts'
import { type Page, pageOf, readMoment, writeCursor } from '../core/cursor.ts'
import { invalidInput } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Channel, Direction, MessageStatus } from '../db/generated/prisma/enums.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { fitting, fittingInto, MOST_TEXT_BYTES } from './page.ts'
import type { MessageWithFiles } from './present.ts'
import { fromRow, type MessageRow, SELECTED } from './row.ts'
import { asPhrases, foundIn } from './search.ts'

export interface MessageFilter {
  channel?: Channel | undefined
  direction?: Direction | undefined
  status?: MessageStatus | undefined
  /** The id of any message of the thread. */
  thread?: string | undefined
  /** Words to find in subject, text and counterpart, as a search box takes them: `"a phrase"`, `or`, `-without`. */
  q?: string | undefined
  since?: Date | undefined
  until?: Date | undefined
}

export interface PageRequest {
  limit: number
  cursor?: string | undefined
}

const threadIdOf = async ({ prisma }: Db, agentId: string, messageId: string): Promise<string> => {
  const message = await prisma.message.findFirst({ where: { id: messageId, agentId }, select: { threadId: true } })
  if (!message) throw invalidInput('thread', 'is no message of this agent')
  return message.threadId
}

/** Conditions with their values, numbered as they are added. */
class Conditions {
  readonly values: unknown[] = []
  readonly #all: string[] = []

  /** `condition` has a `?` for each of the values. */
  add(condition: string, ...values: unknown[]): void {
    let next = this.values.length
    this.#all.push(condition.replace(/\?/g, () => `$${++next}`))
    this.values.push(...values)
  }

  /** Only messages of the agent in which `q` is found. */
  search(agentId: string, q: string): void {
    const next = this.values.push(agentId, asPhrases(q))
    this.#all.push(`m.id in (${foundIn(`$${next - 1}::uuid`, `$${next}`)})`)
  }

  toString(): string {
    return this.#all.join(' and ')
  }
}

const conditionsOf = async (db: Db, agentId: string, filter: MessageFilter, cursor: string | undefined): Promise<Conditions> => {
  const { channel, direction, status, thread, q, since, until } = filter
  const conditions = new Conditions()
  conditions.add('m.agent_id = ?', agentId)
  if (channel) conditions.add('m.channel = ?::"Channel"', channel)
  if (direction) conditions.add('m.direction = ?::"Direction"', direction)
  if (status) conditions.add('m.status = ?::"MessageStatus"', status)
  if (thread) conditions.add('m.thread_id = ?::uuid', await threadIdOf(db, agentId, thread))
  if (q) conditions.search(agentId, q)
  if (since) conditions.add('m.created_at >= ?::timestamptz', since)
  if (until) conditions.add('m.created_at <= ?::timestamptz', until)
  if (cursor !== undefined) conditions.add('(m.created_at, m.id) < (?::timestamptz, ?::uuid)', ...readMoment(cursor))
  return conditions
}

/** The agent's messages, newest first (of one millisecond by id), a page at a time. */
export const listMessages = async (
  deps: Db,
  viewer: Viewer,
  agentId: string,
  filter: MessageFilter,
  { limit, cursor }: PageRequest,
): Promise<Page<MessageWithFiles>> => {
  await findAgent(deps, viewer, agentId)
  const conditions = await conditionsOf(deps, agentId, filter, cursor)
  const read = `select m.* from message m where ${conditions} order by m.created_at desc, m.id desc limit ${limit + 1}`
  const { rows } = await deps.pool.query<MessageRow & { past: boolean }>(
    `select ${SELECTED}, m.past from ${fittingInto(MOST_TEXT_BYTES, read)} order by m.created_at desc, m.id desc`,
    conditions.values,
  )
  return pageOf(rows.map(fromRow), fitting(rows, limit), ({ createdAt, id }) => writeCursor(createdAt.getTime(), id))
}
