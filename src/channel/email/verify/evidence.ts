import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { arc, dkimVerify, spf } from 'mailauth'
import { domainOf } from '../address.ts'
import { type Dmarc, findDmarc } from './dmarc.ts'
import { isLookupName, toHostname } from './hostname.ts'
import type { DnsResolver } from './resolver.ts'
import type { Screened } from './screened-header.ts'

/** What mailauth 4.13.3 says of a signature beyond its types. */
interface Signed {
  /** `b=`. */
  signature?: string
  /** The key's record, without its white space. */
  rr?: string
  /** The names of the fields that were hashed. */
  signingHeaders?: { keys: string }
}
type Dkim = Awaited<ReturnType<typeof dkimVerify>>
type DkimResult = Omit<Dkim, 'results'> & { results: (Dkim['results'][number] & Signed)[] }
type SpfResult = Awaited<ReturnType<typeof spf>>
type ArcResult = Awaited<ReturnType<typeof arc>>

/** What the SMTP session saw; `reversePath` is '' for the null one. */
export interface Envelope {
  ip: string
  helo: string
  reversePath: string
}

/** What mailauth and DNS say of a message. Names in it are still the sender's words. */
export interface Evidence {
  dkim: DkimResult
  /** Null when neither MAIL FROM nor HELO names a domain. */
  spf: { domain: string; result: SpfResult } | null
  /** Null when the chain could not be read. */
  arc: ArcResult | null
  /** Null for no record, an error's code when nobody could say. */
  dmarc: Dmarc | null | { error: string }
}

const PIECE = 64 * 1024
const MAX_LINE = 512 * 1024
/**
 * mailauth's patterns are quadratic in the length of a record and of what its macros stand for. A key of
 * 4,096 bits takes 800 characters.
 */
const MAX_RECORD = 4 * 1024
const MAX_RECORDS = 200
const MAX_MACROS = 40

interface Asking {
  resolver: DnsResolver
  mta: string
  signal: AbortSignal
}

/**
 * Asks for everything at once, `from` being the hostname of From. Rejects at a body that nobody can hash in
 * time.
 */
export async function gather(
  screened: Screened,
  envelope: Envelope,
  from: string,
  { resolver, mta, signal }: Asking,
): Promise<Evidence> {
  const asked = guarded(resolver, signal)
  const pieces = Readable.from(inTurns(screened, signal), { objectMode: false })
  const [dkim, spfEvidence, dmarc] = await Promise.all([
    // Any sender but none: without one it looks for a Return-Path.
    dkimVerify(pieces, { resolver: asked, sender: '<>' }),
    askSpf(envelope, mta, asked),
    findDmarc(from, asked).catch((error: NodeJS.ErrnoException) => ({ error: error.code ?? 'EUNKNOWN' })),
  ])
  const chain = await arc(dkim.arc as Parameters<typeof arc>[0], { resolver: asked }).catch(() => null)
  return { dkim, spf: spfEvidence, dmarc, arc: chain }
}

const codedError = (code: string, words: string) => Object.assign(new Error(words), { code })

/**
 * Asks only for names that are nothing but hostnames with underscores, and hands over no record that is made
 * to be slow.
 */
const guarded =
  (resolver: DnsResolver, signal: AbortSignal): DnsResolver =>
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

/** SPF of the domain in MAIL FROM, or in HELO for the null sender (RFC 7208 2.4); null where it is none. */
async function askSpf(
  { ip, helo, reversePath }: Envelope,
  mta: string,
  resolver: DnsResolver,
): Promise<Evidence['spf']> {
  const host = toHostname(helo)
  const domain = reversePath === '' ? host : toHostname(domainOf(reversePath))
  const local = reversePath === '' ? 'postmaster' : reversePath.slice(0, reversePath.lastIndexOf('@'))
  if (domain === null || !/^[^@\s\p{Cc}"\\]{1,256}$/u.test(local)) return null
  return {
    domain,
    result: await spf({
      ip,
      sender: `${local}@${domain}`,
      mta,
      resolver,
      ...(host === null ? {} : { helo: host }),
    }),
  }
}

/**
 * The message in pieces with a turn of the event loop after each: mailauth's own way through a buffer leaves
 * none, 25 MB long. Throws when the time is over, or at a line so long that hashing it for a signature (each
 * piece takes the whole line again) would eat that time.
 */
async function* inTurns({ block, body, isSigned }: Screened, signal: AbortSignal): AsyncGenerator<Buffer> {
  yield block
  let line = 0
  for (let at = 0; at < body.length; at += PIECE) {
    if (signal.aborted) throw new UncheckableError('the checks took too long')
    const piece = Buffer.from(body.buffer, body.byteOffset + at, Math.min(PIECE, body.length - at))
    line = piece.includes(0x0a) ? piece.length - piece.lastIndexOf(0x0a) : line + piece.length
    if (isSigned && line > MAX_LINE)
      throw new UncheckableError(`the body has a line longer than ${MAX_LINE / 1024} KiB`)
    yield piece
    if (body.length > PIECE) await setImmediate()
  }
}

/** Why a message can't be checked, in words for the evidence. */
export class UncheckableError extends Error {}
