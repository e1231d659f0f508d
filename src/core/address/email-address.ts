import { invalidInput } from '../errors.ts'
import { lowerCase } from '../text/lower-case.ts'
import { toHostname } from './hostname.ts'

// RFC 5321 4.5.3.1: 64 octets before the @, 255 after it; 254 in total (RFC 3696 errata 1690).
const MAX_LOCAL = 64
const MAX_ADDRESS = 254
const LOCAL_PART = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u

/**
 * The canonical form in which email addresses are stored and compared: the result of `spell` in lower case.
 * Throws `invalid_input`.
 */
export const normalize = (recipient: string): string => lowerCase(spell(recipient))

/** NFC, but of nothing that it would turn into ASCII: the Kelvin sign is no K, and a Greek mark no backtick. */
const composed = (local: string): string =>
  local.replace(/[^\u037e\u1fef\u212a]+/g, (part) => part.normalize('NFC'))

/**
 * The form of an email address that mail is sent to. The case of the local part is preserved because only the
 * receiving server knows whether it matters (RFC 5321 2.4). The domain is lower-case ASCII (`münchen.de`
 * becomes `xn--mnchen-3ya.de`), so that lookalike scripts do not compare equal and the domain can be used in
 * DNS queries as is. Accepts exactly one addr-spec: no display name, list, quoted local part or line break.
 * Throws `invalid_input` naming the violated rule.
 */
export function spell(recipient: string): string {
  if (/\p{Cc}/u.test(recipient))
    throw invalidInput('to', 'an email address has no line breaks or control characters')
  const address = recipient.trim()
  if (/[,;<>]/.test(address))
    throw invalidInput('to', 'give one bare email address each, without a name, a list or angle brackets')
  if (/["()\\\s]/.test(address))
    throw invalidInput('to', 'an email address has no quotes, comments, backslashes or spaces')
  const at = address.lastIndexOf('@')
  if (at < 1 || at !== address.indexOf('@'))
    throw invalidInput('to', 'an email address has one @ with something on both sides')
  const local = composed(address.slice(0, at))
  if (!LOCAL_PART.test(local))
    throw invalidInput(
      'to',
      "the part before the @ is letters, digits and !#$%&'*+/=?^_`{|}~- between single dots",
    )
  if (Buffer.byteLength(local) > MAX_LOCAL)
    throw invalidInput('to', `the part before the @ is at most ${MAX_LOCAL} bytes`)
  const domain = toHostname(address.slice(at + 1))
  if (domain === null) throw invalidInput('to', 'the part after the @ is a domain name')
  if (local.length + 1 + domain.length > MAX_ADDRESS)
    throw invalidInput('to', `an email address is at most ${MAX_ADDRESS} characters`)
  return `${local}@${domain}`
}

/**
 * Normalizes an address from a received header or envelope as far as `normalize` allows; unnecessary quotes
 * around the local part are removed. Never throws; returns '' if the text is not an address.
 */
export function normalizeLoosely(address: string): string {
  const bare = unquote(address.trim())
  try {
    return normalize(bare)
  } catch {
    const [, local, domain] = /^([^@\s\p{Cc}]+)@([^@\s\p{Cc}]+)$/u.exec(bare) ?? []
    if (local === undefined || domain === undefined || bare.length > 320) return ''
    return `${lowerCase(local)}@${toHostname(domain) ?? lowerCase(domain)}`.toWellFormed()
  }
}

/**
 * Normalizes what people give to find an address that may be stored, which need not be one: the id of a chat, or
 * `*@example.com` for a domain.
 */
export const normalizeGiven = (address: string): string =>
  normalizeLoosely(address) || lowerCase(address.trim())

/** Returns an address from a received header as `spell` would, or null if mail cannot be sent to it. */
export function spellLoosely(address: string): string | null {
  try {
    return spell(unquote(address.trim()))
  } catch {
    return null
  }
}

/** An address without its plus-tag: mail to `ann+x@` reaches `ann@` unless an agent has exactly `ann+x@`. */
export const withoutTag = (address: string): string => {
  const [tag, at] = [address.indexOf('+'), address.lastIndexOf('@')]
  return tag < 1 || at < tag ? address : address.slice(0, tag) + address.slice(at)
}

/** The part after the last @, or '' if there is none. */
export const domainOf = (address: string): string =>
  address.slice(address.lastIndexOf('@') + 1 || address.length)

function unquote(address: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"(@[^@]+)$/.exec(address)
  return quoted ? (quoted[1] ?? '').replace(/\\(.)/g, '$1') + (quoted[2] ?? '') : address
}
