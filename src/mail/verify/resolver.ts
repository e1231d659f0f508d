import { Resolver as DnsClient } from 'node:dns/promises'
import { type Clock, systemClock } from '../../core/clock.ts'
import { setNewest } from '../../core/newest.ts'
import { isLookupName, isQueryName, registrableDomain } from './hostname.ts'
import { unusualNameResolver } from './unusual-name.ts'

/**
 * The resolver interface of mailauth. Resolves to records as node:dns does (TXT: `string[][]`) and rejects
 * with `code` ENOTFOUND, ENODATA, ETIMEOUT, etc.
 */
export type DnsResolver = (name: string, type: string) => Promise<string[][] | string[]>

/** The second try takes twice as long: both end within the 5 s that the verification of a mail may take. */
const LOOKUP = { timeout: 1_500, tries: 2 }
/** Time in milliseconds that records and negative answers are cached. */
interface CacheTtl {
  positiveMs: number
  negativeMs: number
}
const CACHE_TTL: CacheTtl = { positiveMs: 60_000, negativeMs: 15_000 }
const MAX_ENTRIES = 10_000

/**
 * Creates a resolver without a cache, which queries the given servers (`host` or `host:port`; null: the
 * system's) with two tries per lookup, which take 4.5 s together.
 */
export function createFreshResolver(servers: readonly string[] | null): DnsResolver {
  const resolver = new DnsClient(LOOKUP)
  if (servers !== null) resolver.setServers(servers)
  const resolveUnusual = unusualNameResolver(() => resolver.getServers())
  return (name, type) =>
    isQueryName(name) && !isLookupName(name)
      ? resolveUnusual(name, type)
      : (resolver.resolve(name, type) as Promise<string[][] | string[]>)
}

/**
 * Creates a resolver with a cache: answers are cached for a minute, negative answers for 15 s, timeouts for 30 s
 * with their domain, and other failures not at all. Identical concurrent queries are sent once.
 */
export const createResolver = (servers: readonly string[] | null, clock: Clock = systemClock): DnsResolver =>
  cached(withoutSilent(createFreshResolver(servers), clock), clock)

/** Time in milliseconds for which a domain is not asked again; RFC 9520 3.2 wants 1 s to 5 minutes. */
const SILENT_MS = 30_000
/** Number of consecutive timeouts after which the name servers of a domain count as silent: one packet may be lost. */
const SILENT_TIMEOUTS = 3

/**
 * Makes lookups in a registrable domain whose name servers do not answer time out at once for a while, whatever the
 * name: somebody who sends mail with ever new names below such a domain makes each of them wait otherwise.
 */
export function withoutSilent(lookup: DnsResolver, clock: Clock): DnsResolver {
  const silent = new Map<string, { timeouts: number; until: number }>()
  return async (name, type) => {
    const domain = registrableDomain(name.toLowerCase())
    const known = silent.get(domain)
    if (known && known.timeouts >= SILENT_TIMEOUTS && known.until > clock.now().getTime())
      throw Object.assign(new Error(`query${type} ETIMEOUT ${name}`), { code: 'ETIMEOUT' })
    try {
      const answer = await lookup(name, type)
      silent.delete(domain)
      return answer
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ETIMEOUT') {
        const timeouts = (silent.get(domain)?.timeouts ?? 0) + 1
        setNewest(silent, domain, { timeouts, until: clock.now().getTime() + SILENT_MS }, MAX_ENTRIES)
      } else silent.delete(domain)
      throw error
    }
  }
}

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
    setNewest(cache, key, entry, MAX_ENTRIES)
    entry.answer.catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOTFOUND' || error.code === 'ENODATA')
        entry.until = clock.now().getTime() + negativeMs
      else if (cache.get(key) === entry) cache.delete(key)
    })
    return entry.answer
  }
}
