import { domainToASCII } from 'node:url'
import { getDomain } from 'tldts'

// RFC 1123 2.1 with the underscores that some hosts have, none of them in the last label; 253 characters (RFC
// 1035 2.3.4).
const HOSTNAME =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const ENDS_AS_IP_ADDRESS = /(?:^|\.)\d+$/
/**
 * What a name may hold besides letters of other scripts: domainToASCII decodes `%2e` and ends at `/`, `?` and
 * `#`.
 */
const FOREIGN = /^[a-z0-9._\u0080-\u{10ffff}-]+$/iu
const LOOKUP_NAME = /^(?=.{1,253}\.?$)(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?$/i

/**
 * A hostname in lower-case A-labels (UTS 46: `ＭÜNCHEN。de` is `xn--mnchen-3ya.de`), or null for what is none:
 * an IP address or its literal, an empty or overlong label, a dot at the end, any other character.
 */
export function toHostname(name: string): string | null {
  if (name.length > 1_000) return null
  if (/^[\0-\x7f]*$/.test(name)) return asHostname(name.toLowerCase())
  return FOREIGN.test(name) ? asHostname(domainToASCII(name)) : null
}

// domainToASCII reads `127.1` as an IPv4 address, so that only names with an A-label pass through it, which
// have to decode.
function asHostname(name: string): string | null {
  if (!HOSTNAME.test(name) || ENDS_AS_IP_ADDRESS.test(name)) return null
  return /(?:^|\.)xn--/.test(name) && domainToASCII(name) !== name ? null : name
}

/**
 * A hostname that is written in ASCII already, in lower case; null for what is none. Nothing is mapped: DNS
 * is asked as it stands.
 */
export const plainHostname = (name: string): string | null =>
  /^[\0-\x7f]*$/.test(name) ? toHostname(name) : null

/**
 * Whether DNS may be asked for it: letters, digits, hyphens and underscores between single dots, perhaps one
 * at the end.
 */
export const isLookupName = (name: string): boolean => LOOKUP_NAME.test(name)

/**
 * The domain that was registered: `mail.example.co.uk` is `example.co.uk`'s. A public suffix is its own.
 * Takes a hostname, nothing else.
 */
export const organizationalDomain = (hostname: string): string =>
  getDomain(hostname, { extractHostname: false, allowIcannDomains: true, allowPrivateDomains: true }) ??
  hostname

/**
 * Identifier alignment (RFC 7489 3.1): the same hostname, or in relaxed mode the same organizational domain.
 * Null aligns with nothing.
 */
export function isAligned(from: string | null, domain: string | null, strict: boolean): boolean {
  if (from === null || domain === null) return false
  return from === domain || (!strict && organizationalDomain(from) === organizationalDomain(domain))
}
