import { domainToASCII } from 'node:url'
import punycode from 'punycode.js'

// RFC 1123 2.1, with the underscores that some host names contain except in the last label; at most 253
// characters (RFC 1035 2.3.4).
const HOSTNAME =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const ENDS_AS_IP_ADDRESS = /(?:^|\.)\d+$/
/**
 * Characters allowed in an internationalized name. domainToASCII would decode `%2e` and stop at `/`, `?` and
 * `#`.
 */
const FOREIGN = /^[a-z0-9._\u0080-\u{10ffff}-]+$/iu

/**
 * Converts a name to a hostname in lower-case A-labels (UTS 46: `ＭÜNCHEN。de` is `xn--mnchen-3ya.de`). Null if
 * it is not a hostname: an IP address or literal, an empty or overlong label, a trailing dot, an A-label that
 * stands for no name, or any other character.
 */
export function toHostname(name: string): string | null {
  if (name.length > 1_000) return null
  const isAscii = /^[\0-\x7f]*$/.test(name)
  if (!isAscii && !FOREIGN.test(name)) return null
  // domainToASCII would convert `127.1` to an IPv4 address, and since Node 22 it checks no A-label.
  const ascii = isAscii ? name.toLowerCase() : domainToASCII(name)
  if (!HOSTNAME.test(ascii) || ENDS_AS_IP_ADDRESS.test(ascii)) return null
  return ascii.split('.').every((label) => !label.startsWith('xn--') || isALabel(label)) ? ascii : null
}

/** Invisible, private or unassigned; the joiners have a rule of their own. U+3002 is read as a dot. */
const NOT_IN_LABEL = /(?![\u200c\u200d])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u3002]/u
/** A joiner joins letters only after a mark or in a cursive script (RFC 5892 A.1, A.2). */
const STRAY_JOINER = /(?<![\p{M}\p{Script=Arab}\p{Script=Syrc}\p{Script=Mong}])[\u200c\u200d]/u
const RIGHT_TO_LEFT = /[\p{Script=Hebr}\p{Script=Arab}\p{Script=Syrc}\p{Script=Thaa}\p{Script=Nkoo}]/u
/** RFC 5893 2, for a label with letters of a script that is written from right to left. */
const ONLY_RIGHT_TO_LEFT =
  /^(?=\p{L})(?:\p{M}|\p{N}|[-\u200c\u200d]|[\p{scx=Hebr}\p{scx=Arab}\p{scx=Syrc}\p{scx=Thaa}\p{scx=Nkoo}])+$/u

/**
 * Whether an A-label is the one form of a name in another script (RFC 5891 4.2): it can be decoded, what it
 * stands for is in the form that names are converted to, and encoded again it is the same. Decided here, and not by
 * the runtime, whose versions differ.
 */
function isALabel(label: string): boolean {
  let name: string
  try {
    name = punycode.decode(label.slice(4))
  } catch {
    return false
  }
  return (
    /[^\0-\x7f]/.test(name) &&
    name === name.normalize('NFKC').toLowerCase() &&
    !/^\p{M}/u.test(name) &&
    !NOT_IN_LABEL.test(name) &&
    !STRAY_JOINER.test(name) &&
    (!RIGHT_TO_LEFT.test(name) || ONLY_RIGHT_TO_LEFT.test(name)) &&
    `xn--${punycode.encode(name)}` === label
  )
}
