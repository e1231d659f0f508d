/**
 * Splits texts into words as PostgreSQL's `to_tsvector('simple', …)` does, for the search index. PostgreSQL takes
 * 1.2 ms for 10 KB of text, most of it in its parser and in sorting the occurrences; this takes 0.2 ms, and in a
 * process of which there can be several. Only plain words are split here. What PostgreSQL's parser has rules for
 * (hosts, emails, URLs, files, tags, hyphens, numbers with points), and whatever is not ASCII, is left to it.
 */

/** Consecutive plain words of a text, and the piece after them that only PostgreSQL can split; '' at the end. */
export interface Part {
  words: string[]
  piece: string
}

const [SPACE, LETTER, DIGIT, BEFORE, AFTER] = [1, 2, 4, 8, 16]

/**
 * What ASCII characters can be: white space, a part of a word, or punctuation with which neither a token of the
 * parser begins nor the word before it goes on.
 */
const CLASSES = new Uint8Array(128)
const setClass = (characters: string, flag: number): void => {
  for (let i = 0; i < characters.length; i++) CLASSES[characters.charCodeAt(i)]! |= flag
}
setClass(' \t\n\v\f\r', SPACE)
setClass('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ', LETTER)
setClass('0123456789', DIGIT)
setClass('"\'([{>|*=', BEFORE)
setClass('"\')]},;:!?.', AFTER)

const APOSTROPHE = 39
const classAt = (text: string, at: number): number => {
  const code = text.charCodeAt(at) // NaN at the end
  return code < 128 ? CLASSES[code]! : 0
}

/** PostgreSQL does not index words of more than 2,046 bytes. */
const MAX_WORD = 256
/** What may begin a tag or a comment with white space in it, which is not split at white space. */
const OPEN_TAG = /<(?![^<>"'!\s]*>)/
/** Maximum share of a longer text that is not plain, and number of such pieces: PostgreSQL then splits all of it. */
const MAX_SHARE = 0.5
const SHORT = 1_000
const MAX_PIECES = 1_000

/** Returns the end of the characters of these classes. */
const skip = (text: string, from: number, classes: number): number => {
  let at = from
  while (classAt(text, at) & classes) at++
  return at
}

/**
 * Adds the words of a plain chunk, which has no white space: one word between punctuation, or several joined by
 * apostrophes. Returns the end of what is plain, which is the end of the chunk if all of it is.
 */
const readPlain = (text: string, from: number, words: string[]): number => {
  let at = skip(text, from, BEFORE)
  let flag = classAt(text, at) & (LETTER | DIGIT)
  while (flag) {
    const end = skip(text, at, flag)
    if (end - at > MAX_WORD) return at
    words.push(text.slice(at, end).toLowerCase())
    at = end
    const joined = flag === LETTER && text.charCodeAt(at) === APOSTROPHE && classAt(text, at + 1) & LETTER
    if (!joined) break
    flag = LETTER
    at++
  }
  for (; classAt(text, at) & AFTER; at++) if (text.startsWith('..', at)) return at // the name of a file
  return at
}

/** Splits a text. Returns null if PostgreSQL has to split all of it, or so much that it may as well split all. */
export const splitPlain = (text: string): Part[] | null => {
  const parts: Part[] = []
  let words: string[] = []
  let left = 0
  for (let at = skip(text, 0, SPACE); at < text.length; at = skip(text, at, SPACE)) {
    const count = words.length
    const plain = readPlain(text, at, words)
    if (plain === text.length || classAt(text, plain) & SPACE) {
      at = plain
      continue
    }
    words.length = count
    let end = plain
    while (end < text.length && !(classAt(text, end) & SPACE)) end++
    left += end - at
    if ((left > SHORT && left > MAX_SHARE * text.length) || parts.length === MAX_PIECES) return null
    if (OPEN_TAG.test(text.slice(at, end))) return null
    // What a token begins with also depends on white space before it.
    parts.push({ words, piece: text.slice(Math.max(0, at - 1), end) })
    words = []
    at = end
  }
  if (words.length > 0) parts.push({ words, piece: '' })
  return parts
}

/** A word and its positions in a text. */
export type Entry = readonly [word: string, positions: readonly number[]]

/** Limits of a tsvector: the last position, and the number of positions of a word. */
const LAST_POSITION = 16_383
const MAX_POSITIONS = 255

/** Joins the pieces of a text to one that PostgreSQL splits, with `mark`, which no text contains, after each. */
export const joinPieces = (parts: readonly Part[], mark: string): string =>
  parts.map(({ piece }, index) => (piece === '' ? '' : `${piece} ${mark}${index} `)).join('')

/**
 * Returns the words of a text with their positions, from its parts and the words of the joined pieces. Null if
 * the pieces have more positions than PostgreSQL distinguishes.
 */
export const collect = (
  parts: readonly Part[],
  pieces: readonly Entry[],
  mark: string,
): Map<string, number[]> | null => {
  const found = new Map<string, number[]>()
  const add = (word: string, position: number): void => {
    const at = Math.min(position, LAST_POSITION)
    const positions = found.get(word)
    if (positions === undefined) found.set(word, [at])
    else if (positions.length < MAX_POSITIONS && positions[positions.length - 1] !== at) positions.push(at)
  }
  const occurrences = inOrder(pieces)
  let last = 0
  let next = 0
  let passed = 0
  for (const [index, { words, piece }] of parts.entries()) {
    for (const word of words) add(word, ++last)
    if (piece === '') continue
    const own = `${mark}${index}`
    for (; occurrences[next]?.word !== own; next++) {
      const occurrence = occurrences[next]
      if (occurrence === undefined || occurrence.position >= LAST_POSITION) return null
      add(occurrence.word, last + occurrence.position - passed)
    }
    const { position } = occurrences[next++]!
    if (position >= LAST_POSITION) return null
    last += position - passed - 1
    passed = position
  }
  return found
}

const inOrder = (entries: readonly Entry[]): { word: string; position: number }[] =>
  entries
    .flatMap(([word, positions]) => positions.map((position) => ({ word, position })))
    .sort((a, b) => a.position - b.position)

/** Encodes words as the binary form of a tsvector; `label` is a word without a position. */
export const tsvectorOf = (words: ReadonlyMap<string, readonly number[]>, label: string): Buffer => {
  let size = 4 + Buffer.byteLength(label) + 3
  for (const [word, { length }] of words) size += word.length * 3 + 3 + 2 * length
  const bytes = Buffer.allocUnsafe(size)
  let at = bytes.writeInt32BE(words.size + 1, 0)
  const entries: Entry[] = [...words, [label, []]]
  for (const [word, positions] of entries.sort(([a], [b]) => (a < b ? -1 : 1))) {
    at += bytes.write(word, at)
    at = bytes.writeUInt8(0, at)
    at = bytes.writeUInt16BE(positions.length, at)
    for (const position of positions) at = bytes.writeUInt16BE(position, at)
  }
  return bytes.subarray(0, at)
}
