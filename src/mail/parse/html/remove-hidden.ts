import { type AnyNode, type Document, Element, Text } from 'domhandler'
import type { StyleSheet } from './cascade.ts'
import { lookOf, showsText } from './hidden.ts'
import { type Doubt, type Look, PAGE, type Witness } from './look.ts'
import { Looks } from './looks.ts'
import { declare } from './properties.ts'

/**
 * Removes from the tree what a person reading the mail would not see, and calls `doubt` with what may hide
 * text but is not evaluated. Otherwise a stranger could pass text to the agent that its owners do not see.
 * Returns the nesting depth of the remaining tree.
 */
export function removeHidden(root: Document, sheet: StyleSheet, doubt: Doubt, witness?: Witness): number {
  const kept = new Map<Document | Element, AnyNode[]>()
  const page = { ...PAGE, quirks: root['x-mode'] === 'quirks', variables: sheet.variables }
  const stack: [Document | Element, Look, number][] = [[root, page, 0]]
  const looks = new Looks()
  let deepest = 0
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const [node, look, depth] = entry
    deepest = Math.max(deepest, depth)
    const isShown = looks.shows(look)
    const children = (node.children as AnyNode[]).filter((child) => {
      if (child.type === 'text') {
        if (!isShown) witness?.hidden(child.data)
        return isShown
      }
      if (child.type === 'comment' && !CONDITIONAL.test(child.data)) witness?.hidden(child.data)
      if (!('attribs' in child)) return false
      const own = looks.of(child, sheet.styleOf(child, look.variables), look, (what, evenIfEmpty = false) => {
        if (evenIfEmpty || saysAnything(child)) doubt(what)
      })
      if (own === null) {
        if (witness && !PROGRAMS.has(child.name)) witness.hidden(textIn(child))
        return false
      }
      // An invisible link cannot be clicked, and its URL would be shown instead of its text.
      if ((child.name === 'a' || child.name === 'input') && !looks.shows(own)) child.attribs = {}
      else addGenerated(child, own, sheet)
      stack.push([child, own, depth + 1])
      return true
    })
    if (children.length < node.children.length) kept.set(node, children)
  }
  doubtSheet(sheet, page, doubt)
  for (const [node, children] of kept) node.children = children as typeof node.children
  return deepest
}

/** Elements whose content is no text. */
export const PROGRAMS = new Set(['script', 'style', 'svg', 'head'])
/** Comments that Outlook reads, and those around them. */
const CONDITIONAL = /^\s*\[if|<!\[endif\]|^\s*<!\[/

const MAX_HIDDEN = 20_000

/** The text of an element that is not shown, without what its own elements hide. */
function textIn(element: Element): string {
  const texts: string[] = []
  const stack: AnyNode[] = [element]
  for (let node = stack.pop(), left = MAX_HIDDEN; node !== undefined && left > 0; node = stack.pop()) {
    if (node.type === 'text') {
      texts.push(node.data.slice(0, left))
      left -= node.data.length
    } else if ('children' in node && !('name' in node && PROGRAMS.has(node.name)))
      stack.push(...(node.children as AnyNode[]).toReversed())
  }
  return texts.join(' ')
}

/** Returns the text that style sheets add before or after the content of an element. */
export function generatedText(
  element: Element,
  place: 'before' | 'after',
  look: Look,
  sheet: StyleSheet,
): string {
  const style = sheet.generated(element, place, look.variables)
  if (style === null) return ''
  const text = [...(style.get('content') ?? '').matchAll(/"([^"]*)"|'([^']*)'|attr\(([\w-]+)\)/g)]
    .map(([, one, other, attribute]) => one ?? other ?? element.attribs[attribute ?? ''] ?? '')
    .join('')
  const own = text && lookOf(new Element('span', {}), { style, variables: look.variables }, look, () => {})
  return own && showsText(own) ? text : ''
}

function addGenerated(element: Element, look: Look, sheet: StyleSheet): void {
  const before = generatedText(element, 'before', look, sheet)
  const after = generatedText(element, 'after', look, sheet)
  if (before !== '') element.children.unshift(new Text(before))
  if (after !== '') element.children.push(new Text(after))
}

/** Reports what style sheets contain that may hide text and is not evaluated. */
export function doubtSheet(sheet: StyleSheet, page: Look, doubt: Doubt): void {
  for (const what of sheet.foreign) doubt(what)
  for (const declarations of sheet.unevaluated) {
    const style = new Map<string, string>()
    for (const { property, value } of declarations) declare(style, property, value)
    const look = lookOf(new Element('div', {}), { style, variables: page.variables }, page, () => {})
    if (look === null || !showsText(look)) doubt('rules that may apply')
  }
}

const MAX_LOOKED_AT = 200

/** Whether an element contains text; assumed of a large one. */
function saysAnything(element: Element): boolean {
  const stack: AnyNode[] = [element]
  for (let i = 0; i < MAX_LOOKED_AT; i++) {
    const node = stack.pop()
    if (node === undefined) return false
    if (node.type === 'text' && node.data.trim() !== '') return true
    if ('children' in node) stack.push(...node.children.slice(0, MAX_LOOKED_AT))
  }
  return true
}
