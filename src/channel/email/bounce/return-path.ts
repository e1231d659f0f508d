import { createHmac, timingSafeEqual } from 'node:crypto'

const PREFIX = 'bounce-'
const ID_BYTES = 16
/**
 * 80 bits: nobody finds one by trying at RCPT. Hexadecimal, so that a server that folds case breaks nothing.
 */
const MAC_BYTES = 10
/** As many recipients as one octet can number. A message has at most 60. */
const MAX_RECIPIENTS = 256

/** Whose return path an address is. */
export interface ReturnAddress {
  messageId: string
  /**
   * The recipient's place among To and then Cc, from 0. Null: a path that all recipients shared, as they were
   * made before.
   */
  recipient: number | null
}

/**
 * A return path for each recipient of each message (VERP): what comes back to it can be believed to be about
 * a message of ours, and about nobody but that recipient, who alone has seen it.
 */
export interface ReturnPaths {
  /** The reverse path of a message, by its id (a UUID), to the recipient at this place. */
  of(messageId: string, recipient: number): string
  /** Whose this (normalized) address is; null for every address that is no return path. */
  read(address: string): ReturnAddress | null
}

/**
 * Return paths on `mailDomain`, signed with the first of `keys` and known by all of them: who has not seen
 * one cannot make one, nor that of another recipient from their own. 61 octets before the at-sign, of the 64
 * that there may be (RFC 5321 4.5.3.1.1).
 */
export function createReturnPaths(keys: readonly Uint8Array[], mailDomain: string): ReturnPaths {
  const macOf = (key: Uint8Array, named: Uint8Array) =>
    createHmac('sha256', key).update(named).digest().subarray(0, MAC_BYTES)
  const digits = (bytes: number) => `[0-9a-f]{${2 * bytes}}`
  const form = new RegExp(`^${PREFIX}((?:${digits(ID_BYTES)})(?:${digits(1)})?)(${digits(MAC_BYTES)})$`)
  return {
    of(messageId, recipient) {
      if (recipient < 0 || recipient >= MAX_RECIPIENTS)
        throw new RangeError(`There is no return path for recipient ${recipient}.`)
      const named = Buffer.from([...Buffer.from(messageId.replaceAll('-', ''), 'hex'), recipient])
      return `${PREFIX}${Buffer.concat([named, macOf(keys[0]!, named)]).toString('hex')}@${mailDomain}`
    },
    read(address) {
      const at = address.lastIndexOf('@')
      const found = form.exec(address.slice(0, at))
      if (found === null || address.slice(at + 1) !== mailDomain) return null
      const [named, mac] = [Buffer.from(found[1]!, 'hex'), Buffer.from(found[2]!, 'hex')]
      if (!keys.some((key) => timingSafeEqual(mac, macOf(key, named)))) return null
      return { messageId: uuidOf(named.subarray(0, ID_BYTES)), recipient: named[ID_BYTES] ?? null }
    },
  }
}

/**
 * An address as the log may have it: whoever has seen a whole return path can say that its message bounced.
 */
export const loggable = (address: string): string =>
  address.replace(new RegExp(`^(${PREFIX}[0-9a-f]{${2 * ID_BYTES}})[0-9a-f]+@`, 'i'), '$1…@')

const uuidOf = (id: Buffer): string =>
  id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
