import { invalidInput } from '../../core/errors.ts'
import { clean } from './fence.ts'

/** Characters in one page: about 5,000 tokens. */
const PAGE = 20_000
/** A page may be this much shorter to end at the end of a line. */
const SLACK = 1_000

export interface TextPage {
  text: string
  /** Where the next page begins; null on the last page. */
  nextOffset: number | null
}

const endOf = (text: string, offset: number, size: number): number => {
  const end = offset + size
  if (end >= text.length) return text.length
  const line = text.lastIndexOf('\n', end)
  if (line > end - SLACK) return line + 1
  // Do not split a surrogate pair.
  return /[\ud800-\udbff]/.test(text[end - 1]!) ? end - 1 : end
}

/**
 * One page of a text, cleaned: only a page, because a text may have 25 million characters
 * (docs/decisions.md#cleaning-text). Throws `invalid_input` for an offset beyond the text.
 */
export const cleanPage = (text: string, offset: number, size = PAGE): TextPage => {
  if (offset > text.length) throw invalidInput('offset', `the text has ${text.length} characters`)
  const end = endOf(text, offset, size)
  const shown = clean(text.slice(offset, end))
  // What stands in the place of markers may be longer than they are.
  if (shown.length > PAGE) return cleanPage(text, offset, size / 2)
  return { text: shown, nextOffset: end < text.length ? end : null }
}
