import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { authenticate } from 'mailauth'
import { getAlignment } from 'mailauth/lib/tools.js'
import { messageOf } from '../../core/errors.ts'
import type { Check } from '../channel.ts'
import { oneLine } from '../storable.ts'
import { domainOf, normalizeLoosely } from './address.ts'
import { headerLength, type RawHeader, scanHeaders } from './headers.ts'
import type { DnsResolver } from './resolver.ts'

/** What the SMTP session saw; `reversePath` is '' for the null one. */
export interface Envelope {
  ip: string
  helo: string
  reversePath: string
}

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

type Authentication = Awaited<ReturnType<typeof authenticate>>
type Signature = Authentication['dkim']['results'][number]

// mailauth 4.13 folds headers by splicing (quadratic) and hashes the body once per signature: mail made of either would hold the event
// loop.
const MAX_HEADER_BYTES = 128 * 1024
const MAX_HEADER_LINES = 2_000
const MAX_SIGNATURES = 10
const PIECE = 64 * 1024
const MAX_LINE = 512 * 1024
// Fields of which a second one would show the reader something else than what was signed (RFC 6376 8.15).
const SINGULAR = [
  'from',
  'subject',
  'date',
  'message-id',
  'content-type',
  'content-transfer-encoding',
  'mime-version',
  'reply-to',
  'to',
  'cc',
]

/**
 * Whether `from` (the normalized address that the parser showed) wrote this message: exactly one From with exactly one address, and an SPF
 * or DKIM pass aligned with its domain, in the way that its DMARC record asks for, relaxed when it has none. Never throws: trouble with
 * DNS is "not proven", and "unsettled" where it may have been all that was missing. An `Authentication-Results` in the mail counts for
 * nothing.
 */
export async function verify(raw: Uint8Array, from: string, envelope: Envelope, options: VerifyOptions): Promise<Verification> {
  const headers = scanHeaders(raw)
  const refusal = unfitness(raw, headers)
  if (refusal !== null) return unproven('from', 'fail', refusal)
  const deadline = new AbortController()
  const asking = { now: 0 }
  const timer = setTimeout(() => deadline.abort(), options.timeoutMs ?? 5_000)
  try {
    const watched = { ...options, resolver: counted(options.resolver, asking) }
    const pieces = inTurns(raw, isSigned(headers), deadline.signal)
    const result = await Promise.race([check(pieces, envelope, watched, deadline.signal), whenAborted(deadline.signal)])
    if (result !== null) return judge(result, headers, from)
    return { ...unproven('dmarc', 'temperror', 'the lookups took too long'), unsettled: asking.now > 0 }
  } catch (error) {
    return unproven('dmarc', 'temperror', oneLine(messageOf(error), 200))
  } finally {
    clearTimeout(timer)
    deadline.abort()
  }
}

const unproven = (name: string, verdict: string, detail: string): Verification => ({
  proven: false,
  unsettled: false,
  checks: [{ name, verdict, detail }],
})

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

const isSigned = (headers: readonly RawHeader[]): boolean =>
  headers.some(({ name }) => name === 'dkim-signature' || name === 'arc-message-signature')

function check(
  pieces: AsyncIterable<Buffer>,
  envelope: Envelope,
  { resolver, mta }: VerifyOptions,
  signal: AbortSignal,
): Promise<Authentication> {
  const timedOut = () => Object.assign(new Error('the lookups took too long'), { code: 'ETIMEOUT' })
  return authenticate(Readable.from(pieces, { objectMode: false }), {
    ip: envelope.ip,
    helo: envelope.helo,
    sender: envelope.reversePath,
    mta,
    trustReceived: false,
    disableBimi: true,
    resolver: (name, type) => (signal.aborted ? Promise.reject(timedOut()) : resolver(name, type)),
  })
}

/**
 * The message in pieces with a turn of the event loop after each: mailauth's own way through a buffer leaves none, 25 MB long. Throws when
 * the time is over, or at a line so long that hashing it for a signature (each piece takes the whole line again) would eat that time.
 */
async function* inTurns(raw: Uint8Array, signed: boolean, signal: AbortSignal): AsyncGenerator<Buffer> {
  let line = 0
  for (let at = 0; at < raw.length; at += PIECE) {
    if (signal.aborted) throw new Error('the checks took too long')
    const piece = Buffer.from(raw.buffer, raw.byteOffset + at, Math.min(PIECE, raw.length - at))
    line = piece.includes(0x0a) ? piece.length - piece.lastIndexOf(0x0a) : line + piece.length
    if (signed && line > MAX_LINE) throw new Error(`the body has a line longer than ${MAX_LINE / 1024} KiB`)
    yield piece
    if (raw.length > PIECE) await setImmediate()
  }
}

/** Why the header is not worth checking: no reader could be sure whom it names. */
function unfitness(raw: Uint8Array, headers: RawHeader[]): string | null {
  const block = raw.subarray(0, headerLength(raw))
  if (block.length > MAX_HEADER_BYTES) return `the header is longer than ${MAX_HEADER_BYTES / 1024} KiB`
  const text = Buffer.from(block).toString('latin1')
  if (text.split('\n').length > MAX_HEADER_LINES) return `the header has more than ${MAX_HEADER_LINES} lines`
  if (/\r(?!\n)|\0/.test(text)) return 'the header has a bare carriage return or a NUL, on which readers disagree'
  const count = (name: string) => headers.filter((header) => header.name === name).length
  if (count('dkim-signature') > MAX_SIGNATURES) return `more than ${MAX_SIGNATURES} DKIM signatures`
  if (count('from') !== 1) return count('from') === 0 ? 'there is no From' : `there are ${count('from')} From headers`
  return null
}

function judge(result: Authentication, headers: RawHeader[], from: string): Verification {
  const named = result.dkim.headerFrom.map(normalizeLoosely)
  const fromCheck = named.length === 1 ? null : `From names ${named.length} addresses`
  const sole = fromCheck ?? (named[0] !== from || from === '' ? 'From can be read in more than one way' : null)
  const signatures = result.dkim.results.filter((signature) => signature.signingDomain)
  const duplicated = SINGULAR.find((name) => headers.filter((header) => header.name === name).length > 1)
  const weaknesses = signatures.map((signature) => weakness(signature, duplicated))
  const signers = signatures.filter((_, i) => weaknesses[i] === null).map((signature) => signature.signingDomain)
  const spfDomain = result.spf && result.spf.status.result === 'pass' ? result.spf.domain : null
  const dmarc = judgeDmarc(result, domainOf(from), signers, spfDomain)
  const checks = [
    spfCheck(result, domainOf(from)),
    ...(signatures.length === 0 ? [{ name: 'dkim', verdict: 'none', detail: 'not signed' }] : []),
    ...signatures.map((signature, i) => dkimCheck(signature, weaknesses[i] ?? null, domainOf(from))),
    dmarc,
    arcCheck(result),
  ]
  if (sole !== null) return { proven: false, unsettled: false, checks: [{ name: 'from', verdict: 'fail', detail: sole }, ...checks] }
  const proven = dmarc.verdict === 'pass' || (dmarc.verdict === 'none' && dmarc.aligned)
  return {
    proven,
    unsettled: !proven && mayStillPass(result, domainOf(from), dmarc),
    checks: checks.map(({ name, verdict, detail }) => ({ name, verdict, detail })),
  }
}

/** Whether a failed lookup stands between this message and its proof: of a record that would be aligned with From, or of the policy. */
function mayStillPass({ spf, dkim }: Authentication, domain: string, dmarc: { verdict: string; aligned: boolean }): boolean {
  if (dmarc.verdict === 'temperror' && dmarc.aligned) return true
  const open = dkim.results.filter(({ status }) => status.result === 'temperror').map(({ signingDomain }) => signingDomain)
  if (spf && spf.status.result === 'temperror') open.push(spf.domain)
  return open.some((name) => name && aligned(domain, name, false))
}

/** Why a signature vouches for nothing here, or null for a sound pass. */
function weakness(signature: Signature, duplicated: string | undefined): string | null {
  const { result, comment, underSized } = signature.status
  if (result !== 'pass') return comment ?? 'it does not verify'
  // Not in its types.
  const { algo = '', signingHeaders = {} } = signature as { algo?: string; signingHeaders?: { keys?: string } }
  if (/sha1\s*$/i.test(algo)) return 'SHA-1 proves nothing any more (RFC 8301 3.1)'
  if (Number(underSized) > 0) return `its l= leaves the last ${Number(underSized)} bytes unsigned`
  const signed = (signingHeaders.keys ?? '').toLowerCase().split(/\s*:\s*/)
  if (!signed.includes('from')) return 'it does not cover From'
  return duplicated === undefined ? null : `there is more than one ${duplicated} header`
}

function judgeDmarc(result: Authentication, domain: string, signers: string[], spfDomain: string | null): Check & { aligned: boolean } {
  const { dmarc } = result
  if (!dmarc) return { name: 'dmarc', verdict: 'permerror', detail: 'there is not exactly one From address', aligned: false }
  const alignment = (dmarc as { alignment?: { spf?: { strict?: boolean }; dkim?: { strict?: boolean } } }).alignment
  const vouching = signers.find((signer) => aligned(domain, signer, alignment?.dkim?.strict ?? false))
  const path = spfDomain !== null && aligned(domain, spfDomain, alignment?.spf?.strict ?? false) ? spfDomain : null
  const by = vouching !== undefined ? `DKIM of ${vouching}` : path !== null ? `SPF of ${path}` : null
  const found = dmarc.status.result
  if (found !== 'pass' && found !== 'fail') {
    const detail =
      found === 'none'
        ? `${domain} publishes no DMARC record; ${by ?? 'nothing'} is aligned with From`
        : `the record of ${domain} could not be read`
    return { name: 'dmarc', verdict: found, detail, aligned: by !== null }
  }
  // Judged anew: mailauth counts signatures that we don't, and takes strict alignment for relaxed.
  const detail = by === null ? `neither SPF nor DKIM passes for ${domain}` : `${by} is aligned with From`
  return {
    name: 'dmarc',
    verdict: by === null ? 'fail' : 'pass',
    detail: `${detail} (p=${oneLine(dmarc.policy ?? 'none', 20)})`,
    aligned: by !== null,
  }
}

const aligned = (from: string, domain: string, strict: boolean): boolean =>
  strict ? from.toLowerCase() === domain.toLowerCase() : getAlignment(from, [domain]) !== false

const alignedWords = (from: string, domain: string) =>
  aligned(from, domain, false) ? 'aligned with From' : `not aligned with From ${from}`

function spfCheck({ spf }: Authentication, from: string): Check {
  if (!spf) return { name: 'spf', verdict: 'none', detail: 'not checked' }
  const verdict = spf.status.result
  const detail = verdict === 'pass' ? alignedWords(from, spf.domain) : (spf.status.comment ?? 'no record').replace(/^\S+: /, '')
  return { name: 'spf', verdict, detail: oneLine(verdict === 'pass' ? `${spf.domain} ${detail}` : detail, 300) }
}

function dkimCheck(signature: Signature, weak: string | null, from: string): Check {
  const verdict = signature.status.result === 'pass' && weak !== null ? 'policy' : signature.status.result
  return {
    name: 'dkim',
    verdict,
    detail: oneLine(`${signature.signingDomain} ${weak ?? alignedWords(from, signature.signingDomain)}`, 300),
  }
}

function arcCheck({ arc }: Authentication): Check {
  if (!arc || arc.status.result === 'none') return { name: 'arc', verdict: 'none', detail: 'no chain' }
  return {
    name: 'arc',
    verdict: arc.status.result,
    detail: oneLine(arc.status.comment ?? 'evidence only: a forwarder’s seal proves no sender', 200),
  }
}
