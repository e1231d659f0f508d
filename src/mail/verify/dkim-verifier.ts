import { setImmediate } from 'node:timers/promises'
import type { dkimVerify } from 'mailauth'
import type { HeaderField } from '../header/header-value.ts'
import { type KeyCache, keyCacheOf } from './known-keys.ts'
import { DkimVerifier } from './mailauth.ts'
import type { DnsResolver } from './resolver.ts'
import type { Screened } from './screened-header.ts'

export type DkimResult = Pick<Awaited<ReturnType<typeof dkimVerify>>, 'arc' | 'headerFrom' | 'results'>

/** Fields as mailauth's own parser returns them. `line` has CRLF between its lines, and none at its end. */
interface Headers {
  parsed: { key: string; casedKey: string; line: Buffer }[]
}
/** The verifier behind mailauth's `dkimVerify`. The version is pinned, and tests fail if this changes. */
interface Verifier extends DkimResult {
  keyCache: KeyCache
  /** ARC takes its keys from here. */
  arc: NonNullable<DkimResult['arc']> & { keyCache: KeyCache }
  messageHeaders(headers: Headers): Promise<void>
  /** Yields the bytes with CRLF line ends. */
  ensureLinebreaks(bytes: Buffer): Iterable<Buffer>
  nextChunk(bytes: Buffer): Promise<void>
  finalChunk(): Promise<void>
}

const PIECE = 64 * 1024
const MAX_LINE = 512 * 1024

/**
 * Verifies the signatures of a message, and reads its ARC chain and the addresses in From. It is given the fields
 * that the parser reads, which mailauth would split by other rules. Unlike mailauth's
 * stream, it does not search the header for its end byte by byte, and hashes the body only if it is signed
 * (docs/decisions.md#verifying-mail). Rejects if the body cannot be hashed in time.
 */
export async function verifyDkim(
  { fields, body, isSigned }: Screened,
  { resolver, signal }: { resolver: DnsResolver; signal: { readonly aborted: boolean } },
): Promise<DkimResult> {
  // Without a sender, mailauth would look for a Return-Path header.
  const verifier = new DkimVerifier({ resolver, sender: '<>' }) as Verifier
  verifier.keyCache = keyCacheOf(resolver)
  verifier.arc.keyCache = verifier.keyCache
  await verifier.messageHeaders({ parsed: fields.map(toParsed) })
  if (isSigned)
    for await (const piece of inTurns(body, signal))
      for (const bytes of verifier.ensureLinebreaks(piece)) await verifier.nextChunk(bytes)
  await verifier.finalChunk()
  return verifier
}

const LINE_END = Buffer.from('\r\n')

const toParsed = ({ name, lines }: HeaderField): Headers['parsed'][number] => ({
  key: name.toLowerCase(),
  casedKey: name,
  line: Buffer.concat(lines.flatMap((line, i) => (i === 0 ? [line] : [LINE_END, line]))),
})

/**
 * Yields the body in pieces and lets the event loop turn after each, which mailauth does not do with a buffer
 * of 25 MB. Throws when the time is over, or at a line so long that hashing it (the whole line is processed
 * again with each piece) would use up that time.
 */
async function* inTurns(body: Uint8Array, signal: { readonly aborted: boolean }): AsyncGenerator<Buffer> {
  let line = 0
  for (let at = 0; at < body.length; at += PIECE) {
    if (signal.aborted) throw new UncheckableError('the checks took too long')
    const piece = Buffer.from(body.buffer, body.byteOffset + at, Math.min(PIECE, body.length - at))
    line = piece.includes(0x0a) ? piece.length - piece.lastIndexOf(0x0a) : line + piece.length
    if (line > MAX_LINE) throw new UncheckableError(`the body has a line longer than ${MAX_LINE / 1024} KiB`)
    yield piece
    if (body.length > PIECE) await setImmediate()
  }
}

/** A message that cannot be verified; the reason is shown in its checks. */
export class UncheckableError extends Error {}
