import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Parses an IP address; null for anything that is not one. A zone (`fe80::1%br-lan`), which link-local peers have, names only an
 * interface of this machine; ipaddr.js throws at many of them.
 */
export const readAddress = (text: string): ipaddr.IPv4 | ipaddr.IPv6 | null =>
  isIP(text) === 0 ? null : ipaddr.process(text.replace(/%.*$/s, ''))

const hex = (part: number): string => part.toString(16)

/**
 * Returns what every limit by address counts as one source: the address itself for IPv4, its /56 for IPv6. A
 * /56 is what a customer commonly gets (RFC 6177), so nobody evades a limit with the 256 networks of their
 * own. '' for anything that is not an address.
 */
export const sourceOf = (address: string | undefined): string => {
  const parsed = readAddress(address ?? '')
  if (parsed === null) return ''
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const [a = 0, b = 0, c = 0, d = 0] = (parsed as ipaddr.IPv6).parts
  return `${[a, b, c, d & 0xff00].map(hex).join(':')}::/56`
}

/** Returns whether an IP address is this machine's own: `127.0.0.0/8`, `::1`. */
export const isLoopback = (address: string): boolean => readAddress(address)?.range() === 'loopback'

/** Networks of the operator's own gateways: everything that passes through one comes from its address. */
const OWN_NETWORKS = ['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat']

/**
 * Returns `sourceOf` for an address on the public internet. Null for addresses of the operator's own network,
 * which identify no sender, and for anything that is not an address.
 */
export const publicSourceOf = (address: string): string | null => {
  const parsed = readAddress(address)
  return parsed === null || OWN_NETWORKS.includes(parsed.range()) ? null : sourceOf(address)
}
