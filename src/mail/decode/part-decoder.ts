import { createBase64End } from './base64-end.ts'
import { decodeQuotedPrintable } from './quoted-printable.ts'

/** The decoder of a MIME part. */
interface PartDecoder {
  update(line: Uint8Array): void
  finalize(): Promise<ArrayBuffer>
}

/** The decoder of base64 in postal-mime 4.0.0. Its output is in `chunks`. */
interface Base64Decoder extends PartDecoder {
  chunks: (Uint8Array | ArrayBuffer)[]
  pushChunk(digits: string): void
  flushRemainder(): void
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
    if (node.contentType.multipart !== false) node.contentDecoder = NOT_READ
    else if (/base64/i.test(encoding)) {
      setupContentDecoder.call(node, encoding)
      decodeBase64(node.contentDecoder as Base64Decoder)
    } else if (/quoted-printable/i.test(encoding))
      node.contentDecoder = whole(hasEnded, (body) => decodeQuotedPrintable(body).buffer)
    else node.contentDecoder = whole(hasEnded, (body) => body.slice().buffer)
  }
}

/** The lines around the parts of a multipart are not read. */
const NOT_READ: PartDecoder = { update() {}, finalize: async () => new ArrayBuffer(0) }

/** Decodes a body at its end. Its lines stand one after the other in the buffer of the message. */
function whole(hasEnded: () => boolean, decode: (body: Uint8Array) => ArrayBuffer): PartDecoder {
  let first: Uint8Array | null = null
  let last: Uint8Array = NO_BYTES
  return {
    update(line) {
      first ??= line
      last = line
    },
    async finalize() {
      const kept = keptLineEnd(lineEndOf(last), hasEnded())
      const start = (first ?? last).byteOffset
      return decode(new Uint8Array(last.buffer, start, last.byteOffset + last.length + kept.length - start))
    },
  }
}

function decodeBase64(decoder: Base64Decoder): void {
  const { update } = decoder
  const output = new Output(decoder)
  // Digits alone. One that is left over encodes nothing.
  decoder.pushChunk = (digits) => {
    const end = digits.length % 4 === 1 ? digits.length - 1 : digits.length
    if (end > 0) decoder.chunks.push(Buffer.from(digits.slice(0, end), 'base64'))
  }
  const lines = inBlocks((block) => {
    update.call(decoder, block)
    output.gather()
  })
  decoder.update = lines.update
  decoder.finalize = async () => {
    lines.flush()
    decoder.flushRemainder()
    return output.whole()
  }
}

/**
 * Assembles the output of a decoder in memory. postal-mime uses a Blob with a piece or two for each line, which is
 * slower. See docs/decisions.md#decoding-parts.
 */
class Output {
  readonly #decoder: Base64Decoder
  readonly #blocks: Uint8Array[] = []

  constructor(decoder: Base64Decoder) {
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

function concatenate(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
