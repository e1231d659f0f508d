import { Element } from 'domhandler'
import { isHiddenBox } from './box.ts'
import type { Computed, Style } from './cascade.ts'
import { type Colour, coloursIn, isLegible, toColour, toLegacyColour } from './colour.ts'
import { type Doubt, type Look, PAGE } from './look.ts'
import { colourOf, isUnknownColour, paintedBehind, plainBehind } from './paint.ts'
import { GLOBAL, INHERITED } from './properties.ts'
import { names, toNumber, toPixels } from './values.ts'

const NEVER_SHOWN = names(`
  script style template head title noframes noembed datalist iframe frameset progress meter rp audio video applet
  area param source desc defs metadata symbol clippath mask pattern marker annotation annotation-xml mphantom`)
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
  { style, variables }: Computed,
  given: Look,
  doubt: Doubt,
): Look | null {
  const { name, attribs } = element
  const parent =
    name === 'table' && given.quirks
      ? { ...given, size: 16, colour: given.base, inherited: PAGE.inherited }
      : given
  // Both decide on text that is not theirs.
  if ('shadowrootmode' in attribs) doubt('shadow root', true)
  if (style.get('visibility') === 'collapse' && isColumn(name, style)) doubt('collapsed columns', true)
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

const isColumn = (name: string, style: Style): boolean =>
  /^col(?:group)?$/.test(name) || /^table-column/.test(style.get('display') ?? '')

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
  'xx-small': 9,
  'x-small': 10,
  small: 13,
  medium: 16,
  large: 18,
  'x-large': 24,
  'xx-large': 32,
  'xxx-large': 48,
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
