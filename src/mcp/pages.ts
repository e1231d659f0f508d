import { invalidInput } from '../core/errors.ts'

/** Characters in one page: about 5,000 tokens. */
const PAGE = 20_000
/** A page may be this much shorter to end at the end of a line. */
const SLACK = 1_000

export interface TextPage {
  text: string
  /** Where the next page begins; null on the last page. */
  nextOffset: number | null
}

const endOf = (text: string, offset: number): number => {
  const end = offset + PAGE
  if (end >= text.length) return text.length
  const line = text.lastIndexOf('\n', end)
  if (line > end - SLACK) return line + 1
  // Do not split a surrogate pair.
  return /[\ud800-\udbff]/.test(text[end - 1]!) ? end - 1 : end
}

/** One page of a text. Throws `invalid_input` for an offset beyond it. */
export const textPage = (text: string, offset: number): TextPage => {
  if (offset > text.length) throw invalidInput('offset', `the text has ${text.length} characters`)
  const end = endOf(text, offset)
  return { text: text.slice(offset, end), nextOffset: end < text.length ? end : null }
}
