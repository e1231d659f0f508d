import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * The part of IPv6 that is allocated as global unicast. Addresses outside it that embed an IPv4 address
 * (mapped, NAT64 …) are refused.
 */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3')

/** In a public range, but served by the cloud around the machine: Azure's metadata and DNS. */
const METADATA = ['168.63.129.16']

/**
 * Returns whether an IP address is on the public internet. Excluded are private, loopback, link-local,
 * carrier-grade NAT, multicast, documentation and benchmarking addresses, and any IPv6 form that represents
 * an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo), which could be any of those.
 */
export const isPublicAddress = (text: string): boolean => {
  if (isIP(text) === 0 || METADATA.includes(text)) return false
  const address = ipaddr.parse(text)
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_V6))
}

/** Networks for examples (RFC 5737, RFC 3849). They are routed nowhere, so no gateway has such an address. */
const DOCUMENTATION = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32'].map((network) =>
  ipaddr.parseCIDR(network),
)

/**
 * Returns whether an IP address can be that of a sender's own mail server, which its SPF record can name. One that is
 * not public is a gateway's, which passes on the mail of everybody. An IPv4 address mapped into IPv6, as sockets for
 * both show it, is the IPv4 address.
 */
export const isSendersAddress = (text: string): boolean => {
  if (isIP(text) === 0) return false
  const address = ipaddr.process(text)
  return (
    isPublicAddress(address.toString()) ||
    DOCUMENTATION.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits))
  )
}
