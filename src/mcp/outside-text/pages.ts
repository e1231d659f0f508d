import { pageEnd, pageStart } from '../../core/text/page.ts'
import { clean } from './fence.ts'

/** Characters in one page: about 5,000 tokens. */
const PAGE = 20_000

export interface TextPage {
  text: string
  /** Where the next page begins; null on the last page. */
  nextOffset: number | null
}

/**
 * One page of a text, cleaned: only a page, because a text may have 25 million characters
 * (docs/decisions.md#cleaning-text). Throws `invalid_input` for an offset beyond the text.
 */
export const cleanPage = (text: string, offset: number, size = PAGE): TextPage => {
  const start = pageStart(text, offset)
  const end = pageEnd(text, start, size)
  const shown = clean(text.slice(start, end))
  // What stands in the place of markers may be longer than they are.
  if (shown.length > PAGE) return cleanPage(text, offset, size / 2)
  return { text: shown, nextOffset: end < text.length ? end : null }
}
