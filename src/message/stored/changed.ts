import type { Db } from '../../db/client.ts'

/**
 * Notification topic: a message was queued for sending, or its status, hold, labels or read mark changed. The key is `agentId/messageId`.
 */
export const MESSAGE_CHANGED = 'message_changed'

/** What subscribers hear changes of. */
export interface MessageState {
  id: string
  agentId: string
  /** Differs after each change. */
  state: string
  /** Whether the message is being sent, so that its state will change again. */
  sending: boolean
}

/** Returns the state of those of these messages that (still) exist. */
export const readStates = async ({ prisma }: Db, ids: readonly string[]): Promise<MessageState[]> => {
  const found = await prisma.message.findMany({
    where: { id: { in: [...ids] } },
    select: {
      ...{ id: true, agentId: true, status: true, labels: true, readAt: true },
      ...{ holdReason: true, holdUntil: true, holdBy: true },
    },
  })
  return found.map(({ id, agentId, ...state }) => ({
    id,
    agentId,
    state: JSON.stringify(state),
    sending: state.status === 'sending',
  }))
}
