import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { isLoopback, sourceOf } from '../core/source.ts'

type Range = ReturnType<typeof ipaddr.parseCIDR>

const rangeOf = (entry: string): Range => {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry)
  const address = ipaddr.process(entry)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

/** More proxies than any request passes: what stands further left in the header is not looked at. */
const MAX_HOPS = 20

/**
 * An address as a proxy writes it: with a port perhaps, and then between brackets if it is an IPv6 one.
 * Undefined for what is none.
 */
const addressOf = (written: string): string | undefined => {
  const text = written.trim().replace(/^\[([^\]]*)\](?::\d{1,5})?$/, '$1')
  if (isIP(text) !== 0) return text
  const withoutPort = text.replace(/:\d{1,5}$/, '')
  return isIP(withoutPort) === 4 ? withoutPort : undefined
}

export interface Clients {
  /** Whom limits by address count a request for. */
  of(request: IncomingMessage): string
  /** Whether an address is one of many clients, or of this machine: nobody is counted by it. */
  isShared(address: string): boolean
}

/**
 * Finds out whom limits by address count a request for. It is the address that the connection comes from,
 * unless that is a proxy of `trusted` (addresses and CIDRs): then the last address in X-Forwarded-For that is
 * not such a proxy's as well. Everything further left anybody could have written. '' stands for nobody in
 * particular: this machine itself, or a proxy that names no client. Limits by address don't apply to it,
 * since it may be everybody.
 */
export const createClients = (trusted: readonly string[]): Clients => {
  const ranges = trusted.map(rangeOf)
  const isTrusted = (text: string): boolean => {
    if (isIP(text) === 0) return false
    const address = ipaddr.process(text)
    return ranges.some((range) => range[0].kind() === address.kind() && address.match(range))
  }
  const named = (request: IncomingMessage): string => {
    const hops = String(request.headers['x-forwarded-for'] ?? '')
      .split(',')
      .slice(-MAX_HOPS)
      .reverse()
    for (const hop of hops) {
      const address = addressOf(hop)
      if (address === undefined) return ''
      if (!isTrusted(address)) return address
    }
    return ''
  }
  return {
    isShared: (address) => isLoopback(address) || isTrusted(address),
    of: (request) => {
      const peer = request.socket.remoteAddress ?? ''
      if (isTrusted(peer)) return sourceOf(named(request))
      return isLoopback(peer) ? '' : sourceOf(peer)
    },
  }
}
