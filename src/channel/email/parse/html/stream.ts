import { Parser } from 'htmlparser2'
import { type Look, lookOf, PAGE, showsText } from './hidden.ts'
import { type Styled, StyleSheet } from './style.ts'

const MAX_SHEET = 200_000
const PARAGRAPHS = new Set([
  'p',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'ul',
  'ol',
  'blockquote',
  'pre',
  'table',
])
const BLOCKS = new Set([
  ...[
    'div',
    'li',
    'tr',
    'section',
    'article',
    'header',
    'footer',
    'main',
    'nav',
    'address',
    'center',
    'dl',
    'dt',
    'dd',
    'fieldset',
    'form',
  ],
  ...['figure', 'figcaption', 'hr', 'body', 'html'],
])

interface Open extends Styled {
  /** Null if the element is not displayed. */
  look: Look | null
  depth: number
}

/**
 * Maximum nesting depth. Real layouts have fewer than 100 levels. Each level takes half a kilobyte until the
 * end.
 */
const MAX_OPEN = 50_000

/**
 * Extracts the visible text of HTML in a single pass without building a tree, so that HTML that is ten
 * thousand levels deep or megabytes long can be read. Simpler than `htmlToReadable`, but hides text by the
 * same rules.
 */
export function visibleText(html: string): string {
  const sheet = new StyleSheet(styleSheets(html))
  const out = new Lines()
  let open: Open = { look: PAGE, parent: null, depth: 0 }
  const parser = new Parser({
    onopentag(name, attribs) {
      const parent: Look | null = open.look
      if (open.depth >= MAX_OPEN) throw new Error(`nested deeper than ${MAX_OPEN} levels`)
      open = { name, attribs, parent: open, look: null, depth: open.depth + 1 }
      open.look = parent && lookOf(open, sheet.styleOf(open), parent)
      if (open.look !== null) out.begin(name, attribs)
    },
    ontext(text) {
      if (open.look !== null && showsText(open.look)) out.text(text)
    },
    onclosetag(name) {
      if (open.look !== null) out.end(name, showsText(open.look) ? open.attribs?.href : undefined)
      open = (open.parent as Open | null) ?? open
    },
  })
  parser.end(html)
  return out.toString()
}

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

function styleSheets(html: string): string {
  let sheet = ''
  let inside = false
  const parser = new Parser({
    onopentagname: (name) => {
      inside = name === 'style'
    },
    ontext: (text) => {
      if (inside && sheet.length < MAX_SHEET) sheet += text
    },
    onclosetag: () => {
      inside = false
    },
  })
  parser.end(html)
  return sheet.slice(0, MAX_SHEET)
}
