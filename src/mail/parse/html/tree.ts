import type { AnyNode, Document, Element } from 'domhandler'
import { parse } from 'parse5'
import { adapter } from 'parse5-htmlparser2-tree-adapter'
import { StyleSheet } from './cascade.ts'
import { joinCharacters } from './joined-characters.ts'
import type { Doubt } from './look.ts'
import { removeHidden } from './remove-hidden.ts'
import { type SheetSource, sheetOf } from './sheet-source.ts'

/**
 * Parses HTML as browsers do, with scripts turned off as in mail, and leaves out what a person reading it would
 * not see. `depth` is the number of nested elements that remain.
 */
export function visibleTree(html: string, doubt: Doubt): { root: Document; depth: number } {
  const root = parse(html, { treeAdapter: adapter, scriptingEnabled: false })
  const sheets = /<(?:style|link)\b/i.test(html) ? sheetsIn(root) : []
  const sheet = new StyleSheet(sheets, { quirks: root['x-mode'] === 'quirks' })
  const depth = removeHidden(root, sheet, doubt)
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

const textOf = ({ children }: Element): string =>
  children.map((child) => (child.type === 'text' ? child.data : '')).join('')
