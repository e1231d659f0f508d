import { getDomain } from 'tldts'
import { toHostname } from '../../core/address/hostname.ts'

const LOOKUP_NAME = /^(?=.{1,253}\.?$)(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?$/i

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

const QUERY_NAME =
  /^(?=.{1,253}\.?$)(?:[ -\-/-~]{1,63}\.)+(?=[a-z0-9-]*[a-z])[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.?$/i

/**
 * Whether SPF may ask DNS for the name: labels of any printable ASCII characters, because macros insert addresses
 * (`bounce+ann=example.org`), below a top-level domain (RFC 7208 4.3).
 */
export const isQueryName = (name: string): boolean => QUERY_NAME.test(name)

/**
 * Returns the domain below the public suffix, which one holder registered: `example.co.uk` for `mail.example.co.uk`. A
 * suffix is returned unchanged. Accepts only hostnames.
 */
export const registrableDomain = (hostname: string): string =>
  getDomain(hostname, { extractHostname: false, allowIcannDomains: true, allowPrivateDomains: true }) ??
  hostname
