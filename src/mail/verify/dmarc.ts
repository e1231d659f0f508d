import { organizationalDomain } from './hostname.ts'
import type { DnsResolver } from './resolver.ts'

/** The policy in a DMARC record. */
export interface Dmarc {
  /** The policy of the record's domain, or, if the record is inherited, of its subdomains. */
  policy: string
  /** Whether alignment requires exactly the domain of From. */
  strictDkim: boolean
  strictSpf: boolean
}

/**
 * Finds the DMARC record that applies to mail from this hostname: its own, or else that of its organizational
 * domain (RFC 7489 6.6.3). Null if there is none, or more than one. Rejects as the resolver does if the
 * lookup fails.
 */
export async function findDmarc(hostname: string, resolver: DnsResolver): Promise<Dmarc | null> {
  const own = await recordOf(hostname, resolver)
  if (own !== null) return dmarcOf(own, false)
  const above = organizationalDomain(hostname)
  const inherited = above === hostname ? null : await recordOf(above, resolver)
  return inherited === null ? null : dmarcOf(inherited, true)
}

async function recordOf(hostname: string, resolver: DnsResolver): Promise<string | null> {
  try {
    const records = ((await resolver(`_dmarc.${hostname}`, 'TXT')) as string[][]).map((strings) =>
      strings.join('').trim(),
    )
    const found = records.filter((record) => /^v[ \t]{0,9}=[ \t]{0,9}DMARC1(?:[ \t;]|$)/i.test(record))
    return found.length === 1 ? found[0]! : null
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTFOUND' || code === 'ENODATA') return null
    throw error
  }
}

function dmarcOf(record: string, inherited: boolean): Dmarc {
  const tags = new Map<string, string>()
  for (const part of record.split(';')) {
    const equals = part.indexOf('=')
    const name = part.slice(0, Math.max(0, equals)).trim().toLowerCase()
    if (!tags.has(name))
      tags.set(
        name,
        part
          .slice(equals + 1)
          .trim()
          .toLowerCase(),
      )
  }
  return {
    policy: (inherited ? tags.get('sp') : undefined) ?? tags.get('p') ?? 'none',
    strictDkim: tags.get('adkim') === 's',
    strictSpf: tags.get('aspf') === 's',
  }
}
