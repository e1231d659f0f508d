import { colord, extend, type RgbaColor } from 'colord'
import a11y from 'colord/plugins/a11y'
import names from 'colord/plugins/names'

extend([names, a11y])

/** Red, green and blue from 0 to 255, alpha from 0 to 1. */
export type Colour = RgbaColor

export const WHITE: Colour = { r: 255, g: 255, b: 255, a: 1 }
export const BLACK: Colour = { r: 0, g: 0, b: 0, a: 1 }
/** Default link colour of browsers. */
export const LINK: Colour = { r: 0, g: 0, b: 238, a: 1 }

// Text below this contrast is illegible. Pale grey preheaders (#f0f0f0 on white, 1.14) are above it: a person
// who looks for them can see them.
const MIN_CONTRAST = 1.1

/** Parses a colour in CSS or old `bgcolor` syntax; null if it is invalid or unknown. */
export function toColour(text: string): Colour | null {
  const value = text.trim().toLowerCase()
  const parsed = colord(/^[0-9a-f]{6}$/.test(value) ? `#${value}` : value)
  return parsed.isValid() ? parsed.toRgb() : null
}

/** Finds the first colour in a shorthand such as `no-repeat #003366 center`. */
export const firstColour = (text: string): Colour | null =>
  [...text.toLowerCase().matchAll(/[a-z]+\([^()]*\)|#[0-9a-f]+|[a-z0-9]+/g)]
    .map(([word]) => toColour(word))
    .find((found) => found !== null) ?? null

/** Blends `top` with an opaque `under`. */
export function blend(top: Colour, under: Colour): Colour {
  const mix = (one: number, other: number) => Math.round(one * top.a + other * (1 - top.a))
  return { r: mix(top.r, under.r), g: mix(top.g, under.g), b: mix(top.b, under.b), a: 1 }
}

/** Whether text of this colour is legible on this background. Null stands for an unknown colour. */
export function isLegible(text: Colour | null, behind: Colour | null): boolean {
  if (text === null) return true
  if (behind === null) return text.a > 0.05
  return colord(blend(text, behind)).contrast(behind) >= MIN_CONTRAST
}
