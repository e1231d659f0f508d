import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

const hex = (part: number): string => part.toString(16)

/**
 * Whom limits by address count an IP address as: itself for IPv4, its /64 for IPv6, which is the least that
 * one customer is given (RFC 6177), so that nobody gets around a limit with the 2^64 addresses of their own
 * network. '' for what is no address.
 */
export const sourceOf = (address: string | undefined): string => {
  if (address === undefined || isIP(address) === 0) return ''
  const parsed = ipaddr.process(address)
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : `${(parsed as ipaddr.IPv6).parts.slice(0, 4).map(hex).join(':')}::/64`
}

/** Whether an IP address is this machine's own: `127.0.0.0/8`, `::1`. */
export const isLoopback = (address: string): boolean =>
  isIP(address) !== 0 && ipaddr.process(address).range() === 'loopback'

/** Networks in which the operator's own gateways are: whoever writes through one comes from its address. */
const OWN_NETWORKS = ['loopback', 'private', 'uniqueLocal', 'linkLocal']

/**
 * `sourceOf` of an address on the public internet. Null where the address tells nothing: it is none, or of
 * the operator's own network.
 */
export const publicSourceOf = (address: string): string | null =>
  isIP(address) === 0 || OWN_NETWORKS.includes(ipaddr.process(address).range()) ? null : sourceOf(address)
