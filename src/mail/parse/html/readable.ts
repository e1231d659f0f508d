import type { Document } from 'domhandler'
import { compile, type FormatCallback } from 'html-to-text'
import type { Budget } from '../../decode/time-budget.ts'
import { HISTORY_ELEMENTS, HISTORY_STARTS, markOf, withoutMarks } from './history.ts'
import type { Doubt, Witness } from './look.ts'
import { textOfTree, valueShown, visibleText } from './stream.ts'
import { visibleTree } from './tree.ts'

// html-to-text recurses for each level; real layouts have fewer than 100. The text of deeper HTML is collected
// in a simpler way, and longer HTML is read as a stream.
const MAX_DEPTH = 200
const MAX_TREE = 2 * 1024 * 1024
// The element in whose place html-to-text formats the tree that browsers would build.
const ROOT = 'visible-tree'

const convert: (html: string, metadata: Document) => string = compile({
  wordwrap: false,
  baseElements: { selectors: [ROOT] },
  formatters: {
    visible: (_root, walk, builder) => {
      walk((builder as unknown as { metadata: Document }).metadata.children as never, builder)
    },
    // Separates the cells of a row: otherwise `<td>1</td><td>200</td>` becomes 1200.
    cell: (cell, walk, builder) => {
      walk(cell.children, builder)
      builder.addInline(' ')
    },
    alternative: (image, _walk, builder) => {
      const text: unknown = image.attribs?.alt
      if (typeof text === 'string' && text.trim() !== '') builder.addInline(`[${text.trim()}]`)
    },
    value: (field, _walk, builder) => builder.addInline(valueShown(field.attribs as Record<string, string>)),
    history: (element, walk, builder) => {
      mark(builder, 'start')
      walk(element.children, builder)
      mark(builder, 'end')
    },
    historyStart: (element, walk, builder) => {
      mark(builder, 'rest')
      walk(element.children, builder)
    },
  },
  selectors: [
    { selector: ROOT, format: 'visible' },
    { selector: 'img', format: 'alternative' },
    { selector: 'input', format: 'value' },
    { selector: 'tr', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    ...['td', 'th'].map((selector) => ({ selector, format: 'cell' })),
    ...HISTORY_ELEMENTS.map((selector) => ({ selector, format: 'history' })),
    ...HISTORY_STARTS.map((selector) => ({ selector, format: 'historyStart' })),
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, linkBrackets: ['<', '>'] } },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
  ],
})

const mark = (builder: Parameters<FormatCallback>[2], kind: 'start' | 'rest' | 'end'): void => {
  builder.openBlock({ leadingLineBreaks: 1 })
  builder.addLiteral(markOf(kind))
  builder.closeBlock({ trailingLineBreaks: 1 })
}

/**
 * Converts HTML to the text a person would read: visible text, links in angle brackets after their text, and
 * images as their alternative text. If the tree is too deep or takes too long, a simpler conversion is used.
 * If that takes too long as well, a note refers to the message as received; raw HTML would reveal hidden
 * text.
 */
export const htmlToReadable = (html: string, budget: Budget): string =>
  withoutMarks(htmlToMarked(html, budget, () => {}))

/** The same with marks around what the HTML says is quoted history. */
export const htmlToMarked = (html: string, budget: Budget, doubt: Doubt, witness?: Witness): string =>
  converted({ html, budget, doubt, witness }, ({ root, depth }) =>
    depth > MAX_DEPTH ? textOfTree(root) : convert(`<${ROOT}></${ROOT}>`, root),
  )

/**
 * Returns the words that a person would read, without the layout, which is faster (docs/decisions.md#time-to-read-mail).
 * Doubts only whether they were all checked.
 */
export const htmlToWords = (html: string, budget: Budget, doubt: Doubt, witness?: Witness): string =>
  converted({ html, budget, doubt: (what) => what === UNCHECKED && doubt(what), witness }, ({ root }) =>
    textOfTree(root),
  )

/** What is said in place of HTML that takes too long. */
export const UNREADABLE_HTML: string =
  '[The HTML of this message could not be made readable; it is in the message as received.]'

const UNCHECKED = 'HTML that is too long or too slow to be checked as a whole'

function converted(
  {
    html,
    budget,
    doubt,
    witness,
  }: { html: string; budget: Budget; doubt: Doubt; witness?: Witness | undefined },
  format: (tree: ReturnType<typeof visibleTree>) => string,
): string {
  const text =
    html.length > MAX_TREE ? null : budget.spend(0.4, () => format(visibleTree(html, doubt, witness)))
  if (text !== null) return text
  doubt(UNCHECKED)
  return budget.spend(0.6, () => visibleText(html, doubt, witness)) ?? UNREADABLE_HTML
}
