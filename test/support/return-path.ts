import { createHmac } from 'node:crypto'

/**
 * A return path as messages had it when all of their recipients shared one: what is under way with it may
 * still come back.
 */
export const sharedPath = (messageId: string, key: Uint8Array, mailDomain: string): string => {
  const id = Buffer.from(messageId.replaceAll('-', ''), 'hex')
  const mac = createHmac('sha256', key).update(id).digest().subarray(0, 10)
  return `bounce-${Buffer.concat([id, mac]).toString('hex')}@${mailDomain}`
}
