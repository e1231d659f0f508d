import { type AnyNode, type Document, Element } from 'domhandler'
import { Parser } from 'htmlparser2'
import { StyleSheet } from './cascade.ts'
import { lookOf, showsText } from './hidden.ts'
import { type Doubt, type Look, PAGE, type Witness } from './look.ts'
import { doubtSheet, generatedText, PROGRAMS } from './remove-hidden.ts'
import { type SheetSource, sheetOf } from './sheet-source.ts'
import { names } from './values.ts'

const PARAGRAPHS = names('p h1 h2 h3 h4 h5 h6 ul ol blockquote pre table')
const BLOCKS = names(`
  div li tr section article header footer main nav address center dl dt dd fieldset form figure figcaption hr body
  html`)

/**
 * Maximum nesting depth. Real layouts have fewer than 100 levels. Each level takes half a kilobyte until the
 * end.
 */
const MAX_OPEN = 50_000
/** Number of earlier siblings that are kept for selectors. */
const MAX_SIBLINGS = 200

/**
 * Extracts the visible text of HTML in a single pass without building a tree, so that megabytes of HTML can be
 * read. Hides text by the same rules, except that nothing is known of an element's content and later siblings.
 */
export function visibleText(html: string, doubt: Doubt = () => {}, witness?: Witness): string {
  const sheet = new StyleSheet(styleSheets(html), { quirks: !/<!doctype html/i.test(html), streaming: true })
  const page = { ...PAGE, variables: sheet.variables }
  doubtSheet(sheet, page, doubt)
  const out = new Lines()
  const root = new Element('#root', {})
  const open: { element: Element; look: Look | null }[] = [{ element: root, look: page }]
  const parser = new Parser({
    onopentag(name, attribs) {
      const { element: parent, look } = open.at(-1)!
      if (open.length > MAX_OPEN) throw new Error(`nested deeper than ${MAX_OPEN} levels`)
      const element = new Element(name, attribs)
      element.parent = parent
      follow(parent, element)
      const own = look && lookOf(element, sheet.styleOf(element, look.variables), look, doubt)
      open.push({ element, look: own })
      if (own === null) return
      out.begin(name, showsText(own) ? attribs : {})
      out.text(generatedText(element, 'before', own, sheet))
    },
    ontext(text) {
      const { element, look } = open.at(-1)!
      if (look !== null && showsText(look)) out.text(text)
      else if (!PROGRAMS.has(element.name)) witness?.hidden(text)
    },
    onclosetag(name) {
      const { element, look } = open.length > 1 ? open.pop()! : open[0]!
      element.children = []
      if (look === null) return
      out.text(generatedText(element, 'after', look, sheet))
      out.end(name, showsText(look) ? element.attribs.href : undefined)
    },
  })
  parser.end(html)
  return out.toString()
}

/** Adds a child, and forgets one that is long past. */
function follow(parent: Element, element: Element): void {
  const last = parent.children.at(-1)
  if (last) {
    last.next = element
    element.prev = last
  }
  parent.children.push(element)
  if (parent.children.length <= 2 * MAX_SIBLINGS) return
  parent.children = parent.children.slice(-MAX_SIBLINGS)
  parent.children[0]!.prev = null
}

/** The same for a tree from which hidden text was removed, however deep it is. */
export function textOfTree(root: Document): string {
  const out = new Lines()
  const stack: (AnyNode | { end: Element })[] = [root]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if ('end' in node) out.end(node.end.name, node.end.attribs.href)
    else if (node.type === 'text') out.text(node.data)
    else if ('children' in node) {
      if ('attribs' in node) {
        out.begin(node.name, node.attribs)
        stack.push({ end: node })
      }
      for (const child of node.children.toReversed()) stack.push(child as AnyNode)
    }
  }
  return out.toString()
}

/** The text that a field or a button of a form shows. */
export const valueShown = ({ type = 'text', value, placeholder }: Record<string, string>): string =>
  /^(?:text|button|submit|reset|email|search|tel|url|number)$/i.test(type) ? (value ?? placeholder ?? '') : ''

const MAX_PIECES = 8 * 1024

/** Collects words and the breaks between them. */
class Lines {
  #text = ''
  #pieces: string[] = []
  /** Number of line breaks at the end. */
  #breaks = 2
  #space = false

  begin(name: string, attribs: Record<string, string>): void {
    if (name === 'br') this.#break(this.#breaks + 1)
    else this.#separate(name)
    if (name === 'li') this.text('* ')
    if (name === 'img' && attribs.alt?.trim()) this.text(`[${attribs.alt.trim()}]`)
    if (name === 'input') this.text(valueShown(attribs))
  }

  end(name: string, href: string | undefined): void {
    if (name === 'td' || name === 'th') this.#space = true
    else if (name === 'a' && href && !href.startsWith('#')) this.text(` <${href}>`)
    else this.#separate(name)
  }

  text(text: string): void {
    const words = text.replace(/[ \t\r\n\f]+/g, ' ')
    if (words === '') return
    this.#space ||= words.startsWith(' ')
    if (words === ' ') return
    this.#add(`${this.#space && this.#breaks === 0 ? ' ' : ''}${words.trim()}`)
    this.#breaks = 0
    this.#space = words.endsWith(' ')
  }

  toString(): string {
    return (this.#text + this.#pieces.join('')).trim()
  }

  /**
   * Appends text. Separate short strings take ten times the memory of their characters, so they are joined in
   * batches.
   */
  #add(piece: string): void {
    if (this.#pieces.push(piece) < MAX_PIECES) return
    this.#text += this.#pieces.join('')
    this.#pieces = []
  }

  #separate(name: string): void {
    if (PARAGRAPHS.has(name)) this.#break(2)
    else if (BLOCKS.has(name)) this.#break(1)
  }

  /** Ensures that the text ends with at least `wanted` line breaks, up to two. */
  #break(wanted: number): void {
    const missing = Math.min(wanted, 2) - this.#breaks
    if (missing <= 0) return
    this.#add('\n'.repeat(missing))
    this.#breaks += missing
    this.#space = false
  }
}

function styleSheets(html: string): SheetSource[] {
  const sheets: SheetSource[] = []
  let style: { attribs: Record<string, string>; text: string } | null = null
  const parser = new Parser({
    onopentag: (name, attribs) => {
      if (name === 'link') sheets.push(...sheetOf({ name, attribs }, ''))
      style = name === 'style' ? { attribs, text: '' } : null
    },
    ontext: (text) => {
      if (style !== null) style.text += text
    },
    onclosetag: () => {
      if (style !== null) sheets.push(...sheetOf({ name: 'style', attribs: style.attribs }, style.text))
      style = null
    },
  })
  parser.end(html)
  return sheets
}
