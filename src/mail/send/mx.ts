import { toHostname } from '../../core/address/hostname.ts'
import type { DnsResolver } from '../verify/resolver.ts'

/**
 * The hosts that accept a domain's mail, most preferred first; or why there are none, and whether that is
 * permanent.
 */
export type MxHosts = { hosts: string[] } | { reason: string; permanent: boolean }

interface MxRecord {
  priority: number
  exchange: string
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown'

/** Returns the records, [] if there are none of this type, or an error code. */
const query = async <Answer>(
  resolver: DnsResolver,
  name: string,
  type: string,
): Promise<Answer[] | string> => {
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
 * Finds the hosts that accept mail for a domain (RFC 5321 5.1): its MX records in order of preference,
 * shuffled within the same preference, without duplicates; if there are none, the domain itself. A null MX
 * (RFC 7505) means that it accepts no mail.
 */
export async function findMxHosts(
  resolver: DnsResolver,
  domain: string,
  random: () => number = Math.random,
): Promise<MxHosts> {
  const found = await query<MxRecord>(resolver, domain, 'MX')
  if (typeof found === 'string') return failure(domain, found)
  if (found.length === 0) return { hosts: [domain] }
  const exchanges = found.map(({ priority, exchange }) => ({
    priority,
    host: exchange.replace(/\.$/, ''),
    draw: random(),
  }))
  const nonNull = exchanges.filter(({ host }) => host !== '')
  if (nonNull.length === 0)
    return { reason: `5.1.10 ${domain} does not accept mail (null MX)`, permanent: true }
  const inOrder = nonNull.sort((a, b) => a.priority - b.priority || a.draw - b.draw)
  // A record may contain an IP address or arbitrary octets. Only hostnames are looked up and sent to the
  // server during the TLS handshake.
  const hosts = new Set(inOrder.flatMap(({ host }) => toHostname(host) ?? []))
  return hosts.size > 0
    ? { hosts: [...hosts] }
    : { reason: `5.4.4 the MX records of ${domain} contain no host`, permanent: true }
}

/**
 * Finds the addresses of a host, IPv4 first because not every machine has IPv6. [] if there are none, null if
 * the lookup failed.
 */
export async function findAddresses(resolver: DnsResolver, host: string): Promise<string[] | null> {
  const answers = await Promise.all(['A', 'AAAA'].map((type) => query<string>(resolver, host, type)))
  const found = answers.flatMap((answer) => (typeof answer === 'string' ? [] : answer))
  const unknown = answers.some((answer) => typeof answer === 'string' && answer !== 'ENOTFOUND')
  return found.length === 0 && unknown ? null : found
}
