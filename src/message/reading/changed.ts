import type { Db } from '../../db/client.ts'
import type { Message } from '../../db/generated/prisma/client.ts'

/**
 * Notification topic: a message was queued for sending or its status changed. The key is `agentId/messageId`.
 */
export const MESSAGE_CHANGED = 'message_changed'

/** Returns the status of those of these messages that (still) exist. */
export const readStatuses = (
  { prisma }: Db,
  ids: readonly string[],
): Promise<Pick<Message, 'id' | 'agentId' | 'status'>[]> =>
  prisma.message.findMany({
    where: { id: { in: [...ids] } },
    select: { id: true, agentId: true, status: true },
  })
