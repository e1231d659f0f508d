import type { Prisma } from '../../db/generated/prisma/client.ts'

/** What was said of the recipients that it did not reach, as the message's `error` says it. */
export const errorOf = (
  failed: readonly { recipient: string; reason: string }[],
  recipients: number,
): string =>
  failed.map(({ recipient, reason }) => (recipients === 1 ? reason : `${recipient}: ${reason}`)).join('; ')

/**
 * Of two who write about recipients of one message the second waits: else each could take the other's for
 * still on their way.
 */
export const lockMessage = async (tx: Prisma.TransactionClient, messageId: string): Promise<void> => {
  await tx.$queryRaw`select 1 from message where id = ${messageId}::uuid for no key update`
}

/**
 * Moves a message on to what its recipients say: `failed` when one failed, with the words of each that did,
 * `sent` when all were, nothing while one is on its way. Never backwards. Inside the transaction that has
 * locked the message.
 */
export const concludeMessage = async (tx: Prisma.TransactionClient, messageId: string): Promise<void> => {
  const recipients = await tx.recipient.findMany({ where: { messageId }, orderBy: { address: 'asc' } })
  if (recipients.some(({ status }) => status === 'sending')) return
  const failed = recipients
    .filter(({ status }) => status === 'failed')
    .map(({ address, detail }) => ({ recipient: address, reason: detail ?? 'not delivered' }))
  const error = failed.length > 0 ? errorOf(failed, recipients.length) : null
  await tx.message.updateMany({
    where: {
      id: messageId,
      status: { in: error === null ? ['sending', 'sent'] : ['sending', 'sent', 'failed'] },
    },
    data: { status: error === null ? 'sent' : 'failed', error },
  })
}
