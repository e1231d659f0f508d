import { createHmac } from 'node:crypto'

/**
 * Returns a return path in the older form, which all recipients of a message share: mail already sent with it
 * may still bounce.
 */
export const sharedPath = (messageId: string, key: Uint8Array, mailDomain: string): string => {
  const id = Buffer.from(messageId.replaceAll('-', ''), 'hex')
  const mac = createHmac('sha256', key).update(id).digest().subarray(0, 10)
  return `bounce-${Buffer.concat([id, mac]).toString('hex')}@${mailDomain}`
}
