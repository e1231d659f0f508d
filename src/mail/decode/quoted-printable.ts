const EQUALS = 0x3d
const SPACE = 0x20
const TAB = 0x09
const CR = 0x0d
const LF = 0x0a

/** The value of a hexadecimal digit of either case; -1 for another byte. */
const digitOf = (byte: number | undefined): number => {
  if (byte === undefined || byte < 0x30) return -1
  if (byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

const endWithout = (source: Uint8Array, start: number, end: number, one: number, other: number): number => {
  let at = end
  while (at > start && (source[at - 1] === one || source[at - 1] === other)) at--
  return at
}

/** A sequence that is not valid stands for itself. */
function decodeLine(source: Uint8Array, [start, end]: [number, number], out: Uint8Array, at: number): number {
  let length = at
  for (let i = start; i < end; i++) {
    let byte = source[i]!
    if (byte === EQUALS && i + 2 < end) {
      const high = digitOf(source[i + 1])
      const low = digitOf(source[i + 2])
      if (high >= 0 && low >= 0) {
        byte = high * 16 + low
        i += 2
      }
    }
    out[length++] = byte
  }
  return length
}

/**
 * Decodes quoted-printable (RFC 2045 6.7). Line ends stay as they are. Spaces at the end of a line were added on the way
 * (6.7 (3)): they would make a soft line break a hard one.
 */
export function decodeQuotedPrintable(source: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(source.length)
  let length = 0
  for (let start = 0; start < source.length; ) {
    const feed = source.indexOf(LF, start)
    const next = feed < 0 ? source.length : feed + 1
    const lineEnd = endWithout(source, start, feed < 0 ? next : feed, CR, CR)
    const textEnd = endWithout(source, start, lineEnd, SPACE, TAB)
    const isSoft = textEnd > start && source[textEnd - 1] === EQUALS
    length = decodeLine(source, [start, isSoft ? textEnd - 1 : textEnd], out, length)
    if (!isSoft) for (let i = lineEnd; i < next; i++) out[length++] = source[i]!
    start = next
  }
  return out.slice(0, length)
}
