import { AppError } from '../../core/errors.ts'
import { searchWords, UNSPACED_CHARACTERS } from './words.ts'

/** A phrase, a `-`, or what stands between white space, quotation marks and the characters that separate words. */
const PARTS = /"([^"]*)"?|-|[^\s"!&|()<-][^\s"!&|()<]*/g
const QUOTES = /[“”„«»]/g

/**
 * Words of a search. Each word of a phrase costs time for every message that has the words before it.
 * @limit Messages
 */
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

/** The shortest beginning of a word that is searched for as one. */
const MIN_PREFIX = 2
/** Beginnings of the word that marks an agent's messages, which is no word of theirs. */
const OF_MARK = /'ag(?:e(?:nt?)?)?':\*/

/** Whether a tsquery of `tsqueryOf` also finds the word that marks an agent's messages. */
export const findsMark = (query: string): boolean => OF_MARK.test(query)

const SHORT = /'[^']{1,3}':\*/u

/**
 * Beginnings that the index is asked for, as it is now and as it was before. For each of them, even if they are equal,
 * it reads the matching words in the messages of all workspaces. See docs/decisions.md#beginnings-of-words.
 */
const MOST_BEGINNINGS = 2

/** Whether the search index is asked: not for short beginnings, which very many different words of all messages have. */
export const isForIndex = (query: string): boolean =>
  !SHORT.test(query) && !findsMark(query) && query.split(':*').length - 1 <= MOST_BEGINNINGS

/** Returns the condition that a message has these words one after another; null if there are none. */
const conditionOf = (text: string, isBeginning: boolean): { words: number; condition: string } | null => {
  const words = searchWords(text)
  if (words.length === 0) return null
  const ended =
    isBeginning && [...words.at(-1)!].length >= MIN_PREFIX
      ? (phrase: string) => `${phrase}:*`
      : (phrase: string) => phrase
  const [now, before] = [words, earlierWords(text)].map((each) =>
    each.length === 0 ? '' : ended(phraseOf(each)),
  ) as [string, string]
  const either = before === '' || before === now ? now : `${now} | ${before}`
  return { words: words.length, condition: words.length === 1 && either === now ? now : `(${either})` }
}

/** Words that are searched for, one after another; with `isBeginning`, the last one is the beginning of a word. */
export interface Sought {
  words: string[]
  isBeginning: boolean
}

/** What a query searches for: not what it excludes. */
export const soughtIn = (q: string): Sought[] => {
  const sought: Sought[] = []
  let isNot = false
  for (const [part, phrase] of q.replace(QUOTES, '"').matchAll(PARTS)) {
    if (part === '-') {
      isNot = !isNot
      continue
    }
    const words = phrase === undefined && /^or$/i.test(part) ? [] : searchWords(phrase ?? part)
    const isBeginning =
      phrase === undefined && part.endsWith('*') && [...(words.at(-1) ?? '')].length >= MIN_PREFIX
    if (!isNot && words.length > 0) sought.push({ words, isBeginning })
    isNot = false
  }
  return sought
}

/**
 * Returns the tsquery, in its text form, of a query in the syntax of search engines: words, `"a phrase"`, `or`,
 * `-without`, `begin*`. Null if it has no words. Throws `invalid_input` if it has too many.
 */
export const tsqueryOf = (q: string): string | null => {
  let query = ''
  let count = 0
  let next = { isOr: false, isNot: false }
  const add = (text: string, isBeginning = false): void => {
    const term = conditionOf(text, isBeginning)
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
    else add(phrase ?? part, phrase === undefined && part.endsWith('*'))
  }
  if (next.isOr) {
    next.isOr = false // nothing follows: it is a word
    add('or')
  }
  if (count > MAX_WORDS) throw new AppError('invalid_input', `A search must have at most ${MAX_WORDS} words.`)
  return query === '' ? null : query
}
