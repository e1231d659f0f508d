import addressparser from 'nodemailer/lib/addressparser'
import { domainOf, normalizeLoosely } from '../../core/address/email-address.ts'
import { toHostname } from '../../core/address/hostname.ts'
import type { Check, SignedContent } from '../../core/channel/inbound.ts'
import { messageOf } from '../../core/errors.ts'
import { oneLine } from '../../core/text/sanitize-text.ts'
import { type RawHeader, scanHeaders } from '../header/headers.ts'
import { UncheckableError } from './dkim-verifier.ts'
import { type Envelope, gather } from './evidence.ts'
import { type Judgement, judge } from './judge.ts'
import type { DnsResolver } from './resolver.ts'
import { headerFault, type Screened, screen } from './screened-header.ts'

export type { Envelope } from './evidence.ts'

export interface Verification {
  /** Whether the message is proven to come from the domain of `from`. */
  proven: boolean
  /**
   * Whether the message is unproven only because a lookup failed temporarily: it may be proven when it is
   * sent again.
   */
  unsettled: boolean
  checks: Check[]
  /** What the sender's domain signed, if the message is proven and has its signature. */
  signature?: SignedContent | null
}

export interface VerifyOptions {
  resolver: DnsResolver
  /** Our own host name, shown in the checks. */
  mta: string
  /** Maximum time in milliseconds for all lookups of one message. */
  timeoutMs?: number
}

/**
 * Verifies that `from` (the normalized address that the parser returned) wrote this message. This requires
 * exactly one From header with exactly one address at a domain name, and an SPF or DKIM pass aligned with it
 * as the DMARC record requires (relaxed without a record). Names that do not consist of plain DNS labels are
 * never accepted. Never throws: DNS failures make the message unproven, and "unsettled" if they may be the
 * only reason. `Authentication-Results` in the message are ignored.
 */
export async function verify(
  raw: Uint8Array,
  from: string,
  envelope: Envelope,
  options: VerifyOptions,
): Promise<Verification> {
  const headers = scanHeaders(raw)
  const fault = headerFault(raw, headers)
  if (fault !== null) return unproven('from', 'fail', fault)
  const domain = toHostname(domainOf(from))
  if (domain === null)
    return unproven('from', 'fail', 'From does not contain a single address at a domain name')
  const pending = { count: 0 }
  const deadline = new Deadline(options.timeoutMs ?? 5_000)
  try {
    const checked = check(
      raw,
      headers,
      { from, domain, envelope },
      { ...options, resolver: counted(options.resolver, pending), signal: deadline },
    )
    const result = await Promise.race([checked, deadline.reached])
    return (
      result ?? {
        ...unproven('dmarc', 'temperror', 'the lookups took too long'),
        unsettled: pending.count > 0,
      }
    )
  } catch (error) {
    return unproven(
      'dmarc',
      'temperror',
      error instanceof UncheckableError ? messageOf(error) : 'the message could not be checked',
    )
  } finally {
    deadline.end()
  }
}

/** The time limit of the checks: without an AbortController, whose events cost time for each message. */
class Deadline {
  aborted = false
  readonly reached: Promise<null>
  readonly #timer: NodeJS.Timeout

  constructor(ms: number) {
    let resolve: (value: null) => void
    this.reached = new Promise((done) => {
      resolve = done
    })
    this.#timer = setTimeout(() => {
      this.aborted = true
      resolve(null)
    }, ms)
  }

  /** Ends the time early. Checks that are still running stop at their next step. */
  end(): void {
    clearTimeout(this.#timer)
    this.aborted = true
  }
}

const unproven = (name: string, verdict: string, detail: string): Verification => ({
  proven: false,
  unsettled: false,
  checks: [{ name, verdict, detail }],
})

/** Counts the pending queries of the resolver. */
const counted =
  (resolver: DnsResolver, pending: { count: number }): DnsResolver =>
  async (name, type) => {
    pending.count++
    try {
      return await resolver(name, type)
    } finally {
      pending.count--
    }
  }

interface Claim {
  from: string
  /** The domain of `from` as a hostname. */
  domain: string
  envelope: Envelope
}

async function check(
  raw: Uint8Array,
  headers: readonly RawHeader[],
  { from, domain, envelope }: Claim,
  { resolver, mta, signal }: VerifyOptions & { signal: Deadline },
): Promise<Verification> {
  const screened = screen(raw)
  const evidence = await gather(screened, envelope, domain, { resolver, mta, signal })
  const judgement = judge(evidence, screened, headers, { address: from, domain })
  const doubt = doubtOf(evidence.dkim.headerFrom, screened, from)
  return doubt === null ? judgement : withDoubt(judgement, doubt)
}

/** Checks that mailauth's address parser finds the same address, and no group (RFC 6854), of which it takes the members. */
function doubtOf(addresses: readonly string[], { fields }: Screened, from: string): string | null {
  if (addresses.length !== 1) return `From contains ${addresses.length} addresses`
  const lines = fields.find(({ name }) => name.toLowerCase() === 'from')?.lines ?? []
  const text = Buffer.concat(lines)
    .toString()
    .replace(/^[^:]*:/, '')
  if (text.includes(':') && addressparser(text).some(({ group }) => group)) return 'From contains a group'
  return normalizeLoosely(addresses[0]!) === from ? null : 'From is ambiguous'
}

const withDoubt = ({ checks }: Judgement, doubt: string): Verification => ({
  proven: false,
  unsettled: false,
  checks: [{ name: 'from', verdict: 'fail', detail: oneLine(doubt, 200) }, ...checks],
})
