import { randomInt } from 'node:crypto'
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

/** What any of the expressions above finds. */
const UNUSUAL = /[\xad\p{M}\uff66-\uff9f]/u

/** Folds what becomes two characters, of which this is the only common one. */
const withoutEszett = (text: string): string => text.replaceAll('ß', 'ss')

/** Prepares a text that is not ASCII: letters are composed with their marks before it is split into words. */
const compose = (text: string): string =>
  UNUSUAL.test(text)
    ? text
        .replace(INVISIBLE, '')
        .replace(MORE_MARKS, '$1')
        .normalize('NFC')
        .replace(HALFWIDTH, (kana) => kana.normalize('NFKC'))
    : text.normalize('NFC')

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
  return (compose(withoutEszett(text)).match(WORDS) ?? []).map(foldOnce).filter((word) => word !== '')
}

/** Returns the words of a text in their order. */
export const searchWords = (text: string): string[] => [...slicesOf(text)].flatMap(wordsOf)

/** Limits of a tsvector: the last position, the number of positions of a word, and the bytes of its words (of 1 MB). */
const LAST_POSITION = 16_383
const MAX_POSITIONS = 255
const MAX_BYTES = 700_000

/** The most bytes that a word takes in a tsvector, without its positions. */
const sizeOf = (word: string): number => 3 * word.length + 8

/** The kind of a character that is in no word, and of one that depends on those around it. */
const [SEPARATES, DEPENDS] = [-1, -2]
/** Of any other, the kind is what it is folded to; more by this if it is a word of its own. */
const ALONE = 0x1_0000

const ONE_UNSPACED = new RegExp(`^${UNSPACED}$`, 'u')
/** Marks, the latter parts of a Korean syllable, halves of a character, and what is left out of words. */
const DEPENDENT = /^[\p{M}\u1160-\u11ff\p{Cs}\xad\uff66-\uff9f]$/u

const dependsOnOthers = (one: string): boolean => DEPENDENT.test(one) || one.normalize('NFC') !== one

const kindOf = (one: string): number => {
  if (dependsOnOthers(one)) return DEPENDS
  if (one.search(WORDS) < 0) return SEPARATES
  const folded = fold(one)
  if (folded.length !== 1 || dependsOnOthers(folded)) return DEPENDS
  return folded.charCodeAt(0) + (ONE_UNSPACED.test(one) ? ALONE : 0)
}

/** The kinds of the characters that were met; 0 for all others. */
const kinds = new Int32Array(ALONE)

const kindAt = (text: string, at: number): number => {
  if (at >= text.length) return SEPARATES
  const code = text.charCodeAt(at)
  if (kinds[code] === 0) kinds[code] = kindOf(String.fromCharCode(code))
  return kinds[code]!
}

/** Characters between two that depend on others, up to which both are split at once: each time takes as long as 50. */
const NEAR = 50

/** The end of the words that are split by the expressions above, because characters from `from` on depend on others. */
const endOfDependent = (text: string, from: number): number => {
  let last = from
  for (let at = from; ; at++) {
    const kind = kindAt(text, at)
    if (kind === DEPENDS) last = at
    else if (kind === SEPARATES && (at - last > NEAR || at >= text.length)) return at
  }
}

/** Whether the text has this word at a place where a word of that length is. */
const hasWordAt = (text: string, from: number, word: string): boolean => {
  for (let n = 0; n < word.length; n++)
    if ((kinds[text.charCodeAt(from + n)]! & 0xffff) !== word.charCodeAt(n)) return false
  return true
}

/** Words of which the hash is that of another one are looked for at so many places: an attacker may write many. */
const MAX_TRIES = 4

interface Word {
  word: string
  /** Its positions. */
  places: number[]
}

/** Nobody outside knows it: a Map keeps numbers at places that are known, and words could be chosen to be at one place. */
const FACTOR = randomInt(2 ** 30) * 2 + 1

const nextHash = (hash: number, code: number): number => (Math.imul(hash, FACTOR) + code) | 0

/**
 * Words with their positions: those that `wordsOf` returns. Of a text with too many different ones, the last are left
 * out. A word is found by the hash of its characters, without making a string of it (docs/decisions.md#words-by-their-hashes).
 */
class Positions {
  readonly all: Word[] = []
  readonly #hashed = new Map<number, Word>()
  /** Words for which there was no place by their hash. */
  readonly #known = new Map<string, Word>()
  #count = 0
  #bytes = 0

  /** Adds the words of a part of a text. */
  add(part: string): void {
    const text = withoutEszett(part)
    let from = 0
    let hash = 0
    for (let at = 0; at <= text.length; at++) {
      const kind = (at < text.length && kinds[text.charCodeAt(at)]) || kindAt(text, at)
      if (kind >= 0 && kind < ALONE) {
        if (at - from < MAX_WORD) hash = nextHash(hash, kind)
        continue
      }
      if (kind === DEPENDS) at = this.#addDependent(text, at === from ? Math.max(0, at - 1) : from, at)
      else {
        if (at > from) this.#note(this.#wordAt(text, from, Math.min(at, from + MAX_WORD), hash))
        if (kind >= ALONE && kindAt(text, at + 1) === DEPENDS) at = this.#addDependent(text, at, at + 1)
        else if (kind >= ALONE) this.#note(this.#wordAt(text, at, at + 1, kind - ALONE))
      }
      from = at + 1
      hash = 0
    }
  }

  /** Adds words of which the one at `at` depends on others, with what is before it from `from` on. Returns their end. */
  #addDependent(text: string, from: number, at: number): number {
    const end = endOfDependent(text, at)
    for (const word of wordsOf(text.slice(from, end))) this.#note(this.#wordOf(word))
    return end
  }

  #note({ places }: Word): void {
    const at = Math.min(++this.#count, LAST_POSITION)
    if (places.length < MAX_POSITIONS && places.at(-1) !== at) places.push(at)
  }

  #wordAt(text: string, from: number, to: number, hash: number): Word {
    for (let key = hash; key < hash + MAX_TRIES; key++) {
      const one = this.#hashed.get(key)
      if (one === undefined) return this.#begin(fold(text.slice(from, to)), this.#hashed, key)
      if (one.word.length === to - from && hasWordAt(text, from, one.word)) return one
    }
    return this.#wordOf(fold(text.slice(from, to)))
  }

  #wordOf(word: string): Word {
    let hash = 0
    for (let n = 0; n < word.length; n++) hash = nextHash(hash, word.charCodeAt(n))
    for (let key = hash; key < hash + MAX_TRIES; key++) {
      const one = this.#hashed.get(key)
      if (one === undefined) return this.#begin(word, this.#hashed, key)
      if (one.word === word) return one
    }
    return this.#known.get(word) ?? this.#begin(word, this.#known, word)
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
  for (const slice of slicesOf(text, most)) {
    positions.add(slice)
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
