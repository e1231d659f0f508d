import { toHostname } from '../verify/hostname.ts'
import type { DnsResolver } from '../verify/resolver.ts'

/**
 * Where a domain takes mail: host names, the most preferred first; or why it takes none, and whether that is
 * for good.
 */
export type MxHosts = { hosts: string[] } | { reason: string; permanent: boolean }

interface MxRecord {
  priority: number
  exchange: string
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown'

/** Answers, [] where there is no such record, or the error's code. */
const ask = async <Answer>(resolver: DnsResolver, name: string, type: string): Promise<Answer[] | string> => {
  try {
    return (await resolver(name, type)) as unknown as Answer[]
  } catch (error) {
    return codeOf(error) === 'ENODATA' ? [] : codeOf(error)
  }
}

const failure = (domain: string, code: string): MxHosts =>
  code === 'ENOTFOUND'
    ? { reason: `5.1.2 the domain ${domain} does not exist`, permanent: true }
    : { reason: `4.4.3 the name servers of ${domain} did not answer (${code})`, permanent: false }

/**
 * The hosts that take mail for a domain (RFC 5321 5.1): its MX records in order of preference, equals
 * shuffled, each once; without any, the domain itself. A null MX (RFC 7505) says that it takes none.
 */
export async function findMxHosts(
  resolver: DnsResolver,
  domain: string,
  random: () => number = Math.random,
): Promise<MxHosts> {
  const found = await ask<MxRecord>(resolver, domain, 'MX')
  if (typeof found === 'string') return failure(domain, found)
  if (found.length === 0) return { hosts: [domain] }
  const named = found.map(({ priority, exchange }) => ({
    priority,
    host: exchange.replace(/\.$/, ''),
    draw: random(),
  }))
  const real = named.filter(({ host }) => host !== '')
  if (real.length === 0) return { reason: `5.1.10 ${domain} does not accept mail (null MX)`, permanent: true }
  const inOrder = real.sort((a, b) => a.priority - b.priority || a.draw - b.draw)
  // A record may hold an address, or any octets at all; only a name is looked up, and told to the server over
  // TLS.
  const hosts = new Set(inOrder.flatMap(({ host }) => toHostname(host) ?? []))
  return hosts.size > 0
    ? { hosts: [...hosts] }
    : { reason: `5.4.4 the MX records of ${domain} contain no host`, permanent: true }
}

/**
 * The addresses of a host, IPv4 first: not every machine can speak IPv6. [] when it has none, null when
 * nobody could say.
 */
export async function findAddresses(resolver: DnsResolver, host: string): Promise<string[] | null> {
  const answers = await Promise.all(['A', 'AAAA'].map((type) => ask<string>(resolver, host, type)))
  const found = answers.flatMap((answer) => (typeof answer === 'string' ? [] : answer))
  const unknown = answers.some((answer) => typeof answer === 'string' && answer !== 'ENOTFOUND')
  return found.length === 0 && unknown ? null : found
}
