import { createBase64End } from './base64-end.ts'

/** The decoder of a MIME part in postal-mime 4.0.0 (there are three kinds). Its output is in `chunks`. */
export interface PartDecoder {
  chunks: (Uint8Array | ArrayBuffer | string)[]
  /** In the base64 decoder only: digits of an incomplete group of four. */
  remainder?: string
  /** In the quoted-printable decoder only: number of decoded bytes that are not in `chunks` yet. */
  bufferPos?: number
  update(line: Uint8Array): void
  writeBytes?(bytes: Uint8Array, start: number, end: number): void
  flushBuffer?(): void
  flushRemainder?(): void
  finalize(): Promise<ArrayBuffer>
}

/** A node of postal-mime, which creates its decoder at the end of its header. */
export interface DecodingNode {
  state: 'header' | 'body' | 'finished'
  contentType: { multipart: string | false }
  contentDecoder: PartDecoder | null
  setupContentDecoder(encoding: string): void
  feed(line: Uint8Array): void
}

/**
 * Number of pieces collected before they are joined: 25 MiB of base64 with padding after every byte would be 12 million
 * pieces, each of which takes memory of its own.
 */
const MAX_PIECES = 8 * 1024
/** Maximum base64 input of one update: each `=` in it ends a piece. */
const MAX_UPDATE = 16 * 1024

/**
 * Makes a node return the bytes of its part as they were sent. postal-mime ends every line with a line feed, the last
 * one too, although the line end before a boundary belongs to the boundary (RFC 2046 5.1.1). `hasEnded` tells
 * whether the message is over: what ends then ends without a boundary.
 */
export function decodeExactly(node: DecodingNode, hasEnded: () => boolean): void {
  const { setupContentDecoder } = node
  node.setupContentDecoder = (encoding) => {
    setupContentDecoder.call(node, encoding)
    const decoder = node.contentDecoder
    if (decoder === null) return
    // The lines around the parts of a multipart are not read.
    if (node.contentType.multipart !== false) Object.assign(decoder, { update() {}, finalize: nothing })
    else if (decoder.remainder !== undefined) decodeBase64(decoder)
    else if (decoder.writeBytes) decodeQuotedPrintable(decoder, hasEnded)
    else copyLines(decoder, hasEnded)
  }
}

const nothing = async () => new ArrayBuffer(0)

/** Copies a body that is not encoded. Its lines stand one after the other in the buffer of the message. */
function copyLines(decoder: PartDecoder, hasEnded: () => boolean): void {
  let first: Uint8Array | null = null
  let last: Uint8Array = NO_BYTES
  decoder.update = (line) => {
    first ??= line
    last = line
  }
  decoder.finalize = async () => {
    const kept = keptLineEnd(lineEndOf(last), hasEnded())
    return (last.buffer as ArrayBuffer).slice(
      (first ?? last).byteOffset,
      last.byteOffset + last.length + kept.length,
    )
  }
}

function decodeQuotedPrintable(decoder: PartDecoder, hasEnded: () => boolean): void {
  const { update } = decoder
  const output = new Output(decoder)
  let lineEnd: Uint8Array = NO_BYTES
  decoder.update = (line) => {
    decoder.writeBytes!(lineEnd, 0, lineEnd.length)
    const text = withoutEndSpaces(line)
    const isSoft = text.at(-1) === EQUALS
    update.call(decoder, text)
    // The line feed that it has just written.
    if (!isSoft) decoder.bufferPos!--
    lineEnd = isSoft ? NO_BYTES : lineEndOf(line)
    output.gather()
  }
  decoder.finalize = async () => {
    const kept = keptLineEnd(lineEnd, hasEnded())
    decoder.writeBytes!(kept, 0, kept.length)
    decoder.flushBuffer?.()
    return output.whole()
  }
}

function decodeBase64(decoder: PartDecoder): void {
  const { update } = decoder
  const output = new Output(decoder)
  const lines = inBlocks((block) => {
    update.call(decoder, block)
    output.gather()
  })
  decoder.update = lines.update
  decoder.finalize = async () => {
    lines.flush()
    decoder.flushRemainder?.()
    return output.whole()
  }
}

/**
 * Assembles the output of a decoder in memory. postal-mime uses a Blob with a piece or two for each line, which is
 * slower. See docs/decisions.md#decoding-parts.
 */
class Output {
  readonly #decoder: PartDecoder
  readonly #blocks: Uint8Array[] = []

  constructor(decoder: PartDecoder) {
    this.#decoder = decoder
  }

  /** Joins the pieces if there are many. */
  gather(max = MAX_PIECES): void {
    if (this.#decoder.chunks.length < max) return
    this.#blocks.push(concatenate(this.#decoder.chunks.map((piece) => new Uint8Array(piece as ArrayBuffer))))
    this.#decoder.chunks = []
  }

  whole(): ArrayBuffer {
    this.gather(1)
    return concatenate(this.#blocks).buffer
  }
}

const EQUALS = 0x3d
const CR = 0x0d
const LF = 0x0a
const NO_BYTES = new Uint8Array()

/** The bytes between a line and the next one, in the buffer of the message. */
function lineEndOf(line: Uint8Array): Uint8Array {
  const start = line.byteOffset + line.length
  const rest = new Uint8Array(line.buffer, start)
  let end = 0
  while (rest[end] === CR) end++
  return rest.subarray(0, rest[end] === LF ? end + 1 : end)
}

/** What of the last line end belongs to the part: not the CRLF or LF before a boundary. */
function keptLineEnd(lineEnd: Uint8Array, hasEnded: boolean): Uint8Array {
  if (hasEnded || lineEnd.at(-1) !== LF) return lineEnd
  return lineEnd.subarray(0, lineEnd.at(-2) === CR ? -2 : -1)
}

/**
 * Passes the lines of a base64 body on in blocks, without those that do not belong to it. Each update of
 * postal-mime's decoder converts and splits its input again, which takes longer than decoding a line.
 */
function inBlocks(take: (block: Uint8Array) => void) {
  const belongs = createBase64End()
  const block = new Uint8Array(MAX_UPDATE)
  let length = 0
  const flush = () => {
    if (length > 0) take(block.subarray(0, length))
    length = 0
  }
  const add = (bytes: Uint8Array) => {
    if (length + bytes.length > MAX_UPDATE) flush()
    block.set(bytes, length)
    length += bytes.length
  }
  const update = (line: Uint8Array) => {
    if (line.length > MAX_UPDATE)
      for (let at = 0; at < line.length; at += MAX_UPDATE) add(line.subarray(at, at + MAX_UPDATE))
    else if (belongs(line)) add(line)
  }
  return { update, flush }
}

/** Spaces at the end of a line were added on the way (RFC 2045 6.7 (3)): they would make a soft line break a hard one. */
function withoutEndSpaces(line: Uint8Array): Uint8Array {
  let end = line.length
  while (end > 0 && (line[end - 1] === 0x20 || line[end - 1] === 0x09)) end--
  return line.subarray(0, end)
}

function concatenate(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
