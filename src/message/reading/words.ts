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

/** Characters of ASCII words, in lower case; 0 for what is in none. */
const FOLDED = Uint8Array.from({ length: 128 }, (_, code) => {
  const folded = String.fromCharCode(code).toLowerCase()
  return /[a-z0-9]/.test(folded) ? folded.charCodeAt(0) : 0
})

/** Whether an ASCII text has this word at a place where a word of that length is. */
const hasWordAt = (text: string, from: number, word: string): boolean => {
  for (let n = 0; n < word.length; n++)
    if (FOLDED[text.charCodeAt(from + n)] !== word.charCodeAt(n)) return false
  return true
}

/** Words of which the hash is that of another one are looked for at so many places: an attacker may write many. */
const MAX_TRIES = 4

interface Word {
  word: string
  /** Its positions. */
  places: number[]
}

/** Words with their positions. Of a text with too many different ones, the last are left out. */
class Positions {
  readonly all: Word[] = []
  readonly #known = new Map<string, Word>()
  /** Words of texts that are ASCII, by their hashes (docs/decisions.md#words-by-their-hashes). */
  readonly #hashed = new Map<number, Word>()
  #count = 0
  #bytes = 0

  /** Adds the words of a part of a text; `isAscii` if the whole text is. */
  add(text: string, isAscii: boolean): void {
    if (isAscii) this.#addAscii(text)
    else for (const word of wordsOf(text)) this.#note(this.#wordOf(word))
  }

  /** The words that `wordsOf` returns. */
  #addAscii(text: string): void {
    let from = 0
    let hash = 0
    for (let at = 0; at <= text.length; at++) {
      const folded = at < text.length ? FOLDED[text.charCodeAt(at)]! : 0
      if (folded === 0) {
        if (at > from) this.#note(this.#wordAt(text, from, Math.min(at, from + MAX_WORD), hash))
        from = at + 1
        hash = 0
      } else if (at - from < MAX_WORD) hash = (Math.imul(hash, 31) + folded) | 0
    }
  }

  #note({ places }: Word): void {
    const at = Math.min(++this.#count, LAST_POSITION)
    if (places.length < MAX_POSITIONS && places.at(-1) !== at) places.push(at)
  }

  #wordOf(word: string): Word {
    return this.#known.get(word) ?? this.#begin(word, this.#known, word)
  }

  #wordAt(text: string, from: number, to: number, hash: number): Word {
    for (let key = hash; key < hash + MAX_TRIES; key++) {
      const one = this.#hashed.get(key)
      if (one === undefined) return this.#begin(text.slice(from, to).toLowerCase(), this.#hashed, key)
      if (one.word.length === to - from && hasWordAt(text, from, one.word)) return one
    }
    return this.#wordOf(text.slice(from, to).toLowerCase())
  }

  #begin<Key>(word: string, known: Map<Key, Word>, key: Key): Word {
    const one: Word = { word, places: [] }
    known.set(key, one)
    if (this.#bytes < MAX_BYTES) this.all.push(one)
    this.#bytes += sizeOf(word)
    return one
  }
}

/** Writes a word, of which most are short and ASCII; the call of `Buffer.write` would take longer than its bytes. */
const writeWord = (bytes: Buffer, word: string, from: number): number => {
  for (let n = 0; n < word.length; n++) {
    const code = word.charCodeAt(n)
    if (code > 127) return from + bytes.write(word, from)
    bytes[from + n] = code
  }
  return from + word.length
}

const writePlaces = (bytes: Buffer, places: readonly number[], from: number): number => {
  let at = bytes.writeUInt16BE(places.length, from)
  for (const place of places) {
    bytes[at++] = place >> 8
    bytes[at++] = place & 0xff
  }
  return at
}

/**
 * Returns a text's words in the binary form of a tsvector, which PostgreSQL sorts; `label` is one more, without a
 * position. Everything else runs in between. A text with more than `most` characters is cut.
 */
export const tsvectorOf = async (text: string, label?: string, most = MAX_TEXT): Promise<Buffer> => {
  const positions = new Positions()
  const isAscii = ASCII.test(text)
  for (const slice of slicesOf(text, most)) {
    positions.add(slice, isAscii)
    await setImmediate()
  }
  const words = positions.all
  if (label !== undefined) words.push({ word: label, places: [] })
  let size = 4
  for (const { word, places } of words) size += sizeOf(word) + 2 * places.length
  const bytes = Buffer.allocUnsafe(size)
  let at = bytes.writeInt32BE(words.length, 0)
  let written = 0
  for (const { word, places } of words) {
    at = bytes.writeUInt8(0, writeWord(bytes, word, at))
    at = writePlaces(bytes, places, at)
    if (++written % SLICE === 0) await setImmediate()
  }
  return bytes.subarray(0, at)
}
