import { BLACK, blend, type Colour, firstColour, isLegible, LINK, toColour, WHITE } from './colour.ts'
import { type Style, type Styled, StyleSheet } from './style.ts'

/** The little of an htmlparser2 node that is needed to see what a reader sees. */
export interface HtmlNode extends Styled {
  type: string
  data?: string
  children?: HtmlNode[]
}

/** How text looks where it stands. */
export interface Look {
  /** In pixels. */
  size: number
  invisible: boolean
  /** What is painted behind the text; null when a picture makes it unknown. */
  behind: Colour | null
  colour: Colour | null
}

/** The page before anything is painted on it. */
export const PAGE: Look = { size: 16, invisible: false, behind: WHITE, colour: BLACK }

const NEVER_SHOWN = new Set([
  ...['script', 'style', 'template', 'head', 'title', 'noframes', 'datalist', 'iframe'],
  ...['desc', 'defs', 'metadata', 'progress', 'meter', 'annotation', 'annotation-xml'],
])
const MAX_SHEET = 200_000
// Up to here nobody reads it.
const TINY = 2
// So far off that no screen shows it.
const FAR = -500

/**
 * Takes out of the tree what a person reading the mail would not see: `display:none`, `hidden`, no size, no
 * opacity, off the page, clipped, or in the colour of its background, by style attribute, style sheet or old
 * attributes. Otherwise a stranger could write to the agent what its people don't see. What comes back is how
 * deep the rest is nested.
 */
export function removeHidden(root: HtmlNode): number {
  const sheet = new StyleSheet(styleSheets(root))
  const stack: [HtmlNode, Look, number][] = [[root, PAGE, 0]]
  let deepest = 0
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const [node, look, depth] = entry
    deepest = Math.max(deepest, depth)
    node.children = (node.children ?? []).filter((child) => {
      if (child.type === 'text') return showsText(look)
      if (child.attribs === undefined) return child.children !== undefined
      const own = lookOf(child, sheet.styleOf(child), look)
      if (own === null) return false
      // Nobody can click what nobody sees, and its address would stand for its words.
      if (child.name === 'a' && !showsText(own)) delete child.attribs.href
      stack.push([child, own, depth + 1])
      return true
    })
  }
  return deepest
}

export const showsText = ({ size, invisible, colour, behind }: Look): boolean =>
  size > TINY && !invisible && isLegible(colour, behind)

/** How the element's text looks; null when a reader sees nothing of the element. */
export function lookOf(element: Styled, style: Style, parent: Look): Look | null {
  const { name = '', attribs = {} } = element
  if (NEVER_SHOWN.has(name) || isNotDisplayed(name, attribs, style) || isHiddenBox(name, style)) return null
  const visibility = style.get('visibility')
  return {
    size: sizeOf(name, attribs, style, parent.size),
    invisible: visibility === undefined ? parent.invisible : /^(?:hidden|collapse)/.test(visibility),
    behind: paintedBehind(name, attribs, style, parent.behind),
    colour: colourOf(name, attribs, style, parent.colour),
  }
}

function isNotDisplayed(name: string, attribs: Record<string, string>, style: Style): boolean {
  const display = style.get('display')
  if (display !== undefined) return /^none/.test(display)
  return 'hidden' in attribs || 'popover' in attribs || (name === 'dialog' && !('open' in attribs))
}

/** Whether nothing of its box is painted. */
function isHiddenBox(name: string, style: Style): boolean {
  if (style.size === 0) return false
  const is = (property: string, pattern: RegExp) => pattern.test(style.get(property) ?? '')
  const opacity = style.get('opacity')
  if (opacity !== undefined && Number.parseFloat(opacity) / (opacity.endsWith('%') ? 100 : 1) <= 0.05)
    return true
  if (is('content-visibility', /^hidden/) || is('filter', /opacity\(\s{0,9}0?(?:\.0\d{0,9})?%?\s{0,9}\)/))
    return true
  if (['zoom', 'scale'].some((property) => is(property, NOTHING))) return true
  if (
    is('transform', /scale[xy3d]{0,2}\(\s*(?:0|0?\.0\d*)\s*[,)]|rotate[xy]\(\s*-?90deg/) ||
    is('clip-path', /^polygon\([^1-9]*\)/)
  )
    return true
  if (
    is('clip', /^rect\(\s*(?:0|(\d+px)[\s,]+\d+px[\s,]+\1[\s,])/) ||
    is('clip-path', /^(?:inset\((?:50|100)%|circle\(0)/) ||
    is('transform', /scale\(\s*0(?:\s*,\s*0)?\s*\)/)
  )
    return true
  return isClipped(name, style) || isOffPage(style)
}

/** Less than a twentieth of any size. */
const NOTHING = /^(?:0|0?\.0\d*)%?$/

/** No size, and what doesn't fit is cut off. A cell of no width still grows to its text. */
function isClipped(name: string, style: Style): boolean {
  if (
    !['overflow', 'overflow-x', 'overflow-y'].some((property) =>
      /^(?:hidden|clip|auto|scroll)/.test(style.get(property) ?? ''),
    )
  )
    return false
  const cell = name === 'td' || name === 'th'
  const sides = ['height', 'max-height', ...(cell ? [] : ['width', 'max-width'])]
  const lineHeight = style.has('height') ? undefined : style.get('line-height')
  return [...sides.map((side) => style.get(side)), lineHeight].some(
    (length) => length !== undefined && /^(?:0(?:\.\d+)?[a-z%]*|1(?:px|pt))$/.test(length),
  )
}

function isOffPage(style: Style): boolean {
  const far = (length: string | undefined) =>
    length !== undefined && (toPixels(length.split(' ', 1)[0]!, 16) ?? 0) <= FAR
  if (
    ['text-indent', 'margin', 'margin-left', 'margin-top', 'translate'].some((property) =>
      far(style.get(property)),
    )
  )
    return true
  if (
    /translate[xy3d]{0,2}\([^)]{0,100}-(?:\d{4,}px|\d{3,}(?:%|v[wh]|em))/.test(style.get('transform') ?? '')
  )
    return true
  return (
    style.has('position') && ['left', 'top', 'right', 'bottom', 'inset'].some((side) => far(style.get(side)))
  )
}

const FONT_SIZES: Record<string, number> = {
  'xx-small': 9,
  'x-small': 10,
  small: 13,
  medium: 16,
  large: 18,
  'x-large': 24,
  'xx-large': 32,
}

function sizeOf(name: string, attribs: Record<string, string>, style: Style, parent: number): number {
  const shorthand = /(?:^|\s)([\d.]+(?:[a-z]+|%)?)(?:\s*\/\s*\S+)?\s+\S/.exec(style.get('font') ?? '')?.[1]
  const size = style.get('font-size') ?? shorthand
  if (size === undefined) return name === 'font' && 'size' in attribs ? 16 : parent
  return FONT_SIZES[size] ?? toPixels(size, parent) ?? parent
}

/** A length in pixels; null for what is none. `em` is the parent's size. */
function toPixels(length: string, em: number): number | null {
  const [, number, unit = ''] = /^(-?[\d.]+)\s*([a-z]*|%)$/.exec(length) ?? []
  if (number === undefined) return null
  const factor: Record<string, number> = {
    pt: 4 / 3,
    pc: 16,
    in: 96,
    cm: 38,
    mm: 3.8,
    em,
    ex: em / 2,
    ch: em / 2,
    rem: 16,
    '%': em / 100,
    vw: 12,
    vh: 8,
  }
  return Number.parseFloat(number) * (factor[unit] ?? 1)
}

function paintedBehind(
  name: string,
  attribs: Record<string, string>,
  style: Style,
  parent: Colour | null,
): Colour | null {
  const picture = `${style.get('background-image') ?? ''} ${style.get('background') ?? ''}`
  if (/url\(|gradient|var\(/.test(picture) || attribs.background || name === 'button') return null
  const paint = style.get('background-color') ?? style.get('background') ?? attribs.bgcolor
  const colour = paint === undefined ? null : firstColour(paint)
  if (colour === null) return paint?.includes('var(') ? null : parent
  return parent === null && colour.a < 1 ? null : blend(colour, parent ?? WHITE)
}

function colourOf(
  name: string,
  attribs: Record<string, string>,
  style: Style,
  parent: Colour | null,
): Colour | null {
  const given =
    style.get('-webkit-text-fill-color') ??
    style.get('color') ??
    attribs.color ??
    (name === 'body' ? attribs.text : undefined)
  if (given === undefined) return name === 'a' && 'href' in attribs ? LINK : parent
  return given.includes('var(') ? null : (toColour(given) ?? parent)
}

function styleSheets(root: HtmlNode): string {
  let sheet = ''
  const stack = [root]
  for (let node = stack.pop(); node !== undefined && sheet.length < MAX_SHEET; node = stack.pop()) {
    if (node.name === 'style') sheet += `${(node.children ?? []).map((child) => child.data ?? '').join('')}\n`
    else for (const child of (node.children ?? []).toReversed()) stack.push(child)
  }
  return sheet.slice(0, MAX_SHEET)
}
