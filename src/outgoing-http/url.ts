import { isIP } from 'node:net'
import { isPublicAddress } from '../core/address/public-address.ts'
import { invalidInput } from '../core/errors.ts'
import type { Allow } from './allowed-address.ts'
import type { Lookup } from './lookup.ts'

const URL_MAX = 2048

/** Two or more non-empty labels within DNS's length limits (RFC 1035 2.3.4), without a trailing dot. */
const DOMAIN_NAME = /^(?=.{1,253}$)[^.]{1,63}(\.[^.]{1,63})+$/

/**
 * Names that never refer to a host on the public internet (RFC 6761, 6762, 8375 and common private names).
 */
const LOCAL_NAME = /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|lan|home|home\.arpa)$/

/** Returns the URL's host without the brackets of an IPv6 address. */
export const hostOf = (url: URL): string =>
  url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname

export const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80))

const refuse = (rule: string) => invalidInput('url', rule)

const CREDENTIALS = 'must not contain credentials'
const PUBLIC =
  'must point to a host on the public internet; the operator can permit others with WEBHOOK_ALLOW'

/**
 * Returns whether a connection for this URL may be permitted to this address. Checked again for every
 * connection.
 */
export const mayDial = (url: URL, address: string, allow: Allow): boolean =>
  allow.host(url.hostname, portOf(url)) ||
  allow.address(address) ||
  (url.protocol === 'https:' && isPublicAddress(address))

/**
 * Parses strictly: the URL parser is lenient (it drops tabs, converts backslashes, accepts `https:host`), and
 * anything it would correct is rejected.
 */
const parse = (text: string): URL => {
  if (text.length > URL_MAX) throw refuse(`must be at most ${URL_MAX} characters long`)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are rejected
  if (/[\u0000-\u0020\u007f\\]/.test(text) || !/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) {
    throw refuse('must be an absolute https URL')
  }
  if (/^https?:\/\/[^/?#]*@/i.test(text)) throw refuse(CREDENTIALS)
  return new URL(text)
}

/** Returns a webhook's URL in normalized form. Throws `invalid_input` if it is not valid. */
export const normalizeUrl = (text: string): string => parse(text).href

const checkShape = (url: URL) => {
  if (url.username !== '' || url.password !== '') throw refuse(CREDENTIALS)
  if (url.href.includes('#')) throw refuse('must not have a fragment')
  if (url.href.length > URL_MAX) throw refuse(`must be at most ${URL_MAX} characters long`)
  if (url.port === '0') throw refuse('must have a port above 0')
}

const checkHost = (url: URL, allow: Allow) => {
  const host = hostOf(url)
  if (allow.host(url.hostname, portOf(url)) || allow.address(host)) return
  if (isIP(host) !== 0) {
    if (!isPublicAddress(host)) throw refuse(PUBLIC)
  } else if (!DOMAIN_NAME.test(host) || LOCAL_NAME.test(host)) throw refuse(PUBLIC)
}

/** Plain http is allowed only for targets that the operator permits by name or address. */
const checkScheme = (url: URL, allow: Allow, addresses: readonly string[]) => {
  const permitted =
    allow.host(url.hostname, portOf(url)) ||
    (addresses.length > 0 && addresses.every((address) => allow.address(address)))
  if (url.protocol === 'http:' && !permitted) throw refuse('must be an https URL')
}

/**
 * Returns the normalized form of a URL if a webhook may have it: https, a host on the public internet, no
 * credentials, no fragment. The host's name is resolved: one address that is not public is enough for a
 * rejection; a name that does not resolve (yet) is accepted, and its deliveries fail. Throws `invalid_input`.
 * Targets permitted by `allow` are exempt, and may also use plain http.
 */
export const checkTargetUrl = async (
  text: string,
  { allow, lookup }: { allow: Allow; lookup: Lookup },
): Promise<string> => {
  const url = parse(text)
  checkShape(url)
  checkHost(url, allow)
  const addresses = await addressesOf(url, lookup)
  checkScheme(url, allow, addresses)
  if (!addresses.every((address) => mayDial(url, address, allow))) throw refuse(PUBLIC)
  return url.href
}

const addressesOf = async (url: URL, lookup: Lookup): Promise<string[]> => {
  const host = hostOf(url)
  if (isIP(host) !== 0) return [host]
  try {
    return (await lookup(host)).map(({ address }) => address)
  } catch {
    return []
  }
}
