import ipaddr from 'ipaddr.js'
import { readAddress } from './source.ts'

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
    const address = readAddress(text)
    if (address === null) return false
    return ranges.some((range) => range[0].kind() === address.kind() && address.match(range))
  }
}
