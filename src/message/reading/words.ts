import { setImmediate } from 'node:timers/promises'

/**
 * The words of a text, for the search index and for queries: the same ones at the same positions, so that whatever
 * is searched for as it is written is found. What consists of several words (`ann@example.com`, `v1.2.3`, `AB-1234`)
 * has its words one after another, and is searched as a phrase of them.
 *
 * PostgreSQL's parser is given no text: it takes quadratic time for some (docs/decisions.md#splitting-into-words).
 * This takes linear time: each expression below passes over a text once, and sees at most 16 marks of a letter.
 */

type Range = readonly [from: number, to: number]

const oneOf = (ranges: readonly Range[]): string =>
  `[${ranges.map((range) => range.map((codePoint) => String.fromCodePoint(codePoint)).join('-')).join('')}]`

/**
 * Characters of scripts that write no spaces between words (Chinese, Japanese, Thai …) or attach endings to
 * words (Korean), and emoji. Each is a word: finding word boundaries would need a dictionary.
 */
const UNSPACED = oneOf([
  [0x0e00, 0x0eff],
  [0x1000, 0x109f],
  [0x1780, 0x17ff],
  [0x3040, 0x30ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7af],
  [0xf900, 0xfaff],
  [0x1f000, 0x1faff],
  [0x20000, 0x3ffff],
])

export const UNSPACED_CHARACTERS: RegExp = new RegExp(UNSPACED, 'gu')

const ASCII = /^[\0-\x7f]*$/
const ASCII_WORDS = /[a-z0-9]+/g
const WORDS = new RegExp(`${UNSPACED}|[[\\p{L}\\p{Mn}\\p{Mc}\\p{Nd}\\p{Nl}]--${UNSPACED}]+`, 'gv')
/** Soft hyphens and variation selectors, which are in a word without belonging to it. */
const INVISIBLE = /\xad|\p{Variation_Selector}/gu
/** Marks beyond those that a letter has in any language: normalizing would take quadratic time for them. */
const MORE_MARKS = /(\p{M}{16})\p{M}+/gu
const HALFWIDTH = /[\uff66-\uff9f]+/g

/** Texts and queries are cut to these numbers of characters; PostgreSQL takes words of up to 2,046 bytes. */
const MAX_TEXT = 100_000
const MAX_WORD = 500

/** Folds case (`Straße` to `strasse`, `İ` and `ı` to `i`), and the forms of a letter to one. */
const fold = (word: string): string =>
  ASCII.test(word)
    ? word.toLowerCase()
    : word
        .normalize('NFKC')
        .toUpperCase()
        .toLowerCase()
        .normalize('NFKC')
        .replaceAll('i\u0307', 'i')
        .replaceAll('ς', 'σ')
        .replace(/\s/g, '')

/** Prepares a text that is not ASCII: letters are composed with their marks before it is split into words. */
const compose = (text: string): string =>
  text
    .replace(INVISIBLE, '')
    .replace(MORE_MARKS, '$1')
    .normalize('NFC')
    .replace(HALFWIDTH, (kana) => kana.normalize('NFKC'))

const clip = (word: string): string => (word.length > MAX_WORD ? word.slice(0, MAX_WORD) : word)

/** Characters that are split at once, which takes a few milliseconds. A long text would keep everything else waiting. */
const SLICE = 5_000
/** Where a text can be cut without changing its words: before what is in no word, or is a word of its own. */
const CUT = new RegExp(`[^\\p{L}\\p{M}\\p{N}\\xad]|[${UNSPACED}--\\p{M}]`, 'gv')

function* slicesOf(whole: string, most = MAX_TEXT): Generator<string> {
  const text = whole.slice(0, most)
  for (let from = 0; from < text.length; ) {
    CUT.lastIndex = from + SLICE
    const to = CUT.exec(text)?.index ?? text.length
    yield text.slice(from, to)
    from = to
  }
}

const wordsOf = (text: string): string[] => {
  if (ASCII.test(text)) return (text.toLowerCase().match(ASCII_WORDS) ?? []).map(clip)
  const folded = new Map<string, string>()
  const foldOnce = (word: string): string => {
    const known = folded.get(word) ?? clip(fold(clip(word)))
    folded.set(word, known)
    return known
  }
  return (compose(text).match(WORDS) ?? []).map(foldOnce).filter((word) => word !== '')
}

/** Returns the words of a text in their order. */
export const searchWords = (text: string): string[] => [...slicesOf(text)].flatMap(wordsOf)

/** Limits of a tsvector: the last position, the number of positions of a word, and the bytes of its words (of 1 MB). */
const LAST_POSITION = 16_383
const MAX_POSITIONS = 255
const MAX_BYTES = 700_000

/** The most bytes that a word takes in a tsvector, without its positions. */
const sizeOf = (word: string): number => 3 * word.length + 8

/** Words with their positions. Of a text with too many different ones, the last are left out. */
class Positions {
  readonly of = new Map<string, number[]>()
  #count = 0
  #bytes = 0

  add(word: string): void {
    const at = Math.min(++this.#count, LAST_POSITION)
    const positions = this.of.get(word)
    if (positions) {
      if (positions.length < MAX_POSITIONS && positions.at(-1) !== at) positions.push(at)
    } else if (this.#bytes < MAX_BYTES) {
      this.of.set(word, [at])
      this.#bytes += sizeOf(word)
    }
  }
}

/**
 * Returns a text's words in the binary form of a tsvector, which PostgreSQL sorts; `label` is one more, without a
 * position. Everything else runs in between. A text with more than `most` characters is cut.
 */
export const tsvectorOf = async (text: string, label?: string, most = MAX_TEXT): Promise<Buffer> => {
  const positions = new Positions()
  for (const slice of slicesOf(text, most)) {
    for (const word of wordsOf(slice)) positions.add(word)
    await setImmediate()
  }
  const words: Map<string, readonly number[]> = positions.of
  if (label !== undefined) words.set(label, [])
  let size = 4
  for (const [word, places] of words) size += sizeOf(word) + 2 * places.length
  const bytes = Buffer.allocUnsafe(size)
  let at = bytes.writeInt32BE(words.size, 0)
  let written = 0
  for (const [word, places] of words) {
    at += bytes.write(word, at)
    at = bytes.writeUInt8(0, at)
    at = bytes.writeUInt16BE(places.length, at)
    for (const place of places) at = bytes.writeUInt16BE(place, at)
    if (++written % SLICE === 0) await setImmediate()
  }
  return bytes.subarray(0, at)
}
