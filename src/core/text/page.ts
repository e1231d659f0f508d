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

/** Throws `invalid_input` for an offset beyond the text. */
export const ensureWithin = (text: string, offset: number): void => {
  if (offset > text.length) throw invalidInput('offset', `the text has ${text.length} characters`)
}
