import { Resolver as DnsClient } from 'node:dns/promises'
import { type Clock, systemClock } from '../../../core/clock.ts'

/**
 * The resolver interface of mailauth. Resolves to records as node:dns does (TXT: `string[][]`) and rejects
 * with `code` ENOTFOUND, ENODATA, ETIMEOUT, etc.
 */
export type DnsResolver = (name: string, type: string) => Promise<string[][] | string[]>

const LOOKUP = { timeout: 2_000, tries: 2 }
/** Time in milliseconds that records and negative answers are cached. */
interface CacheTtl {
  positiveMs: number
  negativeMs: number
}
const CACHE_TTL: CacheTtl = { positiveMs: 60_000, negativeMs: 15_000 }
const MAX_ENTRIES = 10_000

/**
 * Creates a resolver without a cache, which queries the given servers (`host` or `host:port`; null: the
 * system's) with a timeout of 2 s and two tries per lookup.
 */
export function createFreshResolver(servers: readonly string[] | null): DnsResolver {
  const resolver = new DnsClient(LOOKUP)
  if (servers !== null) resolver.setServers(servers)
  return (name, type) => resolver.resolve(name, type) as Promise<string[][] | string[]>
}

/**
 * Creates a resolver with a cache: answers are cached for a minute, negative answers for 15 s, and failures
 * not at all. Identical concurrent queries are sent once.
 */
export const createResolver = (servers: readonly string[] | null, clock: Clock = systemClock): DnsResolver =>
  cached(createFreshResolver(servers), clock)

/** Adds a cache of at most 10,000 answers to `lookup`; the oldest answers are evicted first. */
export function cached(
  lookup: DnsResolver,
  clock: Clock,
  { positiveMs, negativeMs }: CacheTtl = CACHE_TTL,
): DnsResolver {
  const cache = new Map<string, { until: number; answer: ReturnType<DnsResolver> }>()
  return (name, type) => {
    const key = `${type} ${name.toLowerCase()}`
    const now = clock.now().getTime()
    const hit = cache.get(key)
    if (hit !== undefined && hit.until > now) return hit.answer
    const entry = { until: now + positiveMs, answer: lookup(name, type) }
    cache.delete(key)
    cache.set(key, entry)
    if (cache.size > MAX_ENTRIES) cache.delete(cache.keys().next().value!)
    entry.answer.catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOTFOUND' || error.code === 'ENODATA')
        entry.until = clock.now().getTime() + negativeMs
      else if (cache.get(key) === entry) cache.delete(key)
    })
    return entry.answer
  }
}
