import type { DbBatch } from '../../db/batch.ts'
import type { Db } from '../../db/client.ts'
import type { Message } from '../../db/generated/prisma/client.ts'
import { sql } from '../../db/sql/sql.ts'
import type { Viewer } from '../../workspace/index.ts'
import type { MessageWithFiles } from '../stored/row.ts'
import { type Asked, byIds, createReads, ensureReadable, type Found } from './read.ts'

/** A summary of another message in the conversation. */
export type Sibling = Pick<Message, 'id' | 'direction' | 'status' | 'counterpart'> & { createdAt: string }

/** Maximum number of other messages returned. */
const MAX = 10

/**
 * The inner table is aliased, because `message` is the row that was read. It reads two more than the maximum:
 * the message itself, and one that shows whether there are more.
 */
const NEWEST = sql`
  left join lateral (
    select json_agg(json_build_object('id', n.id, 'direction', n.direction, 'status', n.status, 'counterpart', n.counterpart,
                                      'createdAt', n.created_at) order by n.created_at desc, n.id desc) as siblings
      from (select o.id, o.direction, o.status, o.counterpart, o.created_at from message o
             where o.agent_id = message."agentId" and o.thread_id = message."threadId"
             order by o.created_at desc, o.id desc limit ${MAX + 2}) n
  ) s on true`

type FoundInThread = Found & { siblings: Sibling[] | null }

/** Collects reads of messages with their conversations into batches that share a round trip. */
export type ThreadReads = DbBatch<Asked, FoundInThread>

export const createThreadReads = (db: Db): ThreadReads =>
  createReads<FoundInThread>(db, byIds('messages in threads by id', sql`, s.siblings`, NEWEST))

export interface InThread {
  message: MessageWithFiles
  /** The newest other messages of the conversation, newest first. */
  others: Sibling[]
  more: boolean
}

/**
 * Reads one message of the agent with the newest other messages of its conversation. Throws like
 * `readMessage`.
 */
export const readInThread = async (
  deps: Db & { threadReads: ThreadReads },
  viewer: Viewer,
  agentId: string,
  messageId: string,
): Promise<InThread> => {
  const { siblings, ...found } = await deps.threadReads.add(deps, { agentId, messageId })
  const message = ensureReadable(viewer, agentId, found)
  const others = (siblings ?? []).filter(({ id }) => id !== message.id)
  return { message, others: others.slice(0, MAX), more: others.length > MAX }
}
