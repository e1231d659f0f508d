import { messageOf } from '../../../core/errors.ts'
import type { Check } from '../../channel.ts'
import { oneLine } from '../../sanitize-text.ts'
import { domainOf, normalizeLoosely } from '../address.ts'
import { type RawHeader, scanHeaders } from '../parse/headers.ts'
import { type Envelope, gather, UncheckableError } from './evidence.ts'
import { toHostname } from './hostname.ts'
import { type Judgement, judge } from './judge.ts'
import type { DnsResolver } from './resolver.ts'
import { screen, unfitness } from './screened-header.ts'

export type { Envelope } from './evidence.ts'

export interface Verification {
  /** Whether the domain of `from` vouches for this message. */
  proven: boolean
  /** Not proven only because a lookup failed for now: the same message may be proven when it comes again. */
  unsettled: boolean
  checks: Check[]
}

export interface VerifyOptions {
  resolver: DnsResolver
  /** Our own host name, for the evidence's words. */
  mta: string
  /** Milliseconds for all lookups of one message together. */
  timeoutMs?: number
}

/**
 * Whether `from` (the normalized address that the parser showed) wrote this message: exactly one From with
 * exactly one address on a domain name, and an SPF or DKIM pass aligned with it, in the way that its DMARC
 * record asks for, relaxed when it has none. A name that is not made of plain DNS labels counts for nothing,
 * wherever it stands. Never throws: trouble with DNS is "not proven", and "unsettled" where it may have been
 * all that was missing. An `Authentication-Results` in the mail counts for nothing.
 */
export async function verify(
  raw: Uint8Array,
  from: string,
  envelope: Envelope,
  options: VerifyOptions,
): Promise<Verification> {
  const headers = scanHeaders(raw)
  const refusal = unfitness(raw, headers)
  if (refusal !== null) return unproven('from', 'fail', refusal)
  const domain = toHostname(domainOf(from))
  if (domain === null)
    return unproven('from', 'fail', 'From does not contain a single address at a domain name')
  const deadline = new AbortController()
  const asking = { now: 0 }
  const timer = setTimeout(() => deadline.abort(TOO_LONG), options.timeoutMs ?? 5_000)
  try {
    const checked = check(
      raw,
      headers,
      { from, domain, envelope },
      { ...options, resolver: counted(options.resolver, asking) },
      deadline.signal,
    )
    const result = await Promise.race([checked, whenAborted(deadline.signal)])
    return (
      result ?? { ...unproven('dmarc', 'temperror', 'the lookups took too long'), unsettled: asking.now > 0 }
    )
  } catch (error) {
    return unproven(
      'dmarc',
      'temperror',
      error instanceof UncheckableError ? messageOf(error) : 'the message could not be checked',
    )
  } finally {
    clearTimeout(timer)
    deadline.abort(TOO_LONG)
  }
}

const unproven = (name: string, verdict: string, detail: string): Verification => ({
  proven: false,
  unsettled: false,
  checks: [{ name, verdict, detail }],
})

/** Without a reason of our own, each mail would make a DOMException with a stack trace, for 30 µs. */
const TOO_LONG = 'the checks are over'

/** The resolver, with how many of its answers are still awaited. */
const counted =
  (resolver: DnsResolver, asking: { now: number }): DnsResolver =>
  async (name, type) => {
    asking.now++
    try {
      return await resolver(name, type)
    } finally {
      asking.now--
    }
  }

const whenAborted = (signal: AbortSignal) =>
  new Promise<null>((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }))

interface Claim {
  from: string
  /** Its domain, as a hostname. */
  domain: string
  envelope: Envelope
}

async function check(
  raw: Uint8Array,
  headers: readonly RawHeader[],
  { from, domain, envelope }: Claim,
  { resolver, mta }: VerifyOptions,
  signal: AbortSignal,
): Promise<Verification> {
  const screened = screen(raw)
  const evidence = await gather(screened, envelope, domain, { resolver, mta, signal })
  const judgement = judge(evidence, screened, headers, domain)
  const doubt = doubtOf(evidence.dkim.headerFrom, from)
  return doubt === null ? judgement : withDoubt(judgement, doubt)
}

/** A second parser of addresses has to read the same one. */
function doubtOf(named: readonly string[], from: string): string | null {
  if (named.length !== 1) return `From contains ${named.length} addresses`
  return normalizeLoosely(named[0]!) === from ? null : 'From is ambiguous'
}

const withDoubt = ({ checks }: Judgement, doubt: string): Verification => ({
  proven: false,
  unsettled: false,
  checks: [{ name: 'from', verdict: 'fail', detail: oneLine(doubt, 200) }, ...checks],
})
