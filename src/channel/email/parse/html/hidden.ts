import { type AnyNode, type Document, Element, Text } from 'domhandler'
import { isHiddenBox } from './box.ts'
import type { Style, StyleSheet, Variables } from './cascade.ts'
import {
  BLACK,
  blend,
  type Colour,
  coloursIn,
  DARK,
  isLegible,
  LINK,
  toColour,
  toLegacyColour,
  WHITE,
} from './colour.ts'
import { declare, GLOBAL, INHERITED } from './properties.ts'
import { toNumber, toPixels } from './values.ts'

/** Appearance of text, and what its content inherits. */
export interface Look {
  /** In pixels. */
  size: number
  invisible: boolean
  /** Whether this is within SVG but outside of its text elements, where text is not painted. */
  unpainted: boolean
  opacity: number
  /** Background colour; null if unknown because of an image. */
  behind: Colour | null
  colour: Colour | null
  /** Colour of links, and of text outside of elements with a colour of their own. */
  link: Colour
  base: Colour | null
  /** Whether child elements are blocks, as in a flexible box. */
  blockifies: boolean
  /** Whether tables start with the page's font size and colour, as in pages without a doctype. */
  quirks: boolean
  inherited: Style
  variables: Variables
}

/** The default appearance of a page. */
export const PAGE: Look = {
  ...{
    size: 16,
    invisible: false,
    unpainted: false,
    opacity: 1,
    behind: WHITE,
    colour: BLACK,
    link: LINK,
    base: BLACK,
  },
  ...{ blockifies: false, quirks: false, inherited: new Map(), variables: new Map() },
}

/** Takes note of something that may hide text from people, but cannot be evaluated. */
export type Doubt = (what: string, evenIfEmpty?: boolean) => void

const NEVER_SHOWN = new Set([
  ...[
    'script',
    'style',
    'template',
    'head',
    'title',
    'noframes',
    'noembed',
    'datalist',
    'iframe',
    'frameset',
  ],
  ...[
    'desc',
    'defs',
    'metadata',
    'symbol',
    'clippath',
    'mask',
    'pattern',
    'marker',
    'progress',
    'meter',
    'rp',
  ],
  ...[
    'annotation',
    'annotation-xml',
    'mphantom',
    'audio',
    'video',

    'applet',
    'area',
    'param',
    'source',
  ],
])
/** Elements whose content is shown by some mail clients, in some states, or at some coordinates only. */
const OPTIONAL = new Set(['noscript', 'object', 'text'])
// Largest font size in pixels that is illegible.
const TINY = 2

export const showsText = ({
  size,
  invisible,
  unpainted,
  opacity,
  colour,
  behind,
  inherited,
}: Look): boolean => {
  const fill = inherited.get('-webkit-text-fill-color')
  const own = fill === undefined || GLOBAL.test(fill) || fill === 'currentcolor' ? colour : toColour(fill)
  const painted = own && { ...own, a: own.a * opacity }
  return (
    size > TINY &&
    !invisible &&
    !unpainted &&
    opacity > 0.05 &&
    !/^(?:disc|circle|square)/.test(inherited.get('-webkit-text-security') ?? '') &&
    !/^0(?!\.[1-9])/.test(inherited.get('font-size-adjust') ?? '') &&
    (isLegible(painted, behind) || isOutlined(inherited, behind))
  )
}

/** Whether a shadow or a stroke makes text legible that has the colour of its background. */
const isOutlined = (inherited: Style, behind: Colour | null): boolean =>
  ['text-shadow', '-webkit-text-stroke'].some((property) =>
    coloursIn(inherited.get(property) ?? '').some((colour) => isLegible(colour, behind)),
  )

/** Computes the appearance of the element's text; null if the element is not displayed at all. */
export function lookOf(
  element: Element,
  { style, variables }: ReturnType<StyleSheet['styleOf']>,
  given: Look,
  doubt: Doubt,
): Look | null {
  const { name, attribs } = element
  const parent =
    name === 'table' && given.quirks
      ? { ...given, size: 16, colour: given.base, inherited: PAGE.inherited }
      : given
  if (NEVER_SHOWN.has(name.toLowerCase()) || isNotDisplayed(element, style)) return null
  if (OPTIONAL.has(name) || (name === 'details' && !('open' in attribs))) doubt(name)
  const inherited = inheritedBy(style, parent.inherited)
  const size = sizeOf(name, attribs, style, parent.size)
  if (isHiddenBox(element, { style, inherited, size, parent }, doubt)) return null
  const colour = colourOf(name, attribs, style, parent)
  const opacity = style.get('display') === 'contents' ? 1 : (toNumber(style.get('opacity')) ?? 1)
  const visibility = style.get('visibility') ?? 'inherit'
  const look = {
    size: size * (toNumber(style.get('zoom')) || 1),
    invisible: GLOBAL.test(visibility)
      ? parent.invisible && visibility !== 'initial'
      : visibility !== 'visible',
    unpainted: name === 'svg' || (parent.unpainted && !/^(?:text|foreignobject)$/i.test(name)),
    opacity: parent.opacity * Math.max(0, Math.min(1, opacity)),
    behind: paintedBehind({ name, attribs, style }, parent, colour),
    colour,
    link: (name === 'body' && attribs.link && toLegacyColour(attribs.link)) || parent.link,
    base: name === 'body' ? colour : parent.base,
    blockifies: /flex|grid/.test(style.get('display') ?? ''),
    quirks: parent.quirks,
    inherited,
    variables,
  }
  if (isUnknownColour(style.get('color')) || isUnknownColour(style.get('-webkit-text-fill-color')))
    doubt('color')
  if (look.behind === null && !isLegible(colour, plainBehind(style, parent))) doubt('background-image')
  return style.get('background-clip') === 'text' ? { ...look, behind: parent.behind, colour: null } : look
}

const isUnknownColour = (value = 'inherit'): boolean => value.includes('(') && toColour(value) === null

/** The background as it is without its image. */
const plainBehind = (style: Style, parent: Look): Colour =>
  toColour(style.get('background-color') ?? '') ?? parent.behind ?? WHITE

function inheritedBy(style: Style, inherited: Style): Style {
  const own = INHERITED.filter((property) => style.has(property) && style.get(property) !== 'inherit')
  if (own.length === 0) return inherited
  const all = new Map(inherited)
  for (const property of own) {
    const value = style.get(property)!
    if (value === 'initial') all.delete(property)
    else if (!GLOBAL.test(value)) all.set(property, value)
  }
  return all
}

function isNotDisplayed(element: Element, style: Style): boolean {
  const { name, attribs } = element
  const display = style.get('display')
  if (attribs.hidden?.toLowerCase() === 'until-found') return true
  if (display !== undefined && !GLOBAL.test(display)) return /^(?:none|table-column)/.test(display)
  if (name === 'img' && /^\s*[0-3](?:px)?\s*$/.test(attribs.width ?? attribs.height ?? '')) return true
  if (element.name === 'option' && !isChosen(element)) return true
  return 'hidden' in attribs || 'popover' in attribs || (name === 'dialog' && !('open' in attribs))
}

/** Whether a closed list shows this option. */
function isChosen({ attribs, parent }: Element): boolean {
  const select = parent?.type === 'tag' ? parent : null
  if ('selected' in attribs || select === null || 'multiple' in select.attribs || 'size' in select.attribs)
    return true
  const options = select.children.filter((child) => child instanceof Element)
  return options[0]?.attribs === attribs && !options.some((option) => 'selected' in option.attribs)
}

const FONT_SIZES: Record<string, number> = {
  ...{
    'xxx-large': 48,
    'xx-small': 9,
    'x-small': 10,
    small: 13,
    medium: 16,
    large: 18,
    'x-large': 24,
    'xx-large': 32,
  },
}

function sizeOf(name: string, attribs: Record<string, string>, style: Style, parent: number): number {
  const size = style.get('font-size')
  if (size === undefined || size === 'revert') {
    if (name === 'font' && 'size' in attribs) return 16
    return /^(?:small|sub|sup)$/.test(name) ? parent / 1.2 : name === 'big' ? parent * 1.2 : parent
  }
  if (size === 'smaller') return parent / 1.2
  if (size === 'larger') return parent * 1.2
  if (size === 'initial') return 16
  return FONT_SIZES[size] ?? toPixels(size, parent, parent) ?? parent
}

interface Painted {
  name: string
  attribs: Record<string, string>
  style: Style
}

const PAINTABLE = /^(?:body|table|thead|tbody|tfoot|tr|td|th)$/

function paintedBehind(
  { name, attribs, style }: Painted,
  parent: Look,
  current: Colour | null,
): Colour | null {
  const image =
    style.get('background-image') ?? (PAINTABLE.test(name) && attribs.background ? 'url()' : 'none')
  const shadow = /\binset\b/.test(style.get('box-shadow') ?? '') ? coloursIn(style.get('box-shadow')!) : []
  if (image !== 'none' && !GLOBAL.test(image)) return shades(image, parent, current)
  if (name === 'button' && !style.has('background-color')) return null
  if (name === 'mark' && !style.has('background-color')) return { r: 255, g: 255, b: 0, a: 1 }
  const given = style.get('background-color')
  const attribute = PAINTABLE.test(name) && attribs.bgcolor ? toLegacyColour(attribs.bgcolor) : null
  const written = given === undefined ? attribute : given === 'currentcolor' ? current : toColour(given)
  const dark = name === 'html' && /^(?:only )?dark\b/.test(style.get('color-scheme') ?? '') ? DARK : null
  const colour = shadow[0] ?? written ?? dark
  if (colour === null) return isUnknownColour(given) ? null : parent.behind
  return parent.behind === null && colour.a < 1 ? null : blend(colour, parent.behind ?? WHITE)
}

/** The colour of a gradient whose colours are alike; null for any other picture. */
function shades(image: string, { behind }: Look, current: Colour | null): Colour | null {
  const inner = image.replace(/\bcurrentcolor\b/g, 'transparent')
  const colours = /^[a-z-]*gradient\(/.test(inner) ? coloursIn(inner) : []
  const [first] = colours
  if (first === undefined || behind === null || current === null) return null
  const flat = colours.map((one) => blend(one, behind))
  return flat.every((one) => !isLegible(one, flat[0]!)) ? flat[0]! : null
}

function colourOf(name: string, attribs: Record<string, string>, style: Style, parent: Look): Colour | null {
  const given = style.get('color')
  const attribute = name === 'font' ? attribs.color : name === 'body' ? attribs.text : undefined
  if (given === undefined || given === 'revert') {
    if (name === 'a' && 'href' in attribs) return parent.link
    if (name === 'mark') return BLACK
    if (name === 'html' && /^(?:only )?dark\b/.test(style.get('color-scheme') ?? '')) return WHITE
    return (attribute && toLegacyColour(attribute)) || parent.colour
  }
  if (given === 'initial') return BLACK
  if (given === 'currentcolor' || GLOBAL.test(given)) return parent.colour
  return toColour(given)
}

/**
 * Removes from the tree what a person reading the mail would not see, and calls `doubt` with what may hide
 * text but is not evaluated. Otherwise a stranger could pass text to the agent that its owners do not see.
 * Returns the nesting depth of the remaining tree.
 */
export function removeHidden(root: Document, sheet: StyleSheet, doubt: Doubt): number {
  const kept = new Map<Document | Element, AnyNode[]>()
  const page = { ...PAGE, quirks: root['x-mode'] === 'quirks', variables: sheet.variables }
  const stack: [Document | Element, Look, number][] = [[root, page, 0]]
  let deepest = 0
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const [node, look, depth] = entry
    deepest = Math.max(deepest, depth)
    const children = (node.children as AnyNode[]).filter((child) => {
      if (child.type === 'text') return showsText(look)
      if (!('attribs' in child)) return false
      const own = lookOf(child, sheet.styleOf(child, look.variables), look, (what, evenIfEmpty = false) => {
        if (evenIfEmpty || saysAnything(child)) doubt(what)
      })
      if (own === null) return false
      // An invisible link cannot be clicked, and its URL would be shown instead of its text.
      if ((child.name === 'a' || child.name === 'input') && !showsText(own)) child.attribs = {}
      else addGenerated(child, own, sheet)
      stack.push([child, own, depth + 1])
      return true
    })
    kept.set(node, children)
  }
  doubtSheet(sheet, page, doubt)
  for (const [node, children] of kept) node.children = children as typeof node.children
  return deepest
}

/** Returns the text that style sheets add before or after the content of an element. */
export function generatedText(
  element: Element,
  place: 'before' | 'after',
  look: Look,
  sheet: StyleSheet,
): string {
  const style = sheet.generated(element, place, look.variables)
  const text = [...(style?.get('content') ?? '').matchAll(/"([^"]*)"|'([^']*)'|attr\(([\w-]+)\)/g)]
    .map(([, one, other, attribute]) => one ?? other ?? element.attribs[attribute ?? ''] ?? '')
    .join('')
  const own =
    style && text && lookOf(new Element('span', {}), { style, variables: look.variables }, look, () => {})
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
