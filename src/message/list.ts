import { findAgent } from '../agent/reach.ts'
import { type Page, pageOf, readCursor, writeCursor } from '../core/cursor.ts'
import { invalidInput, notFound } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'
import type { Channel, Direction, MessageStatus } from '../db/generated/prisma/enums.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { type MessageWithFiles, withFiles } from './present.ts'

export interface MessageFilter {
  channel?: Channel | undefined
  direction?: Direction | undefined
  status?: MessageStatus | undefined
  /** The id of any message of the thread. */
  thread?: string | undefined
  since?: Date | undefined
  until?: Date | undefined
}

export interface PageRequest {
  limit: number
  cursor?: string | undefined
}

/** Newest first; messages of the same millisecond by id. */
const NEWEST_FIRST = [{ createdAt: 'desc' }, { id: 'desc' }] as const satisfies Prisma.MessageOrderByWithRelationInput[]

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const before = (cursor: string): Prisma.MessageWhereInput => {
  const [time, id] = readCursor(cursor, 2)
  const createdAt = new Date(time as number)
  if (typeof id !== 'string' || !UUID.test(id) || Number.isNaN(createdAt.getTime()))
    throw invalidInput('cursor', 'is not one that this list gave')
  return { OR: [{ createdAt: { lt: createdAt } }, { createdAt, id: { lt: id } }] }
}

const threadIdOf = async ({ prisma }: Db, agentId: string, messageId: string): Promise<string> => {
  const message = await prisma.message.findFirst({ where: { id: messageId, agentId }, select: { threadId: true } })
  if (!message) throw invalidInput('thread', 'is no message of this agent')
  return message.threadId
}

const whereOf = async (db: Db, agentId: string, filter: MessageFilter): Promise<Prisma.MessageWhereInput> => {
  const { channel, direction, status, thread, since, until } = filter
  return {
    agentId,
    ...(channel && { channel }),
    ...(direction && { direction }),
    ...(status && { status }),
    ...(thread && { threadId: await threadIdOf(db, agentId, thread) }),
    ...((since || until) && { createdAt: { ...(since && { gte: since }), ...(until && { lte: until }) } }),
  }
}

/** The agent's messages, newest first, a page at a time. */
export const listMessages = async (
  deps: Db,
  viewer: Viewer,
  agentId: string,
  filter: MessageFilter,
  { limit, cursor }: PageRequest,
): Promise<Page<MessageWithFiles>> => {
  await findAgent(deps, viewer, agentId)
  const where = await whereOf(deps, agentId, filter)
  const messages = await deps.prisma.message.findMany({
    where: cursor ? { AND: [where, before(cursor)] } : where,
    orderBy: NEWEST_FIRST,
    take: limit + 1,
    include: withFiles,
  })
  return pageOf(messages, limit, ({ createdAt, id }) => writeCursor(createdAt.getTime(), id))
}

/** One message of the agent. */
export const readMessage = async (deps: Db, viewer: Viewer, agentId: string, messageId: string): Promise<MessageWithFiles> => {
  await findAgent(deps, viewer, agentId)
  const message = await deps.prisma.message.findFirst({ where: { id: messageId, agentId }, include: withFiles })
  if (!message) throw notFound('message')
  return message
}

/** The email as it came, byte for byte. Throws `not_found` for a message that has no such form. */
export const readRaw = async (deps: Db, viewer: Viewer, agentId: string, messageId: string): Promise<Uint8Array> => {
  await readMessage(deps, viewer, agentId, messageId)
  const raw = await deps.prisma.messageRaw.findUnique({ where: { messageId } })
  if (!raw) throw notFound('raw message')
  return raw.content
}

/** One attachment with its content. */
export const readAttachment = async (deps: Db, viewer: Viewer, agentId: string, messageId: string, index: number) => {
  await readMessage(deps, viewer, agentId, messageId)
  const attachment = await deps.prisma.attachment.findUnique({ where: { messageId_index: { messageId, index } } })
  if (!attachment) throw notFound('attachment')
  return attachment
}
