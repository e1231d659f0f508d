import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * The part of IPv6 that is given out as global unicast; everything that embeds an IPv4 address outside it
 * (mapped, NAT64 …) is no target.
 */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3')

/** Public by its number, yet answered by the cloud around the machine: Azure's metadata and DNS. */
const METADATA = ['168.63.129.16']

/**
 * Whether an IP address lies on the public internet. Not: private, loopback, link-local, carrier-grade NAT,
 * multicast, documentation, benchmarking, and any IPv6 form that stands for an IPv4 address (mapped,
 * compatible, NAT64, 6to4, Teredo): the address behind it could be any of those.
 */
export const isPublicAddress = (text: string): boolean => {
  if (isIP(text) === 0 || METADATA.includes(text)) return false
  const address = ipaddr.parse(text)
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_V6))
}
