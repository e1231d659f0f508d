import type { Message, Prisma } from '../../db/generated/prisma/client.ts'

/** Formats the failure reasons of recipients as the message's `error`. */
export const errorOf = (
  failed: readonly { recipient: string; reason: string }[],
  recipients: number,
): string =>
  failed.map(({ recipient, reason }) => (recipients === 1 ? reason : `${recipient}: ${reason}`)).join('; ')

type MessageKey = Pick<Message, 'id' | 'agentId'>

/**
 * Serializes updates of one message's recipients: otherwise two concurrent updates could each see the other's
 * recipient as still in progress.
 */
export const lockMessage = async (
  tx: Prisma.TransactionClient,
  { id, agentId }: MessageKey,
): Promise<void> => {
  await tx.$queryRaw`
    select 1 from message where id = ${id}::uuid and agent_id = ${agentId}::uuid for no key update`
}

/**
 * Updates a message's status from its recipients: `failed` when one failed, with the reasons; `sent` when all
 * were sent; unchanged while one is in progress. Never reverts a later status. Must run in the transaction
 * that has locked the message.
 */
export const concludeMessage = async (
  tx: Prisma.TransactionClient,
  { id, agentId }: MessageKey,
): Promise<void> => {
  const recipients = await tx.recipient.findMany({
    where: { messageId: id, agentId },
    orderBy: { address: 'asc' },
  })
  if (recipients.some(({ status }) => status === 'sending')) return
  const failed = recipients
    .filter(({ status }) => status === 'failed')
    .map(({ address, detail }) => ({ recipient: address, reason: detail ?? 'not delivered' }))
  const error = failed.length > 0 ? errorOf(failed, recipients.length) : null
  await tx.message.updateMany({
    where: {
      id,
      agentId,
      status: { in: error === null ? ['sending', 'sent'] : ['sending', 'sent', 'failed'] },
    },
    data: { status: error === null ? 'sent' : 'failed', error },
  })
}
