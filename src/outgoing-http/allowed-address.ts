import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Targets that `WEBHOOK_ALLOW` permits although they are private or plain http. */
export interface Allow {
  /** Whether this host is permitted on this port. */
  host(hostname: string, port: number): boolean
  /** Whether this host is permitted on any port. */
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

/** A host in URL syntax, with the port if the entry has one. */
const hostOf = (entry: string): string => {
  const match = HOST.exec(entry)
  if (!match || Number(match[3] ?? 1) > 65_535)
    throw new Error(`"${entry}" is not a host, host:port, IP address or CIDR`)
  return entry
}

/**
 * Parses the entries of `WEBHOOK_ALLOW`: hosts, host:port, IP addresses and CIDRs. Throws for an entry that
 * is none of these, naming it.
 */
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
