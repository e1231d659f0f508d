const EQUALS = 0x3d
/** Lines of base64 are longer than the words that are appended to it, except the last one. */
const MIN_LENGTH = 20

/**
 * Returns a function that tells whether a line belongs to a base64 body, given all lines in order. Mailing
 * lists and virus scanners append plain words to it. A body ends with padding or with a line that is shorter
 * than the first; what follows is only base64 if it looks like it, because some mailers pad every line.
 */
export function createBase64End(): (line: Uint8Array) => boolean {
  let length = 0
  let mayHaveEnded = false
  let hasEnded = false
  return (line) => {
    if (hasEnded) return false
    const isPadded = line.at(-1) === EQUALS
    // By far the most lines.
    if (line.length === length && !isPadded && !mayHaveEnded) return true
    const text = Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString('latin1').trim()
    if (text === '') return true
    if (length > 0 && !(mayHaveEnded ? isBase64Line(text) : isBase64(text))) hasEnded = true
    if (length === 0) length = text.length
    mayHaveEnded ||= isPadded || text.endsWith('=') || text.length < length
    return !hasEnded
  }
}

/** Whether a line has no words with other characters between them. */
const isBase64 = (text: string): boolean => !/\S\s+\S/.test(text) && /^[\w+/=-]*$/.test(text)

const isBase64Line = (text: string): boolean =>
  /^[A-Za-z0-9+/]+=*$/.test(text) &&
  text.length % 4 === 0 &&
  (text.length >= MIN_LENGTH || text.endsWith('='))
