import { BLACK, blend, type Colour, firstColour, isLegible, LINK, toColour, WHITE } from './colour.ts'
import { type Style, type Styled, StyleSheet } from './style.ts'

/** The parts of an htmlparser2 node that determine what is visible. */
export interface HtmlNode extends Styled {
  type: string
  data?: string
  children?: HtmlNode[]
}

/** Inherited appearance of text. */
export interface Look {
  /** In pixels. */
  size: number
  invisible: boolean
  /** Background colour; null if unknown because of an image. */
  behind: Colour | null
  colour: Colour | null
}

/** The default appearance of a page. */
export const PAGE: Look = { size: 16, invisible: false, behind: WHITE, colour: BLACK }

const NEVER_SHOWN = new Set([
  ...['script', 'style', 'template', 'head', 'title', 'noframes', 'datalist', 'iframe'],
  ...['desc', 'defs', 'metadata', 'progress', 'meter', 'annotation', 'annotation-xml'],
])
const MAX_SHEET = 200_000
// Largest font size in pixels that is illegible.
const TINY = 2
// Offset in pixels that is outside any screen.
const OFF_SCREEN = -500

/**
 * Removes from the tree what a person reading the mail would not see: `display:none`, `hidden`, zero size,
 * zero opacity, off the page, clipped, or in the colour of the background, by style attribute, style sheet or
 * legacy attributes. Otherwise a stranger could pass text to the agent that its owners do not see. Returns
 * the nesting depth of the remaining tree.
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
      // An invisible link cannot be clicked, and its URL would be shown instead of its text.
      if (child.name === 'a' && !showsText(own)) delete child.attribs.href
      stack.push([child, own, depth + 1])
      return true
    })
  }
  return deepest
}

export const showsText = ({ size, invisible, colour, behind }: Look): boolean =>
  size > TINY && !invisible && isLegible(colour, behind)

/** Computes the appearance of the element's text; null if the element is not displayed at all. */
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

/** Whether no part of the element's box is painted. */
function isHiddenBox(name: string, style: Style): boolean {
  if (style.size === 0) return false
  const hasStyle = (property: string, pattern: RegExp) => pattern.test(style.get(property) ?? '')
  const opacity = style.get('opacity')
  if (opacity !== undefined && Number.parseFloat(opacity) / (opacity.endsWith('%') ? 100 : 1) <= 0.05)
    return true
  if (
    hasStyle('content-visibility', /^hidden/) ||
    hasStyle('filter', /opacity\(\s{0,9}0?(?:\.0\d{0,9})?%?\s{0,9}\)/)
  )
    return true
  if (['zoom', 'scale'].some((property) => hasStyle(property, NEAR_ZERO))) return true
  if (
    hasStyle('transform', /scale[xy3d]{0,2}\(\s*(?:0|0?\.0\d*)\s*[,)]|rotate[xy]\(\s*-?90deg/) ||
    hasStyle('clip-path', /^polygon\([^1-9]*\)/)
  )
    return true
  if (
    hasStyle('clip', /^rect\(\s*(?:0|(\d+px)[\s,]+\d+px[\s,]+\1[\s,])/) ||
    hasStyle('clip-path', /^(?:inset\((?:50|100)%|circle\(0)/) ||
    hasStyle('transform', /scale\(\s*0(?:\s*,\s*0)?\s*\)/)
  )
    return true
  return isClipped(name, style) || isOffPage(style)
}

/** Scale factors below 0.1. */
const NEAR_ZERO = /^(?:0|0?\.0\d*)%?$/

/**
 * Whether the element has no size and its overflow is cut off. A table cell without width still grows to fit
 * its text.
 */
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
  const isOffScreen = (length: string | undefined) =>
    length !== undefined && (toPixels(length.split(' ', 1)[0]!, 16) ?? 0) <= OFF_SCREEN
  if (
    ['text-indent', 'margin', 'margin-left', 'margin-top', 'translate'].some((property) =>
      isOffScreen(style.get(property)),
    )
  )
    return true
  if (
    /translate[xy3d]{0,2}\([^)]{0,100}-(?:\d{4,}px|\d{3,}(?:%|v[wh]|em))/.test(style.get('transform') ?? '')
  )
    return true
  return (
    style.has('position') &&
    ['left', 'top', 'right', 'bottom', 'inset'].some((side) => isOffScreen(style.get(side)))
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

/** Converts a length to pixels; null if it is invalid. `em` is the parent's font size. */
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
