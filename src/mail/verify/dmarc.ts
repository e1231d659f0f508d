import { registrableDomain } from './hostname.ts'
import { createRecordLookup, discoverPolicy, domainExists, getOrgDomain, getPolicyTags } from './mailauth.ts'
import type { DnsResolver } from './resolver.ts'

/**
 * How a domain that vouches for a mail is related to that of From: the same, another one of the same organization,
 * none, or not known because a lookup failed.
 */
export type Alignment = 'none' | 'organization' | 'same' | 'unknown'

/** What DMARC says about mail from a domain. */
export interface Dmarc {
  /** Whether a record applies; `unknown` if the lookup failed. */
  record: 'found' | 'none' | 'unknown'
  /** What its owner wants to be done with mail that fails. */
  policy: string
  /** Whether alignment requires exactly the domain of From. */
  strictDkim: boolean
  strictSpf: boolean
  /** By the domain that vouches. */
  alignments: ReadonlyMap<string, Alignment>
}

/**
 * Maximum number of domains beside that of From whose organization is looked up: anyone can add signatures, and each
 * takes up to seven lookups. Mail has its envelope's and one or two that sign.
 */
const MAX_WALKS = 5
/** RFC 9989 4.10: a walk goes from a longer name straight to its last seven labels. */
const MAX_LABELS = 7
/** RFC 9989 4.7: with `t=y`, one level below what is published. */
const WHILE_TESTING: Readonly<Record<string, string>> = { reject: 'quarantine', quarantine: 'none' }

/**
 * Finds the DMARC record that applies to mail from this hostname, and how these domains are aligned with it, with the
 * tree walk of RFC 9989. Unlike it, domains of different holders by the public suffix list are never aligned: most
 * operators of suffixes do not know its `psd=y` yet, and a record of `github.io` would let its tenants speak for
 * each other. Without a record, the list alone decides. Never rejects.
 */
export async function checkDmarc(
  from: string,
  domains: readonly string[],
  resolver: DnsResolver,
): Promise<Dmarc> {
  const lookup = createRecordLookup(resolver)
  const holder = registrableDomain(from)
  const others = [...new Set(domains)].filter((one) => one !== from && registrableDomain(one) === holder)
  const walked = others.slice(0, MAX_WALKS)
  // mailauth looks up one name after the other. What fails here fails there, too.
  for (const name of [from, ...walked].flatMap(walkOf)) lookup(name).catch(() => undefined)
  const discovered = await discoverPolicy(from, lookup).catch(() => null)
  const organizationOf = async (domain: string): Promise<Alignment> => {
    if (discovered?.record === false) return 'organization'
    if (!discovered?.orgDomain || !walked.includes(domain)) return 'unknown'
    return getOrgDomain(domain, lookup).then(
      (organization) => (organization === discovered.orgDomain ? 'organization' : 'none'),
      () => 'unknown',
    )
  }
  const alignments = others.map(async (domain) => [domain, await organizationOf(domain)] as const)
  return {
    ...(await policyOf(discovered, from, resolver)),
    alignments: new Map([[from, 'same'], ...(await Promise.all(alignments))]),
  }
}

/** The names at which the walk from a name looks for records. */
function walkOf(name: string): string[] {
  const labels = name.split('.')
  const above = labels.slice(Math.max(1, labels.length - MAX_LABELS))
  return [name, ...above.map((_, i) => above.slice(i).join('.'))]
}

async function policyOf(
  discovered: Awaited<ReturnType<typeof discoverPolicy>> | null,
  from: string,
  resolver: DnsResolver,
): Promise<Omit<Dmarc, 'alignments'>> {
  if (!discovered?.record)
    return {
      record: discovered === null ? 'unknown' : 'none',
      policy: 'none',
      strictDkim: false,
      strictSpf: false,
    }
  const { record, recordDomain } = discovered
  // A record without a valid policy asks for nothing, but what it says of alignment holds.
  const { p, sp = p, np = sp } = getPolicyTags(record) ?? { p: 'none' }
  const isMissing = async () => !(await domainExists(from, resolver).catch(() => true))
  const inherited = async () => (np !== sp && (await isMissing()) ? np : sp)
  const policy = recordDomain === from ? p : await inherited()
  return {
    record: 'found',
    policy: (record.t === 'y' && WHILE_TESTING[policy]) || policy,
    strictDkim: record.adkim === 's',
    strictSpf: record.aspf === 's',
  }
}
