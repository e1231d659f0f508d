import { Resolver as DnsClient } from 'node:dns/promises'
import { type Clock, systemClock } from '../../../core/clock.ts'

/**
 * How mailauth asks for records: answers as node:dns does (TXT: `string[][]`), rejects with `code` ENOTFOUND,
 * ENODATA, ETIMEOUT, …
 */
export type DnsResolver = (name: string, type: string) => Promise<string[][] | string[]>

const LOOKUP = { timeout: 2_000, tries: 2 }
/** For how many milliseconds answers are remembered: records, and that there are none. */
interface Memory {
  positiveMs: number
  negativeMs: number
}
const MEMORY: Memory = { positiveMs: 60_000, negativeMs: 15_000 }
const MAX_ENTRIES = 10_000

/**
 * Asks the given servers (`host` or `host:port`; null: the system's) each time, 2 s and two tries per lookup.
 */
export function createFreshResolver(servers: readonly string[] | null): DnsResolver {
  const resolver = new DnsClient(LOOKUP)
  if (servers !== null) resolver.setServers(servers)
  return (name, type) => resolver.resolve(name, type) as Promise<string[][] | string[]>
}

/**
 * Asks with a memory: answers are remembered for a minute, "there is none" for 15 s, failures not at all; the
 * same question asked at once is asked once.
 */
export const createResolver = (servers: readonly string[] | null, clock: Clock = systemClock): DnsResolver =>
  cached(createFreshResolver(servers), clock)

/** `lookup` with a memory of at most 10,000 answers, the oldest going first. */
export function cached(
  lookup: DnsResolver,
  clock: Clock,
  { positiveMs, negativeMs }: Memory = MEMORY,
): DnsResolver {
  const known = new Map<string, { until: number; answer: ReturnType<DnsResolver> }>()
  return (name, type) => {
    const key = `${type} ${name.toLowerCase()}`
    const now = clock.now().getTime()
    const hit = known.get(key)
    if (hit !== undefined && hit.until > now) return hit.answer
    const entry = { until: now + positiveMs, answer: lookup(name, type) }
    known.delete(key)
    known.set(key, entry)
    if (known.size > MAX_ENTRIES) known.delete(known.keys().next().value!)
    entry.answer.catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOTFOUND' || error.code === 'ENODATA')
        entry.until = clock.now().getTime() + negativeMs
      else if (known.get(key) === entry) known.delete(key)
    })
    return entry.answer
  }
}
