import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, fetch, type Response } from 'undici'
import { isPublicAddress } from './public-address.ts'

/**
 * Fetches what anybody on the public internet could fetch. Follows no redirect; rejects for a host that leads
 * anywhere else.
 */
export type PublicFetch = (url: URL, signal: AbortSignal) => Promise<Response>

export interface PublicFetchOptions {
  /** In place of the system's. */
  lookup?: typeof systemLookup
  isPublic?: (address: string) => boolean
}

const notPublic = () => new Error('it is not on the public internet')

/**
 * The addresses of a name are looked at as the connection asks for them, and are the ones that it dials:
 * asked twice, a name server could give a public address to be checked and a private one to be dialled.
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
    if (isIP(host) !== 0 && !isPublic(host)) throw notPublic() // nobody looks an address up
    return fetch(url, { redirect: 'manual', signal, dispatcher }).catch((error: Error) => {
      throw error.cause ?? error // undici's own says `fetch failed` and nothing else
    })
  }
}
