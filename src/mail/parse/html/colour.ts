import { color as parseColour, serializeRGB } from '@csstools/css-color-parser'
import { parseComponentValue } from '@csstools/css-parser-algorithms'
import { tokenize } from '@csstools/css-tokenizer'
import { words } from './values.ts'

/** Red, green and blue from 0 to 255, alpha from 0 to 1. */
export interface Colour {
  r: number
  g: number
  b: number
  a: number
}

export const WHITE: Colour = { r: 255, g: 255, b: 255, a: 1 }
export const BLACK: Colour = { r: 0, g: 0, b: 0, a: 1 }
/** Default link colour of browsers. */
export const LINK: Colour = { r: 0, g: 0, b: 238, a: 1 }
/** Default background of a dark page. */
export const DARK: Colour = { r: 18, g: 18, b: 18, a: 1 }

// Text below this contrast is illegible. Pale grey preheaders (#f0f0f0 on white, 1.14) are above it: a person
// who looks for them can see them.
const MIN_CONTRAST = 1.1
// Colours of the same lightness are told apart by their hue.
const MIN_DIFFERENCE = 40
const MAX_COLOUR = 200
const MAX_CACHED = 2_000
const cache = new Map<string, Colour | null>()

/** System colours of a light page (CSS Color 4, 6.2). */
const SYSTEM: Record<string, Colour> = {
  canvas: WHITE,
  window: WHITE,
  field: WHITE,
  canvastext: BLACK,
  windowtext: BLACK,
  fieldtext: BLACK,
  buttontext: BLACK,
  linktext: LINK,
  '-webkit-text': BLACK,
  '-webkit-link': LINK,
}

/** Parses a colour in CSS syntax, in lower case; null if it is invalid or unknown. */
export function toColour(value: string): Colour | null {
  const text = /^light-dark\(([^,]*),/.exec(value)?.[1]?.trim() ?? value
  const known = Object.hasOwn(SYSTEM, text) ? SYSTEM[text]! : cache.get(text)
  if (known !== undefined || text.length > MAX_COLOUR) return known ?? null
  if (cache.size >= MAX_CACHED) cache.clear()
  const parsed = computed(text)
  cache.set(text, parsed)
  return parsed
}

function computed(text: string): Colour | null {
  const component = parseComponentValue(tokenize({ css: text }))
  const data = component && parseColour(component)
  if (!data) return null
  const [r = 0, g = 0, b = 0, a = 1] = [
    ...serializeRGB(data)
      .toString()
      .matchAll(/[\d.]+/g),
  ].map(Number)
  return { r, g, b, a }
}

/** Parses a colour in the syntax of old attributes such as `bgcolor` (HTML 2.3.6). */
export function toLegacyColour(attribute: string): Colour | null {
  const value = attribute.trim().toLowerCase()
  if (value === '' || value === 'transparent') return null
  const named = /^(?:[a-z]+|#[0-9a-f]{3})$/.test(value) ? toColour(value) : null
  if (named !== null) return named
  const digits = value
    .slice(0, 128)
    .replace(/^#/, '')
    .replace(/[^0-9a-f]/g, '0')
  const third = Math.max(1, Math.ceil(digits.length / 3))
  const parts = [0, 1, 2].map((i) =>
    digits
      .padEnd(third * 3, '0')
      .slice(i * third, (i + 1) * third)
      .slice(-8),
  )
  const zeros = Math.min(third - 2, ...parts.map((part) => /^0*/.exec(part)![0].length))
  const [r = 0, g = 0, b = 0] = parts.map((part) =>
    Number.parseInt(part.slice(Math.max(0, zeros)).slice(0, 2), 16),
  )
  return { r, g, b, a: 1 }
}

/** The colours in a value, such as those of a gradient. */
export const coloursIn = (value: string): Colour[] =>
  words(value.replace(/^[a-z-]+\((.*)\)$/, '$1')).flatMap((word) => toColour(word) ?? [])

/** Blends `top` with an opaque `under`. */
export function blend(top: Colour, under: Colour): Colour {
  const mix = (one: number, other: number) => Math.round(one * top.a + other * (1 - top.a))
  return { r: mix(top.r, under.r), g: mix(top.g, under.g), b: mix(top.b, under.b), a: 1 }
}

/** Relative luminance (WCAG 2.2). */
function luminance({ r, g, b }: Colour): number {
  const [red = 0, green = 0, blue = 0] = [r, g, b].map((value) =>
    value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Whether text of this colour is legible on this background. Null stands for an unknown colour. */
export function isLegible(text: Colour | null, behind: Colour | null): boolean {
  if (text === null) return true
  if (behind === null) return text.a > 0.05
  const shown = blend(text, behind)
  const [one, other] = [luminance(shown) + 0.05, luminance(behind) + 0.05]
  const differs = (['r', 'g', 'b'] as const).some(
    (part) => Math.abs(shown[part] - behind[part]) >= MIN_DIFFERENCE,
  )
  return differs || Math.max(one, other) / Math.min(one, other) >= MIN_CONTRAST
}
