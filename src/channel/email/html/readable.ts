import { randomBytes } from 'node:crypto'
import { compile } from 'html-to-text'
import { bounded } from '../bounded.ts'
import { type HtmlNode, removeHidden } from './hidden.ts'
import { visibleText } from './stream.ts'

// html-to-text recurses per level; layouts that people send stay under 100 levels. What is deeper or longer is read as a stream.
const MAX_DEPTH = 200
const MAX_TREE = 2 * 1024 * 1024
// The formatter that prunes the tree hangs on an element around everything. Its name is made up anew so that no mail can close it.
const ROOT = `x-${randomBytes(8).toString('hex')}`

const convert = compile({
  wordwrap: false,
  limits: { maxInputLength: MAX_TREE + 200 },
  baseElements: { selectors: [ROOT] },
  formatters: {
    visible: (root, walk, builder) => {
      if (removeHidden(root as HtmlNode) > MAX_DEPTH) throw new Error(`nested deeper than ${MAX_DEPTH} levels`)
      walk(root.children, builder)
    },
    // The cells of a row stand apart: without it `<td>1</td><td>200</td>` reads 1200.
    cell: (cell, walk, builder) => {
      walk(cell.children, builder)
      builder.addInline(' ')
    },
    alternative: (image, _walk, builder) => {
      const text: unknown = image.attribs?.alt
      if (typeof text === 'string' && text.trim() !== '') builder.addInline(`[${text.trim()}]`)
    },
  },
  selectors: [
    { selector: ROOT, format: 'visible' },
    { selector: 'img', format: 'alternative' },
    { selector: 'tr', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    ...['td', 'th'].map((selector) => ({ selector, format: 'cell' })),
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, linkBrackets: ['<', '>'] } },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
  ],
})

/** Milliseconds that all the HTML of one message may take. Newsletters take 5 per 100 KB. */
export interface Patience {
  ms: number
}

/**
 * HTML as a person would read it: the visible text, links behind their words in angle brackets, images as their alternative text. A tree
 * that is too deep or takes too long is read more plainly; what takes too long even so is not shown raw, for that would show what it
 * hides: a note says that it is in the message as received.
 */
export function htmlToReadable(html: string, patience: Patience): string {
  const convenient = () => convert(`<${ROOT}>${html}</${ROOT}>`)
  return (
    (html.length > MAX_TREE ? null : within(patience, 0.4, convenient)) ??
    within(patience, 1, () => visibleText(html)) ??
    '[The HTML of this message could not be made readable; it is in the message as received.]'
  )
}

/** The work's result, or null when it throws or would take more than this share of the patience. */
function within(patience: Patience, share: number, work: () => string): string | null {
  const started = performance.now()
  try {
    return patience.ms < 1 ? null : bounded(Math.ceil(patience.ms * share), work)
  } catch {
    return null
  } finally {
    patience.ms -= performance.now() - started
  }
}
