import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, fetch, type Response } from 'undici'
import { isPublicAddress } from './public-address.ts'

/**
 * Fetches a URL on the public internet. Does not follow redirects; rejects for a host with any other address.
 */
export type PublicFetch = (url: URL, signal: AbortSignal) => Promise<Response>

export interface PublicFetchOptions {
  /** Replaces the system's resolver. */
  lookup?: typeof systemLookup
  isPublic?: (address: string) => boolean
}

const notPublic = () => new Error('it is not on the public internet')

/**
 * Creates a fetch that checks the resolved addresses at the moment of the connection, which then uses exactly
 * these. With two lookups, a name server could return a public address for the check and a private one for
 * the connection.
 */
export const createPublicFetch = ({
  lookup = systemLookup,
  isPublic = isPublicAddress,
}: PublicFetchOptions = {}): PublicFetch => {
  const publicLookup: LookupFunction = (hostname, { all }, answer) => {
    lookup(hostname, { all: true }, (error, addresses) => {
      const [first] = error ? [] : addresses
      if (error || !first) return answer(error ?? notPublic(), '')
      if (!addresses.every(({ address }) => isPublic(address))) return answer(notPublic(), '')
      return all ? answer(null, addresses) : answer(null, first.address, first.family)
    })
  }
  const dispatcher = new Agent({ connect: { lookup: publicLookup } })
  return async (url, signal) => {
    const host = url.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && !isPublic(host)) throw notPublic() // no lookup happens for an address
    return fetch(url, { redirect: 'manual', signal, dispatcher }).catch((error: Error) => {
      throw error.cause ?? error // undici's own message is only `fetch failed`
    })
  }
}
