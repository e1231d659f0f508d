import { rot13 } from '../../core/text/rot13.ts'
import { charactersOf, decoded, ROWS, type Row } from './characters.ts'

/** Minimum number of characters of a form, so that no text contains it by chance. */
const MIN = { plain: 8, encoded: 6 } as const

/** A form of a value as a row of characters. */
export interface Form {
  row: Row
  characters: Uint16Array
}

/** The part of the base64 of a value that is the same whatever comes after it, and after so many bytes before it. */
const base64Of = (value: Buffer, before: number): string => {
  const encoded = Buffer.concat([Buffer.alloc(before), value]).toString('base64')
  return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + value.length) * 8) / 6))
}

/** Returns a form in the first row in which it has enough characters; undefined if it has too few in each. */
const placed = (text: string, min: number): Form | undefined => {
  for (const row of ROWS) {
    const characters = charactersOf(row, text)
    if (characters.length >= (row === 'words' ? min : MIN.encoded)) return { row, characters }
  }
  return undefined
}

/** What a long value is recognized by: so much of its beginning, or of its end. */
const EDGE = 256
const LONG = 2 * EDGE
/** So much of a value is enough to make its edges of, whatever stands between its characters. */
const READ = 8 * 1024

export interface Forms {
  /** The value itself; of a long one its edges, either of which is enough. */
  plain: Form[]
  /** The value encoded, written in numbers or other letters, or reversed; of a long one the beginning. */
  others: Form[]
}

const edgesOf = ({ row, characters }: Form): Form[] =>
  characters.length <= LONG
    ? [{ row, characters }]
    : [characters.subarray(0, EDGE), characters.subarray(-EDGE)].map((edge) => ({ row, characters: edge }))

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** The bytes as numbers, whatever stands between them. */
const numbersOf = (bytes: Buffer, base: number, digits: number): string =>
  Array.from(bytes, (byte) => byte.toString(base).padStart(digits, '0')).join('')

const base32Of = (bytes: Buffer): string =>
  (numbersOf(bytes, 2, 8).match(/.{5}/g) ?? []).map((bits) => BASE32[Number.parseInt(bits, 2)]).join('')

const urlSafe = (base64: string): string => base64.replaceAll('+', '-').replaceAll('/', '_')

/** Returns the forms in which a value is looked for; what percent and HTML encoding make of it is decoded in the texts. */
export const formsOf = (value: string): Forms => {
  const isLong = value.length > 2 * READ
  const [start, end] = isLong ? [value.slice(0, READ), value.slice(-READ)] : [value, value]
  const plain = [...new Set([start, decoded(start), end, decoded(end)])].flatMap((one) => {
    const form = placed(one, MIN.plain)
    return form ? edgesOf(form) : []
  })
  const bytes = Buffer.from(start)
  const encodings = [0, 1, 2].flatMap((before) => {
    const base64 = base64Of(bytes, before)
    return placed(base64, MIN.encoded)?.row === 'words' ? [base64] : [base64, urlSafe(base64)]
  })
  const encoded = [bytes.toString('hex'), ...encodings].flatMap((text) => placed(text, MIN.encoded) ?? [])
  const rare = [
    Buffer.from(start, 'utf16le').toString('hex'),
    base32Of(bytes),
    ...[numbersOf(bytes, 10, 0), numbersOf(bytes, 2, 8), numbersOf(bytes, 8, 3), numbersOf(bytes, 8, 0)],
    rot13(start),
  ].flatMap((text) => placed(text, MIN.plain) ?? [])
  const cut = [...plain, ...encoded].map(({ row, characters }) => ({
    row,
    characters: characters.slice(0, LONG),
  }))
  const reversed = cut.map(({ row, characters }) => ({ row, characters: characters.toReversed() }))
  const others = rare.map(({ row, characters }) => ({ row, characters: characters.slice(0, LONG) }))
  return { plain, others: [...cut.slice(plain.length), ...reversed, ...others] }
}
