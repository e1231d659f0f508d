import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Range = ReturnType<typeof ipaddr.parseCIDR>

const rangeOf = (entry: string): Range => {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry)
  const address = ipaddr.process(entry)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

/** Returns whether an address is one of `entries`, which are addresses and CIDRs. */
export const createTrust = (entries: readonly string[]): ((address: string) => boolean) => {
  const ranges = entries.map(rangeOf)
  return (text) => {
    if (isIP(text) === 0) return false
    const address = ipaddr.process(text)
    return ranges.some((range) => range[0].kind() === address.kind() && address.match(range))
  }
}
