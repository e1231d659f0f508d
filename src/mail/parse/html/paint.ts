import type { Style } from './cascade.ts'
import {
  BLACK,
  blend,
  type Colour,
  coloursIn,
  DARK,
  isLegible,
  toColour,
  toLegacyColour,
  WHITE,
} from './colour.ts'
import type { Look } from './look.ts'
import { GLOBAL } from './properties.ts'

export const isUnknownColour = (value = 'inherit'): boolean => value.includes('(') && toColour(value) === null

/** The background as it is without its image. */
export const plainBehind = (style: Style, parent: Look): Colour =>
  toColour(style.get('background-color') ?? '') ?? parent.behind ?? WHITE

interface Painted {
  name: string
  attribs: Record<string, string>
  style: Style
}

const PAINTABLE = /^(?:body|table|thead|tbody|tfoot|tr|td|th)$/

/** Returns the colour behind the text of an element; null if unknown because of an image. */
export function paintedBehind(
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

/** Returns the colour of an element's text; null if it is unknown. */
export function colourOf(
  name: string,
  attribs: Record<string, string>,
  style: Style,
  parent: Look,
): Colour | null {
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
