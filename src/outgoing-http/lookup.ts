import { promises as dns } from 'node:dns'
import type { Allow } from './allowed-address.ts'

export interface ResolvedAddress {
  address: string
  family: number
}

/** Resolves a host name to all its addresses. Rejects with node:dns's error codes when there are none. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>

const NAME_SERVER_MS = 1500
const TRIES = 2

const settledAddresses = (answers: PromiseSettledResult<string[]>[], family: number[]): ResolvedAddress[] =>
  answers.flatMap((answer, index) =>
    answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family: family[index]! })) : [],
  )

/**
 * Queries the name servers directly: the system's own lookup blocks one of four threads while it waits, so
 * that a few dead names would delay all other webhooks. `servers` (`address:port`) replace the system's name
 * servers. Names in `WEBHOOK_ALLOW` are resolved by the system, because they may be in its hosts file.
 */
export const createLookup = (allow: Allow, servers: readonly string[] = []): Lookup => {
  const resolver = new dns.Resolver({ timeout: NAME_SERVER_MS, tries: TRIES })
  if (servers.length > 0) resolver.setServers(servers)
  return async (hostname) => {
    if (allow.name(hostname)) return dns.lookup(hostname, { all: true })
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const found = settledAddresses(answers, [4, 6])
    if (found.length > 0) return found
    throw answers.find((answer) => answer.status === 'rejected')?.reason ?? new Error('no addresses')
  }
}
