import { isIP } from 'node:net'
import { invalidInput } from '../core/errors.ts'
import { isPublicAddress } from '../core/public-address.ts'
import type { Allow } from './allowed-address.ts'
import type { Lookup } from './lookup.ts'

const URL_MAX = 2048

/** Two labels or more, none empty, as long as DNS carries them (RFC 1035 2.3.4), and no dot behind. */
const DOMAIN_NAME = /^(?=.{1,253}$)[^.]{1,63}(\.[^.]{1,63})+$/

/**
 * Names that never mean a host on the public internet (RFC 6761, 6762, 8375 and what networks use for
 * themselves).
 */
const LOCAL_NAME = /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|lan|home|home\.arpa)$/

/** The URL's host without the brackets of an IPv6 address. */
export const hostOf = (url: URL): string =>
  url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname

export const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80))

const refuse = (rule: string) => invalidInput('url', rule)

const CREDENTIALS = 'must not contain credentials'
const PUBLIC = 'must point to a host on the public internet'

/** Whether a connection for this URL may be opened to this address. Asked again for every connection. */
export const mayDial = (url: URL, address: string, allow: Allow): boolean =>
  allow.host(url.hostname, portOf(url)) ||
  allow.address(address) ||
  (url.protocol === 'https:' && isPublicAddress(address))

/**
 * The parser is lenient (it drops tabs, turns backslashes round, takes `https:host`); what it would mend is
 * refused.
 */
const parse = (text: string): URL => {
  if (text.length > URL_MAX) throw refuse(`must be at most ${URL_MAX} characters long`)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not be in it
  if (/[\u0000-\u0020\u007f\\]/.test(text) || !/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) {
    throw refuse('must be an absolute https URL')
  }
  if (/^https?:\/\/[^/?#]*@/i.test(text)) throw refuse(CREDENTIALS)
  return new URL(text)
}

/** A URL as a webhook has it, if it can be read at all. Throws `invalid_input`. */
export const spellUrl = (text: string): string => parse(text).href

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

/** Plain http is for what the operator opened by name or by address. */
const checkScheme = (url: URL, allow: Allow, addresses: readonly string[]) => {
  const opened =
    allow.host(url.hostname, portOf(url)) ||
    (addresses.length > 0 && addresses.every((address) => allow.address(address)))
  if (url.protocol === 'http:' && !opened) throw refuse('must be an https URL')
}

/**
 * The one spelling of a URL that a webhook may have: https, a host on the public internet, no credentials, no
 * fragment. The host's name is resolved: one address that is not public refuses it; a name that does not
 * resolve (yet) is taken, and the delivery will tell. Throws `invalid_input`. `allow` opens what it names,
 * then also for plain http.
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
