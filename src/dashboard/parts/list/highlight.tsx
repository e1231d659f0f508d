import { Fragment } from 'react'

/** A word that was searched for; with `isPrefix` also what begins with it. */
export interface Sought {
  word: string
  isPrefix: boolean
}

const WORDS = /[\p{L}\p{M}\p{N}]+\*?/gu
/** Scripts without spaces between words, where a word is found inside of others. */
const UNSPACED = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/

/** Folds case, and the forms of a letter with its marks to one, as the search of the service does. */
const fold = (word: string): string =>
  word.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC').replaceAll('ς', 'σ')

/** The words of a search: neither what it excludes nor its operators. */
export const soughtIn = (query: string): Sought[] => {
  const wanted = query.replace(/(?<!\S)(?:-(?:"[^"]*"|\S+)|or(?!\S))/gi, ' ')
  return (wanted.match(WORDS) ?? []).map((word) => ({
    word: fold(word.replace('*', '')),
    isPrefix: word.endsWith('*'),
  }))
}

const isFound = (word: string, sought: readonly Sought[]): boolean => {
  const folded = fold(word)
  return sought.some((one) =>
    one.isPrefix || UNSPACED.test(one.word) ? folded.startsWith(one.word) : folded === one.word,
  )
}

/** Where a text has the words: from, to. */
export const rangesOf = (text: string, sought: readonly Sought[]): [number, number][] => {
  if (sought.length === 0) return []
  const found = Array.from(text.matchAll(/[\p{L}\p{M}\p{N}]+/gu))
    .filter(([word]) => isFound(word, sought))
    .map(({ 0: word, index }): [number, number] => [index, index + word.length])
  const inside = sought
    .filter(({ word }) => UNSPACED.test(word) && text.includes(word))
    .map(({ word }): [number, number] => [text.indexOf(word), text.indexOf(word) + word.length])
  // Where they overlap, the first one counts.
  return [...inside, ...found]
    .sort(([a], [b]) => a - b)
    .filter(([from], index, all) => index === 0 || from >= all[index - 1]![1])
}

/** A text with the words marked that were searched for. */
export const Highlight = ({ text, sought }: { text: string; sought: readonly Sought[] }) => {
  const ranges = rangesOf(text, sought)
  return ranges.length === 0 ? (
    text
  ) : (
    <>
      {ranges.map(([from, to], index) => (
        <Fragment key={from}>
          {text.slice(ranges[index - 1]?.[1] ?? 0, from)}
          <mark>{text.slice(from, to)}</mark>
        </Fragment>
      ))}
      {text.slice(ranges.at(-1)![1])}
    </>
  )
}
