import { domainToASCII } from 'node:url'
import { getDomain } from 'tldts'

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
const LOOKUP_NAME = /^(?=.{1,253}\.?$)(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?$/i

/**
 * Converts a name to a hostname in lower-case A-labels (UTS 46: `ＭÜNCHEN。de` is `xn--mnchen-3ya.de`). Null if
 * it is not a hostname: an IP address or literal, an empty or overlong label, a trailing dot, or any other
 * character.
 */
export function toHostname(name: string): string | null {
  if (name.length > 1_000) return null
  if (/^[\0-\x7f]*$/.test(name)) return asHostname(name.toLowerCase())
  return FOREIGN.test(name) ? asHostname(domainToASCII(name)) : null
}

// Only names with an A-label are passed to domainToASCII, which checks that they can be decoded: it would
// convert `127.1` to an IPv4 address.
function asHostname(name: string): string | null {
  if (!HOSTNAME.test(name) || ENDS_AS_IP_ADDRESS.test(name)) return null
  return /(?:^|\.)xn--/.test(name) && domainToASCII(name) !== name ? null : name
}

/**
 * Converts an ASCII hostname to lower case; null if it is not one. Nothing is mapped, because it is queried
 * in DNS as is.
 */
export const plainHostname = (name: string): string | null =>
  /^[\0-\x7f]*$/.test(name) ? toHostname(name) : null

/**
 * Whether the name may be queried in DNS: letters, digits, hyphens and underscores between single dots, with
 * an optional trailing dot.
 */
export const isLookupName = (name: string): boolean => LOOKUP_NAME.test(name)

/**
 * Returns the registered domain: `example.co.uk` for `mail.example.co.uk`. A public suffix is returned
 * unchanged. Accepts only hostnames.
 */
export const organizationalDomain = (hostname: string): string =>
  getDomain(hostname, { extractHostname: false, allowIcannDomains: true, allowPrivateDomains: true }) ??
  hostname

/**
 * Checks identifier alignment (RFC 7489 3.1): the same hostname, or in relaxed mode the same organizational
 * domain. Null is aligned with nothing.
 */
export function isAligned(from: string | null, domain: string | null, strict: boolean): boolean {
  if (from === null || domain === null) return false
  return from === domain || (!strict && organizationalDomain(from) === organizationalDomain(domain))
}
