import type { Db } from '../../db/client.ts'
import type { Message } from '../../db/generated/prisma/client.ts'

/**
 * The topic on which every process hears that a message is on its way or its status moved; the key is
 * `agentId/messageId`.
 */
export const MESSAGE_CHANGED = 'message_changed'

/** The status of each of these messages, of those that are (still) there. */
export const readStatuses = (
  { prisma }: Db,
  ids: readonly string[],
): Promise<Pick<Message, 'id' | 'agentId' | 'status'>[]> =>
  prisma.message.findMany({
    where: { id: { in: [...ids] } },
    select: { id: true, agentId: true, status: true },
  })
