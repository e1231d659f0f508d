import type { Message, Recipient } from '../../db/generated/prisma/client.ts'

/** Formats the failure reasons of recipients as the message's `error`. */
export const errorOf = (
  failed: readonly { recipient: string; reason: string }[],
  recipients: number,
): string =>
  failed.map(({ recipient, reason }) => (recipients === 1 ? reason : `${recipient}: ${reason}`)).join('; ')

/** What is known of one recipient of a message. */
export type RecipientState = Pick<Recipient, 'address' | 'status' | 'detail'>

/** The columns of a message of which all recipients are final. */
export type Conclusion = Pick<Message, 'error'> & { status: 'sent' | 'failed' }

/**
 * Returns what becomes of a message: `failed` when one of its recipients failed, with all reasons in the order of the
 * recipients; `sent` when all were sent; null while one is in progress.
 */
export const conclusionOf = (recipients: readonly RecipientState[]): Conclusion | null => {
  if (recipients.length === 0 || recipients.some(({ status }) => status === 'sending')) return null
  const failed = recipients.filter(({ status }) => status === 'failed')
  if (failed.length === 0) return { status: 'sent', error: null }
  const reasons = failed.map(({ address, detail }) => ({
    recipient: address,
    reason: detail ?? 'not delivered',
  }))
  return { status: 'failed', error: errorOf(reasons, recipients.length) }
}
