import { invalidInput } from '../../core/errors.ts'
import { replaceUnstorable } from '../sanitize-text.ts'
import { toHostname } from './verify/hostname.ts'

// RFC 5321 4.5.3.1: 64 octets before the at-sign, 255 after it, and 254 in all (RFC 3696 errata 1690).
const MAX_LOCAL = 64
const MAX_ADDRESS = 254
const LOCAL_PART = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u

/**
 * The one spelling under which an email address is stored and compared: that of `spell` in lower case. Throws
 * `invalid_input`.
 */
export const normalize = (recipient: string): string => spell(recipient).toLowerCase()

/**
 * An email address as mail is sent to it: the local part in its own case (only its server knows whether that
 * matters, RFC 5321 2.4), the domain in lower-case ASCII (`münchen.de` becomes `xn--mnchen-3ya.de`, so that
 * two scripts that look the same don't compare the same, and DNS can be asked as it stands). Takes exactly
 * one addr-spec: no name, no list, no quoted local part, no line break. Throws `invalid_input` naming the
 * rule.
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
  const local = address.slice(0, at).normalize('NFC')
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
 * What a stranger's header or envelope calls an address, in the spelling of `normalize` as far as it has one:
 * a quoted local part that needs no quotes loses them. Never throws; '' for what is no address.
 */
export function normalizeLoosely(address: string): string {
  const bare = unquote(address.trim())
  try {
    return normalize(bare)
  } catch {
    return /^[^@\s\p{Cc}]+@[^@\s\p{Cc}]+$/u.test(bare) && bare.length <= 320
      ? replaceUnstorable(bare.toLowerCase())
      : ''
  }
}

/**
 * What a stranger's header calls an address, in the spelling of `spell`; null for what mail can't be sent to.
 */
export function spellLoosely(address: string): string | null {
  try {
    return spell(unquote(address.trim()))
  } catch {
    return null
  }
}

/**
 * The addresses that a `RCPT TO` may mean, best first: as written, then without its plus-tag (`bot+x@d`
 * reaches `bot@d` unless `bot+x@d` is somebody's own). `"bot"@d` is `bot@d`. Empty when it is no address that
 * we could have.
 */
export function recipientCandidates(recipient: string): string[] {
  const address = normalizeLoosely(recipient.replace(/^<?@[^:]*:/, '').replace(/>$/, ''))
  if (address === '') return []
  const [local = '', domain = ''] = address.split('@')
  const plus = local.indexOf('+')
  return plus > 0 ? [address, `${local.slice(0, plus)}@${domain}`] : [address]
}

/** The first of the candidates that somebody has; null when nobody has any. */
export async function firstAccepted(
  recipient: string,
  accepts: (address: string) => Promise<boolean>,
): Promise<string | null> {
  for (const candidate of recipientCandidates(recipient)) if (await accepts(candidate)) return candidate
  return null
}

/**
 * Whether a list's entry (`ann@example.com`, or `*@example.com` for a domain without its subdomains) means
 * this normalized address.
 */
export function matches(entry: string, address: string): boolean {
  if (address === '') return false
  const wanted = entry.trim()
  if (wanted.startsWith('*@'))
    return domainOf(address) !== '' && toHostname(wanted.slice(2)) === domainOf(address)
  return normalizeLoosely(wanted) === address
}

/** What stands after the last at-sign; '' when there is none. */
export const domainOf = (address: string): string =>
  address.slice(address.lastIndexOf('@') + 1 || address.length)

function unquote(address: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"(@[^@]+)$/.exec(address)
  return quoted ? (quoted[1] ?? '').replace(/\\(.)/g, '$1') + (quoted[2] ?? '') : address
}
