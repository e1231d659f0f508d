import type { Batch } from '../../db/batch.ts'
import type { Db } from '../../db/client.ts'
import type { Message } from '../../db/generated/prisma/client.ts'
import type { Viewer } from '../../workspace/viewer.ts'
import type { MessageWithFiles } from './present.ts'
import { type Asked, byIds, createReads, ensureReadable, type Found } from './read.ts'

/** As much of a message as tells that it belongs to a conversation. */
export type Sibling = Pick<Message, 'id' | 'direction' | 'status' | 'counterpart'> & { createdAt: string }

/** How many others of a conversation are told, and one more that tells whether there are. */
const MAX = 10

/** The table has a name of its own in it, for `message` is the one that was read. */
const NEWEST = `
  left join lateral (
    select json_agg(json_build_object('id', n.id, 'direction', n.direction, 'status', n.status, 'counterpart', n.counterpart,
                                      'createdAt', n.created_at) order by n.created_at desc, n.id desc) as siblings
      from (select o.id, o.direction, o.status, o.counterpart, o.created_at from message o
             where o.agent_id = message.agent_id and o.thread_id = message.thread_id
             order by o.created_at desc, o.id desc limit ${MAX + 2}) n
  ) s on true`

type FoundInThread = Found & { siblings: Sibling[] | null }

/** Where reads of messages with their conversations gather: those asked at once share a round trip. */
export type ThreadReads = Batch<Asked, FoundInThread>

export const createThreadReads = (db: Db): ThreadReads =>
  createReads<FoundInThread>(db, byIds('messages in threads by id', ', s.siblings', NEWEST))

export interface InThread {
  message: MessageWithFiles
  /** The newest others of its conversation, newest first, and whether there are more. */
  others: Sibling[]
  more: boolean
}

/** One message of the agent, with the newest others of its conversation. Throws like `readMessage`. */
export const readInThread = async (
  { threadReads }: { threadReads: ThreadReads },
  viewer: Viewer,
  agentId: string,
  messageId: string,
): Promise<InThread> => {
  const found = await threadReads.add({ agentId, messageId })
  const message = ensureReadable(viewer, agentId, found)
  const others = (found.siblings ?? []).filter(({ id }) => id !== message.id)
  return { message, others: others.slice(0, MAX), more: others.length > MAX }
}
