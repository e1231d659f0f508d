import type { AnyNode, Document, Element } from 'domhandler'
import { parse } from 'parse5'
import { adapter } from 'parse5-htmlparser2-tree-adapter'
import { StyleSheet } from './cascade.ts'
import { joinCharacters } from './joined-characters.ts'
import type { Doubt, Witness } from './look.ts'
import { removeHidden } from './remove-hidden.ts'
import { type SheetSource, sheetOf } from './sheet-source.ts'

/**
 * Parses HTML as browsers do, with scripts turned off as in mail, and leaves out what a person reading it would
 * not see. `depth` is the number of nested elements that remain.
 */
export function visibleTree(
  html: string,
  doubt: Doubt,
  witness?: Witness,
): { root: Document; depth: number } {
  const root = parse(html, { treeAdapter: adapter, scriptingEnabled: false })
  const sheets = /<(?:style|link)\b/i.test(html) ? sheetsIn(root) : []
  const sheet = new StyleSheet(sheets, { quirks: root['x-mode'] === 'quirks' })
  const depth = removeHidden(root, sheet, doubt, witness)
  if (witness) for (const link of linksIn(root)) witness.link(textOfLink(link), link.attribs.href!)
  joinCharacters(root)
  return { root, depth }
}

function sheetsIn(root: Document): SheetSource[] {
  const sheets: SheetSource[] = []
  const stack: AnyNode[] = [root]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (!('children' in node) || ('name' in node && node.name === 'template')) continue
    if ('attribs' in node && (node.name === 'style' || node.name === 'link'))
      sheets.push(...sheetOf(node, textOf(node)))
    else stack.push(...(node.children as AnyNode[]).toReversed())
  }
  return sheets
}

const MAX_LINKS = 500
const MAX_LINK_TEXT = 300

const linksIn = (root: Document): Element[] => {
  const links: Element[] = []
  const stack: AnyNode[] = [root]
  for (let node = stack.pop(); node !== undefined && links.length < MAX_LINKS; node = stack.pop()) {
    if ('attribs' in node && node.name === 'a' && node.attribs.href) links.push(node)
    if ('children' in node) stack.push(...(node.children as AnyNode[]).toReversed())
  }
  return links
}

const textOfLink = (link: Element): string => {
  let text = ''
  const stack: AnyNode[] = [link]
  for (let node = stack.pop(); node !== undefined && text.length < MAX_LINK_TEXT; node = stack.pop())
    if (node.type === 'text') text += node.data.slice(0, MAX_LINK_TEXT)
    else if ('children' in node) stack.push(...(node.children as AnyNode[]).toReversed())
  return text
}

const textOf = ({ children }: Element): string =>
  children.map((child) => (child.type === 'text' ? child.data : '')).join('')
