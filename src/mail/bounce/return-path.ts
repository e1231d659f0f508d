import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'

const PREFIX = 'bounce-'
const ID_BYTES = 16
/** 80 bits cannot be guessed by trying recipients at RCPT. Hexadecimal survives servers that fold case. */
const MAC_BYTES = 10
/** Number of recipients that one octet can identify. A message has at most 110. */
const MAX_RECIPIENTS = 256

/** The message and recipient that a return path belongs to. */
export interface ReturnAddress {
  messageId: string
  /**
   * Zero-based position of the recipient in To, Cc and Bcc. Null for paths in the earlier format, which
   * all recipients of a message shared.
   */
  recipient: number | null
}

/**
 * Return paths, one for each recipient of each message (VERP). Mail to such a path is trusted to be about
 * that message and recipient only, because nobody but that recipient has seen the path.
 */
export interface ReturnPaths {
  /** Returns the reverse path of a message, given its id (a UUID) and the position of the recipient. */
  of(messageId: string, recipient: number): string
  /** Returns what a normalized address was issued for, or null if it is not a return path. */
  read(address: string): ReturnAddress | null
}

/**
 * Creates return paths on `mailDomain`, signed with the first of `keys` and verified with any of them. A path
 * cannot be forged, nor can one recipient derive another's. The local part takes 61 of the 64 octets allowed
 * (RFC 5321 4.5.3.1.1).
 */
export function createReturnPaths(keys: readonly Uint8Array[], mailDomain: string): ReturnPaths {
  const known = keys.map((key) => createSecretKey(key))
  const macOf = (key: KeyObject, payload: Uint8Array) =>
    createHmac('sha256', key).update(payload).digest().subarray(0, MAC_BYTES)
  const digits = (bytes: number) => `[0-9a-f]{${2 * bytes}}`
  const form = new RegExp(`^${PREFIX}((?:${digits(ID_BYTES)})(?:${digits(1)})?)(${digits(MAC_BYTES)})$`)
  return {
    of(messageId, recipient) {
      if (recipient < 0 || recipient >= MAX_RECIPIENTS)
        throw new RangeError(`There is no return path for recipient ${recipient}.`)
      const payload = Buffer.from([...Buffer.from(messageId.replaceAll('-', ''), 'hex'), recipient])
      return `${PREFIX}${Buffer.concat([payload, macOf(known[0]!, payload)]).toString('hex')}@${mailDomain}`
    },
    read(address) {
      const at = address.lastIndexOf('@')
      const found = form.exec(address.slice(0, at))
      if (found === null || address.slice(at + 1) !== mailDomain) return null
      const [payload, mac] = [Buffer.from(found[1]!, 'hex'), Buffer.from(found[2]!, 'hex')]
      if (!known.some((key) => timingSafeEqual(mac, macOf(key, payload)))) return null
      return { messageId: uuidOf(payload.subarray(0, ID_BYTES)), recipient: payload[ID_BYTES] ?? null }
    },
  }
}

/**
 * Shortens a return path for the log: anyone who has seen a complete one could report its message as bounced.
 */
export const loggable = (address: string): string =>
  address.replace(new RegExp(`^(${PREFIX}[0-9a-f]{${2 * ID_BYTES}})[0-9a-f]+@`, 'i'), '$1…@')

const uuidOf = (id: Buffer): string =>
  id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
