import { AppError } from '../../core/errors.ts'
import { searchWords, UNSPACED_CHARACTERS } from './words.ts'

/** A phrase, a `-`, or what stands between white space, quotation marks and the characters that separate words. */
const PARTS = /"([^"]*)"?|-|[^\s"!&|()<-][^\s"!&|()<]*/g
const QUOTES = /[“”„«»]/g

/** Each word of a phrase costs time for every message that has the words before it. */
const MAX_WORDS = 128

const quoted = (word: string): string => `'${word.replace(/['\\]/g, '$&$&')}'`
const phraseOf = (words: readonly string[]): string => words.map(quoted).join(' <-> ')

const PIECES = /[/+-]?[\p{L}\p{M}\p{N}]+(?:[.@/+~-]+[\p{L}\p{M}\p{N}]+)*/gu
const NUMBERS = /[+-]?\d+(?![\p{L}\d])|[\p{L}\p{M}\p{N}]+/gu

/**
 * Returns the words of a text as PostgreSQL's parser found them, which is how messages are indexed that no `VERSION`
 * since has indexed again: addresses, hosts, versions and paths were one word, and the parts of a compound came after it.
 */
const earlierWords = (text: string): string[] => {
  const spaced = text.normalize('NFC').toLowerCase().replace(UNSPACED_CHARACTERS, ' $& ')
  return (spaced.match(PIECES) ?? []).flatMap((piece) => {
    if (/[.@/]/.test(piece)) return [piece]
    const parts: string[] = piece.match(NUMBERS) ?? []
    return parts.length > 1 && /^[\p{L}-]+$/u.test(piece) ? [piece, ...parts] : parts
  })
}

/** Returns the condition that a message has these words one after another; null if there are none. */
const conditionOf = (text: string): { words: number; condition: string } | null => {
  const words = searchWords(text)
  if (words.length === 0) return null
  const [now, before] = [phraseOf(words), phraseOf(earlierWords(text))]
  const either = before === '' || before === now ? now : `${now} | ${before}`
  return { words: words.length, condition: words.length === 1 && either === now ? now : `(${either})` }
}

/**
 * Returns the tsquery, in its text form, of a query in the syntax of search engines: words, `"a phrase"`, `or`,
 * `-without`. Null if it has no words. Throws `invalid_input` if it has too many.
 */
export const tsqueryOf = (q: string): string | null => {
  let query = ''
  let count = 0
  let next = { isOr: false, isNot: false }
  const add = (text: string): void => {
    const term = conditionOf(text)
    if (term) {
      count += term.words
      const operator = query === '' ? '' : next.isOr ? ' | ' : ' & '
      query += `${operator}${next.isNot ? '!' : ''}${term.condition}`
    }
    next = { isOr: false, isNot: false }
  }
  for (const [part, phrase] of q.replace(QUOTES, '"').matchAll(PARTS)) {
    if (part === '-') next.isNot = !next.isNot
    else if (query !== '' && !next.isOr && !next.isNot && /^or$/i.test(part)) next.isOr = true
    else add(phrase ?? part)
  }
  if (next.isOr) {
    next.isOr = false // nothing follows: it is a word
    add('or')
  }
  if (count > MAX_WORDS) throw new AppError('invalid_input', `A search must have at most ${MAX_WORDS} words.`)
  return query === '' ? null : query
}
