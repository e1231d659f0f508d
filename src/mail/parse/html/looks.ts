import type { Element } from 'domhandler'
import type { Computed, Style } from './cascade.ts'
import { lookOf, showsText } from './hidden.ts'
import type { Doubt, Look } from './look.ts'

interface Known {
  look: Look | null
  doubts: Parameters<Doubt>[]
}

/** Attributes that are not looked at beside the style. An element with another one is looked at by itself. */
const UNREAD = new Set(
  'style class id href target rel title lang dir role align valign border cellpadding cellspacing colspan rowspan'.split(
    ' ',
  ),
)

/** What decides on the look of an element besides its style and its parent's look; null if more does. */
const kindOf = ({ name, attribs }: Element): string | null => {
  if (name === 'option') return null
  for (const attribute in attribs) if (!UNREAD.has(attribute)) return null
  return 'href' in attribs ? `${name} href` : name
}

/**
 * The looks in one tree. Mails repeat the same elements with the same styles beside each other: most looks are known
 * (docs/decisions.md#time-to-read-mail).
 */
export class Looks {
  readonly #known = new Map<Look, Map<Style, Map<string, Known>>>()
  readonly #shown = new Map<Look, boolean>()

  /** As `lookOf`. */
  of(element: Element, computed: Computed, parent: Look, doubt: Doubt): Look | null {
    const kind = kindOf(element)
    if (kind === null) return lookOf(element, computed, parent, doubt)
    const byKind = this.#beside(parent, computed.style)
    let known = byKind.get(kind)
    if (known === undefined) {
      const doubts: Known['doubts'] = []
      known = { look: lookOf(element, computed, parent, (...about) => doubts.push(about)), doubts }
      byKind.set(kind, known)
    }
    for (const about of known.doubts) doubt(...about)
    return known.look
  }

  /** As `showsText`. */
  shows(look: Look): boolean {
    const known = this.#shown.get(look) ?? showsText(look)
    this.#shown.set(look, known)
    return known
  }

  #beside(parent: Look, style: Style): Map<string, Known> {
    const byStyle = this.#known.get(parent) ?? new Map<Style, Map<string, Known>>()
    const byKind = byStyle.get(style) ?? new Map<string, Known>()
    this.#known.set(parent, byStyle.set(style, byKind))
    return byKind
  }
}
