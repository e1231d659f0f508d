import { type AnyNode, type Document, Element } from 'domhandler'
import { serialize } from 'parse5'
import { adapter } from 'parse5-htmlparser2-tree-adapter'
import { type Declaration, parseDeclarations, parseSheet, type Rule } from '../parse/html/css.ts'
import { visibleTree } from '../parse/html/tree.ts'

/**
 * Properties that can hide text, cover it or put it into another order, in ways that differ between readers.
 * Many mail clients ignore them.
 */
const DROPPED =
  /^(?:--|all$|position$|inset|top$|right$|bottom$|left$|z-index$|(?:-webkit-)?(?:transform|perspective|clip|mask|filter|animation|backface|text-security|line-clamp)|translate$|scale$|rotate$|zoom$|backdrop|mix-blend|offset|contain|content|columns?$|overflow|text-overflow|max-(?:height|block-size)$|float-|order$|flex-(?:direction|flow|basis)$|grid|unicode-bidi$|direction$|writing-mode$|quotes$|counter|font-size-adjust$|hyphenate|text-emphasis|transition|shape|behavior|color-scheme$)/

/** Values that refer to others, contain text, or are negative. */
const isDropped = ({ property, value }: Declaration): boolean =>
  DROPPED.test(property) ||
  /\b(?:var|env|attr|if)\(|(?<![\w.)])-[.\d]/.test(value) ||
  (/["']/.test(value) &&
    !/^(?:font|font-family|background|background-image|list-style|list-style-image)$/.test(property)) ||
  (/^list-style/.test(property) && /(?<!\()["']/.test(value))

const written = (declarations: readonly Declaration[]): string =>
  declarations
    .filter((one) => !isDropped(one))
    .map(({ property, value, important }) => `${property}: ${value}${important ? ' !important' : ''}`)
    .join('; ')

/** Writes style rules and media queries; other at-rules may hide text from some readers. */
const sheet = (rules: readonly Rule[]): string =>
  rules
    .flatMap(({ at, prelude, declarations, rules: inner }) => {
      if (at !== null) return at === 'media' ? [`@media ${prelude} { ${sheet(inner)} }`] : []
      const own = written(declarations)
      return own === '' || /:(?:before|after|first-l|marker)/i.test(prelude) ? [] : [`${prelude} { ${own} }`]
    })
    .join('\n')

interface Page {
  css: string
  body: string
}

/**
 * Returns sanitized HTML without what its readers would not see, and without styles that may hide text from some
 * of them.
 */
export function visibleOnly({ css, body }: Page): Page {
  const shown = shownBody({ css, body })
  for (const element of elementsIn(shown)) {
    const style = visibleStyle(element.attribs.style ?? '')
    if (style === '') delete element.attribs.style
    else element.attribs.style = style
  }
  const plain = { css: sheet(parseSheet(css)), body: serialize(shown, { treeAdapter: adapter }) }
  // What had another colour or background by a style that is left out may be invisible now.
  return { css: plain.css, body: serialize(shownBody(plain), { treeAdapter: adapter }) }
}

const visibleStyle = (css: string): string => written(parseDeclarations(css))

function shownBody({ css, body }: Page): Element {
  const { root } = visibleTree(`<!DOCTYPE html><style>${css}</style><body>${body}`, () => {})
  return elementsIn(root).find(({ name }) => name === 'body') ?? new Element('body', {})
}

const elementsIn = (root: Document | Element): Element[] => {
  const found: Element[] = []
  const waiting: AnyNode[] = [root]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node instanceof Element) found.push(node)
    if ('children' in node) waiting.push(...[...node.children].reverse())
  }
  return found
}
