import { invalidInput } from '../errors.ts'

/** A page may be this much shorter to end at the end of a line. */
const SLACK = 1_000

/** Returns where the page of a text ends that begins at `offset` and has at most `size` characters. */
export const pageEnd = (text: string, offset: number, size: number): number => {
  const end = offset + size
  if (end >= text.length) return text.length
  const line = text.lastIndexOf('\n', end - 1)
  if (line > end - SLACK) return line + 1
  // Do not split a surrogate pair.
  return /[\ud800-\udbff]/.test(text[end - 1]!) ? end - 1 : end
}

/** Returns where the page begins that contains `offset`: not within a surrogate pair. Throws `invalid_input` beyond the text. */
export const pageStart = (text: string, offset: number): number => {
  if (offset > text.length) throw invalidInput('offset', `the text has ${text.length} characters`)
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, offset - 1), offset + 1))
    ? offset - 1
    : offset
}
