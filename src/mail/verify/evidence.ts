import { type DkimResult, verifyDkim } from './dkim-verifier.ts'
import { checkDmarc, type Dmarc } from './dmarc.ts'
import { isLookupName, isQueryName } from './hostname.ts'
import { arc } from './mailauth.ts'
import type { DnsResolver } from './resolver.ts'
import type { Screened } from './screened-header.ts'
import { checkSpf, type Envelope, type SpfEvidence, spfDomain } from './spf.ts'

export type { Envelope } from './spf.ts'

type ArcResult = Awaited<ReturnType<typeof arc>>

/** The results of mailauth and DNS lookups for a message. Names in it are untrusted. */
export interface Evidence {
  dkim: DkimResult
  spf: SpfEvidence
  /** Null if the chain could not be read. */
  arc: ArcResult | null
  dmarc: Dmarc
}

/**
 * SPF reads up to eleven records, and expands macros with the sender's own long address: 64 KB of them take a second each. A
 * key of 4,096 bits takes 800 characters.
 */
const MAX_RECORD = 4 * 1024
const MAX_MACROS = 40

interface GatherOptions {
  resolver: DnsResolver
  mta: string
  signal: { readonly aborted: boolean }
}

/**
 * Runs all checks concurrently. `from` is the hostname of From. Rejects if the body cannot be hashed in time.
 */
export async function gather(
  screened: Screened,
  envelope: Envelope,
  from: string,
  { resolver, mta, signal }: GatherOptions,
): Promise<Evidence> {
  const guardedResolver = guarded(resolver, signal, isLookupName)
  const vouching = [spfDomain(envelope), ...screened.signatures.map(({ domain }) => domain)].filter(
    (domain) => domain !== null,
  )
  const [dkim, spfEvidence, dmarc] = await Promise.all([
    verifyDkim(screened, { resolver: guardedResolver, signal }),
    checkSpf(envelope, mta, guarded(resolver, signal, isQueryName)),
    checkDmarc(from, vouching, guardedResolver),
  ])
  const arcResult = await arc(dkim.arc as Parameters<typeof arc>[0], { resolver: guardedResolver }).catch(
    () => null,
  )
  return { dkim, spf: spfEvidence, dmarc, arc: arcResult }
}

const codedError = (code: string, message: string) => Object.assign(new Error(message), { code })

/**
 * Restricts a resolver to names that are allowed, and drops records that would take long to parse. Other names do not
 * exist.
 */
const guarded =
  (
    resolver: DnsResolver,
    signal: { readonly aborted: boolean },
    isAllowed: (name: string) => boolean,
  ): DnsResolver =>
  async (name, type) => {
    if (signal.aborted) throw codedError('ETIMEOUT', 'the lookups took too long')
    if (!isAllowed(name))
      throw codedError('ENOTFOUND', 'the name has characters that are not looked up in DNS')
    const answer = await resolver(name, type)
    return type === 'TXT' ? (answer as string[][]).filter(isReadable) : answer
  }

function isReadable(strings: readonly string[]): boolean {
  const record = strings.join('')
  return record.length <= MAX_RECORD && record.split('%').length <= MAX_MACROS
}
