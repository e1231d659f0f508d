import { randomBytes } from 'node:crypto'
import { compile } from 'html-to-text'
import type { Budget } from '../time-budget.ts'
import { type HtmlNode, removeHidden } from './hidden.ts'
import { visibleText } from './stream.ts'

// html-to-text recurses per level; layouts that people send stay under 100 levels. What is deeper or longer
// is read as a stream.
const MAX_DEPTH = 200
const MAX_TREE = 2 * 1024 * 1024
// The formatter that prunes the tree hangs on an element around everything. Its name is made up anew so that
// no mail can close it.
const ROOT = `x-${randomBytes(8).toString('hex')}`

const convert = compile({
  wordwrap: false,
  limits: { maxInputLength: MAX_TREE + 200 },
  baseElements: { selectors: [ROOT] },
  formatters: {
    visible: (root, walk, builder) => {
      if (removeHidden(root as HtmlNode) > MAX_DEPTH)
        throw new Error(`nested deeper than ${MAX_DEPTH} levels`)
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

/**
 * HTML as a person would read it: the visible text, links behind their words in angle brackets, images as
 * their alternative text. A tree that is too deep or takes too long is read more plainly; what takes too long
 * even so is not shown raw, for that would show what it hides: a note says that it is in the message as
 * received.
 */
export function htmlToReadable(html: string, budget: Budget): string {
  const convenient = () => convert(`<${ROOT}>${html}</${ROOT}>`)
  return (
    (html.length > MAX_TREE ? null : budget.spend(0.4, convenient)) ??
    budget.spend(0.6, () => visibleText(html)) ??
    '[The HTML of this message could not be made readable; it is in the message as received.]'
  )
}
