import { randomBytes } from 'node:crypto'
import { isMainThread } from 'node:worker_threads'
import { compile } from 'html-to-text'
import { bounded } from './bounded.ts'
import { type HtmlNode, removeHidden } from './hidden.ts'

// html-to-text recurses per level and throws on a deep tree; layouts that people send stay under 100 levels.
const MAX_DEPTH = 200
const MAX_INPUT = 2 * 1024 * 1024
// The formatter that prunes the tree hangs on an element around everything. Its name is made up anew so that no mail can close it.
const ROOT = `x-${randomBytes(8).toString('hex')}`

const convert = compile({
  wordwrap: false,
  limits: { maxDepth: MAX_DEPTH, maxInputLength: MAX_INPUT + 200, ellipsis: '…' },
  baseElements: { selectors: [ROOT] },
  formatters: {
    visible: (root, walk, builder) => {
      removeHidden(root as HtmlNode)
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

// Newsletters take 5 ms per 100 KB; trees made to be slow (100,000 unclosed elements) would take minutes.
const MAX_MS = isMainThread ? 300 : 1_500

/**
 * HTML as a person would read it: the visible text, links behind their words in angle brackets, images as their alternative text.
 * What takes too long is not shown raw, for that would show what it hides: a note says that it is in the message as received.
 */
export function htmlToReadable(html: string): string {
  try {
    const text = bounded(MAX_MS, () => convert(`<${ROOT}>${html.slice(0, MAX_INPUT)}</${ROOT}>`))
    return html.length > MAX_INPUT ? `${text}\n[… cut: the HTML is longer than 2 MiB; the rest is in the message as received]` : text
  } catch {
    return '[The HTML of this message could not be made readable; it is in the message as received.]'
  }
}
