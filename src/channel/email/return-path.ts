import { createHmac, timingSafeEqual } from 'node:crypto'

const PREFIX = 'bounce-'
const ID_BYTES = 16
/** 80 bits: nobody finds one by trying at RCPT. Hexadecimal, so that a server that folds case breaks nothing. */
const MAC_BYTES = 10

/** Each message's own return path (VERP): what comes back to it can be believed to be about a message of ours, and about which. */
export interface ReturnPaths {
  /** The reverse path of a message, by its id (a UUID). */
  of(messageId: string): string
  /** The id of the message that this (normalized) address was made for; null for every other address. */
  messageOf(address: string): string | null
}

/** Return paths on `mailDomain`, signed with the first of `keys` and known by all of them: who has not seen one cannot make one. */
export function createReturnPaths(keys: readonly Uint8Array[], mailDomain: string): ReturnPaths {
  const macOf = (key: Uint8Array, id: Uint8Array) => createHmac('sha256', key).update(id).digest().subarray(0, MAC_BYTES)
  const form = new RegExp(`^${PREFIX}([0-9a-f]{${2 * (ID_BYTES + MAC_BYTES)}})$`)
  return {
    of(messageId) {
      const id = Buffer.from(messageId.replaceAll('-', ''), 'hex')
      return `${PREFIX}${Buffer.concat([id, macOf(keys[0]!, id)]).toString('hex')}@${mailDomain}`
    },
    messageOf(address) {
      const at = address.lastIndexOf('@')
      const token = form.exec(address.slice(0, at))?.[1]
      if (token === undefined || address.slice(at + 1) !== mailDomain) return null
      const bytes = Buffer.from(token, 'hex')
      const id = bytes.subarray(0, ID_BYTES)
      return keys.some((key) => timingSafeEqual(bytes.subarray(ID_BYTES), macOf(key, id))) ? uuidOf(id) : null
    },
  }
}

/** An address as the log may have it: whoever has seen a whole return path can say that its message bounced. */
export const loggable = (address: string): string =>
  address.replace(new RegExp(`^(${PREFIX}[0-9a-f]{${2 * ID_BYTES}})[0-9a-f]+@`, 'i'), '$1…@')

const uuidOf = (id: Buffer): string => id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
