import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { isLoopback, sourceOf } from '../core/address/source.ts'
import { createTrust } from '../core/address/trusted.ts'

/** More proxies than any real request passes through: entries further left in the header are ignored. */
const MAX_HOPS = 20

/**
 * Parses an address as proxies write it: possibly with a port, and then with brackets around an IPv6 address.
 * Undefined if it is not valid.
 */
const readHop = (written: string): string | undefined => {
  const text = written.trim().replace(/^\[([^\]]*)\](?::\d{1,5})?$/, '$1')
  if (isIP(text) !== 0) return text
  const withoutPort = text.replace(/:\d{1,5}$/, '')
  return isIP(withoutPort) === 4 ? withoutPort : undefined
}

export interface Clients {
  /** Returns the source that limits by address count a request for. */
  of(request: IncomingMessage): string
  /** Returns the address of the client; '' for this machine, and for a proxy that names no client. */
  addressOf(request: IncomingMessage): string
  /**
   * Whether an address is shared by many clients, or is this machine: limits by address do not apply to it.
   */
  isShared(address: string): boolean
}

/**
 * Determines the source that limits by address count a request for. It is the peer's address, unless that is
 * a proxy in `trusted` (addresses and CIDRs): then it is the last address in X-Forwarded-For that is not such
 * a proxy's too. Anything further left could be forged. '' means no particular client: this machine itself,
 * or a proxy that names no client. Limits by address do not apply to it, since it may stand for everyone.
 */
export const createClients = (trusted: readonly string[]): Clients => {
  const isTrusted = createTrust(trusted)
  const named = (request: IncomingMessage): string => {
    const hops = String(request.headers['x-forwarded-for'] ?? '')
      .split(',')
      .slice(-MAX_HOPS)
      .reverse()
    for (const hop of hops) {
      const address = readHop(hop)
      if (address === undefined) return ''
      if (!isTrusted(address)) return address
    }
    return ''
  }
  const addressOf = (request: IncomingMessage): string => {
    const peer = request.socket.remoteAddress ?? ''
    if (isTrusted(peer)) return named(request)
    return isLoopback(peer) ? '' : peer
  }
  return {
    isShared: (address) => isLoopback(address) || isTrusted(address),
    addressOf,
    of: (request) => sourceOf(addressOf(request)),
  }
}
