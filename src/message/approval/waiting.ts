import { notFound } from '../../core/errors.ts'
import type { Message, Prisma } from '../../db/generated/prisma/client.ts'
import type { LoggedEvent } from '../../event/index.ts'
import type { MessageWithFiles } from '../stored/row.ts'
import { logOutcome } from '../stored/status.ts'

/** Returns an outgoing message of the agent. Throws `not_found`. */
export const findOutgoing = async (
  tx: Pick<Prisma.TransactionClient, 'message'>,
  { agentId, messageId }: { agentId: string; messageId: string },
): Promise<Message & MessageWithFiles> => {
  const message = await tx.message.findFirst({
    where: { id: messageId, agentId, direction: 'outbound' },
    include: { attachments: { select: { name: true, type: true, size: true }, orderBy: { index: 'asc' } } },
  })
  if (!message) throw notFound('outgoing message')
  const attachments = message.attachments.map((file) => ({ ...file, type: file.type.split(';', 1)[0]! }))
  return { ...message, attachments, mayInstruct: false }
}

/**
 * Ends a message that waits, in the transaction that has locked it: it is not sent. Returns the event, if it
 * raised one, to be announced after the commit.
 */
export const failWaiting = async (
  tx: Prisma.TransactionClient,
  { id, agentId }: Pick<Message, 'id' | 'agentId'>,
  { error, by, now }: { error: string; by: string | null; now: Date },
): Promise<LoggedEvent[]> => {
  await tx.recipient.updateMany({
    where: { messageId: id, agentId, status: 'sending' },
    data: { status: 'failed', detail: error },
  })
  await tx.message.update({
    where: { id_agentId: { id, agentId } },
    data: { status: 'failed', error, holdUntil: null, holdBy: by },
  })
  return logOutcome(tx, { id, agentId }, now)
}
