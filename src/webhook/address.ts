import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The part of IPv6 that is given out as global unicast; everything that embeds an IPv4 address outside it (mapped, NAT64 …) is no target. */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3')

/** Public by its number, yet answered by the cloud around the machine: Azure's metadata and DNS. */
const METADATA = ['168.63.129.16']

/**
 * Whether an IP address lies on the public internet. Not: private, loopback, link-local, carrier-grade NAT, multicast, documentation,
 * benchmarking, and any IPv6 form that stands for an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo): the address behind it
 * could be any of those.
 */
export const isPublicAddress = (text: string): boolean => {
  if (isIP(text) === 0 || METADATA.includes(text)) return false
  const address = ipaddr.parse(text)
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_V6))
}

/** What `WEBHOOK_ALLOW` opens although it is private or plain http. */
export interface Allow {
  /** Whether this host is opened on this port. */
  host(hostname: string, port: number): boolean
  /** Whether this host is opened on any port. */
  name(hostname: string): boolean
  address(address: string): boolean
}

type Range = ReturnType<typeof ipaddr.parseCIDR>

const rangeOf = (entry: string): Range | null => {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry)
  if (isIP(entry) === 0) return null
  const address = ipaddr.parse(entry)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?)(?::(\d{1,5}))?$/

/** A host as URLs spell it, with the port when the entry names one. */
const hostOf = (entry: string): string => {
  const match = HOST.exec(entry)
  if (!match || Number(match[3] ?? 1) > 65_535) throw new Error(`"${entry}" is no host, host:port, IP address or CIDR`)
  return entry
}

/** Reads the entries of `WEBHOOK_ALLOW`: hosts, host:port, IP addresses and CIDRs. Throws for one that is none of them, naming it. */
export const createAllow = (entries: readonly string[]): Allow => {
  const words = entries.map((entry) => entry.trim().toLowerCase()).filter((entry) => entry !== '')
  const ranges = words.map(rangeOf).filter((range) => range !== null)
  const hosts = new Set(words.filter((word) => rangeOf(word) === null).map(hostOf))
  return {
    host: (hostname, port) => hosts.has(hostname) || hosts.has(`${hostname}:${port}`),
    name: (hostname) => [...hosts].some((host) => host === hostname || host.startsWith(`${hostname}:`)),
    address: (text) => {
      if (isIP(text) === 0) return false
      const address = ipaddr.parse(text)
      return ranges.some((range) => range[0].kind() === address.kind() && address.match(range))
    },
  }
}
