import { toHostname } from '../../../core/hostname.ts'
import { isSendersAddress } from '../../../core/public-address.ts'
import { isLoopback } from '../../../core/source.ts'
import { domainOf, normalizeLoosely } from '../address.ts'
import { type DkimResult, verifyDkim } from './dkim-verifier.ts'
import { type Dmarc, findDmarc } from './dmarc.ts'
import { isLookupName } from './hostname.ts'
import { arc, spf } from './mailauth.ts'
import type { DnsResolver } from './resolver.ts'
import type { Screened } from './screened-header.ts'

type SpfResult = Awaited<ReturnType<typeof spf>>
type ArcResult = Awaited<ReturnType<typeof arc>>

/** The SMTP envelope. `reversePath` is '' for the null reverse path. */
export interface Envelope {
  /** Address of the client; '' if it is not known. */
  ip: string
  helo: string
  reversePath: string
  /** Whether the client at `ip` handed it to us itself; otherwise somebody else says so. */
  direct?: boolean
}

/** The results of mailauth and DNS lookups for a message. Names in it are untrusted. */
export interface Evidence {
  dkim: DkimResult
  /** `mailbox` is MAIL FROM, normalized; '' for the null one. Null if neither MAIL FROM nor HELO contains a domain. */
  spf: { domain: string; mailbox: string; result: Pick<SpfResult, 'status'> } | null
  /** Null if the chain could not be read. */
  arc: ArcResult | null
  /** Null if there is no record; an error code if the lookup failed. */
  dmarc: Dmarc | null | { error: string }
}

/**
 * mailauth takes quadratic time in the length of a record and its expanded macros. A key of 4,096 bits takes
 * 800 characters.
 */
const MAX_RECORD = 4 * 1024
const MAX_RECORDS = 200
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
  const guardedResolver = guarded(resolver, signal)
  const [dkim, spfEvidence, dmarc] = await Promise.all([
    verifyDkim(screened, { resolver: guardedResolver, signal }),
    checkSpf(envelope, mta, guardedResolver),
    findDmarc(from, guardedResolver).catch((error: NodeJS.ErrnoException) => ({
      error: error.code ?? 'EUNKNOWN',
    })),
  ])
  const arcResult = await arc(dkim.arc as Parameters<typeof arc>[0], { resolver: guardedResolver }).catch(
    () => null,
  )
  return { dkim, spf: spfEvidence, dmarc, arc: arcResult }
}

const codedError = (code: string, message: string) => Object.assign(new Error(message), { code })

/**
 * Restricts a resolver to hostnames, which may contain underscores, and drops records that would take long to
 * parse.
 */
const guarded =
  (resolver: DnsResolver, signal: { readonly aborted: boolean }): DnsResolver =>
  async (name, type) => {
    if (signal.aborted) throw codedError('ETIMEOUT', 'the lookups took too long')
    if (!isLookupName(name))
      throw codedError('ENOTFOUND', 'the name has characters that are not looked up in DNS')
    const answer = await resolver(name, type)
    return type === 'TXT' ? (answer as string[][]).filter(isReadable).slice(0, MAX_RECORDS) : answer
  }

function isReadable(strings: readonly string[]): boolean {
  const record = strings.join('')
  return record.length <= MAX_RECORD && record.split('%').length <= MAX_MACROS
}

/**
 * Why SPF proves nothing about this client; null if it may. A program on this machine may stand in for a sender's
 * server, but only if it speaks to us itself.
 */
function clientFault({ ip, direct }: Envelope): string | null {
  if (ip === '') return "the address of the sender's server is not known"
  return isSendersAddress(ip) || (direct && isLoopback(ip))
    ? null
    : `${ip} is not a public address: it is that of a gateway, which identifies no sender`
}

/**
 * Checks SPF of the domain in MAIL FROM, or in HELO for the null sender (RFC 7208 2.4). Null if there is no
 * valid domain.
 */
async function checkSpf(envelope: Envelope, mta: string, resolver: DnsResolver): Promise<Evidence['spf']> {
  const { ip, helo, reversePath } = envelope
  const host = toHostname(helo)
  const domain = reversePath === '' ? host : toHostname(domainOf(reversePath))
  const local = reversePath === '' ? 'postmaster' : reversePath.slice(0, reversePath.lastIndexOf('@'))
  if (domain === null || !/^[^@\s\p{Cc}"\\]{1,256}$/u.test(local)) return null
  const comment = clientFault(envelope)
  // Some servers tag it, to recognize bounces of their own mail (BATV).
  const mailbox = normalizeLoosely(reversePath.replace(/^prvs=\w+=/i, ''))
  if (comment !== null) return { domain, mailbox, result: { status: { result: 'none', comment } } }
  return {
    domain,
    mailbox,
    result: await spf({
      ip,
      sender: `${local}@${domain}`,
      mta,
      resolver,
      ...(host === null ? {} : { helo: host }),
    }),
  }
}
