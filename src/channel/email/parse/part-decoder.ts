import { createBase64End } from './base64-end.ts'

/** Bytes, or a line feed as a string. */
type Piece = Uint8Array | ArrayBuffer | string

/** The decoder of a MIME part in postal-mime 4.0.0 (there are three kinds). Its output is in `chunks`. */
export interface PartDecoder {
  chunks: Piece[]
  /** In the base64 decoder only: digits of an incomplete group of four. */
  remainder?: string
  update(line: Uint8Array): void
  flushBuffer?(): void
  flushRemainder?(): void
  finalize(): Promise<ArrayBuffer>
}

/** A node of postal-mime, which creates its decoder at the end of its header. */
export interface DecodingNode {
  state: 'header' | 'body' | 'finished'
  contentDecoder: PartDecoder | null
  setupContentDecoder(encoding: string): void
  feed(line: Uint8Array): void
}

/**
 * Number of pieces collected before they are joined. Each takes about 200 bytes, and 25 MiB of empty lines
 * would be 50 million pieces.
 */
const MAX_PIECES = 8 * 1024
/** Maximum base64 input of one update: each `=` in it ends a piece. */
const MAX_UPDATE = 16 * 1024

/**
 * Makes a node assemble its part in memory. postal-mime uses a Blob with two pieces for each line, which
 * takes 100 ms for a megabyte of text instead of 15.
 */
export function assembleInMemory(node: DecodingNode): void {
  const { setupContentDecoder } = node
  node.setupContentDecoder = (encoding) => {
    setupContentDecoder.call(node, encoding)
    if (node.contentDecoder) takeOver(node.contentDecoder, /^(?!.*base64).*quoted-printable/i.test(encoding))
  }
}

function takeOver(decoder: PartDecoder, isQuotedPrintable: boolean): void {
  const { update } = decoder
  const blocks: Uint8Array[] = []
  const gather = () => {
    blocks.push(concatenate(decoder.chunks.map(bytesOf)))
    decoder.chunks = []
  }
  const take = (line: Uint8Array) => {
    update.call(decoder, isQuotedPrintable ? withoutEndSpaces(line) : line)
    if (decoder.chunks.length >= MAX_PIECES) gather()
  }
  const lines = decoder.remainder === undefined ? null : inBlocks(take)
  decoder.update = lines?.update ?? take
  decoder.finalize = async () => {
    lines?.flush()
    decoder.flushBuffer?.()
    decoder.flushRemainder?.()
    gather()
    return concatenate(blocks).buffer
  }
}

/**
 * Passes the lines of a base64 body on in blocks, without those that do not belong to it. Each update of
 * postal-mime's decoder converts and splits its input anew, which takes longer than decoding a line.
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

const LINE_FEED = Uint8Array.of(0x0a)

const bytesOf = (piece: Piece): Uint8Array => {
  if (typeof piece === 'string') return LINE_FEED
  return piece instanceof Uint8Array ? piece : new Uint8Array(piece)
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
