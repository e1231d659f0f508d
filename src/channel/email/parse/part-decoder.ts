/** Bytes, or (as text) a line feed. */
type Piece = Uint8Array | ArrayBuffer | string

/**
 * What postal-mime 4.0.0 decodes a part's lines with: one of three, each with what it has flushed in
 * `chunks`.
 */
export interface PartDecoder {
  chunks: Piece[]
  /** Of the one for base64 only: digits that wait for the rest of their four. */
  remainder?: string
  update(line: Uint8Array): void
  flushBuffer?(): void
  flushRemainder?(): void
  finalize(): Promise<ArrayBuffer>
}

/** One of its nodes, which makes its decoder when its header is over. */
export interface DecodingNode {
  contentDecoder: PartDecoder | null
  setupContentDecoder(encoding: string): void
  feed(line: Uint8Array): void
}

/**
 * Pieces that are kept as such. Each takes some 200 bytes, and 25 MiB of empty lines would be 50 million of
 * them.
 */
const MAX_PIECES = 8 * 1024
/** Base64 of one update: every `=` in it ends a piece. */
const MAX_UPDATE = 16 * 1024

/**
 * Has a node's part put together in memory. Its own way goes through a Blob of a piece for each line and a
 * piece for each line's end: a megabyte of text takes 100 ms so, and 15 without.
 */
export function putTogetherInMemory(node: DecodingNode): void {
  const { setupContentDecoder } = node
  node.setupContentDecoder = (encoding) => {
    setupContentDecoder.call(node, encoding)
    if (node.contentDecoder) takeOver(node.contentDecoder)
  }
}

function takeOver(decoder: PartDecoder): void {
  const { update } = decoder
  const blocks: Uint8Array[] = []
  const gather = () => {
    blocks.push(together(decoder.chunks.map(bytesOf)))
    decoder.chunks = []
  }
  const take = (line: Uint8Array) => {
    update.call(decoder, line)
    if (decoder.chunks.length >= MAX_PIECES) gather()
  }
  const step = decoder.remainder === undefined ? Number.POSITIVE_INFINITY : MAX_UPDATE
  decoder.update = (line) => {
    if (line.length <= step) take(line)
    else for (let at = 0; at < line.length; at += step) take(line.subarray(at, at + step))
  }
  decoder.finalize = async () => {
    decoder.flushBuffer?.()
    decoder.flushRemainder?.()
    gather()
    return together(blocks).buffer
  }
}

const LINE_FEED = Uint8Array.of(0x0a)

const bytesOf = (piece: Piece): Uint8Array => {
  if (typeof piece === 'string') return LINE_FEED
  return piece instanceof Uint8Array ? piece : new Uint8Array(piece)
}

function together(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
