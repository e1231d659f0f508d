import { calc } from '@csstools/css-calc'

/** Longest value that is evaluated: variables in variables multiply it. */
const MAX_VALUE = 4_000
const MAX_VARIABLES = 50

/** The names in a list that is written on several lines. */
export const names = (list: string): Set<string> => new Set(list.trim().split(/\s+/))

/** Splits a value at spaces, commas and slashes outside of brackets. */
export function words(value: string): string[] {
  const found: string[] = []
  let word = ''
  let depth = 0
  for (const character of value) {
    if (character === '(') depth++
    if (character === ')') depth--
    if (depth > 0 || !/[\s,/]/.test(character)) word += character
    else if (word !== '') {
      found.push(word)
      word = ''
    }
  }
  return word === '' ? found : [...found, word]
}

/**
 * Replaces `var()` and `env()`; null if a variable has no value, which makes the declaration invalid (CSS
 * Variables 3.1).
 */
export function substituted(value: string, variables: ReadonlyMap<string, string>): string | null {
  if (!value.includes('var(') && !value.includes('env(')) return value
  let text = value
  for (let i = 0; i < MAX_VARIABLES; i++) {
    const start = text.search(/\b(?:var|env)\(/)
    if (start < 0) return text
    let depth = 0
    let end = text.indexOf('(', start)
    for (; end < text.length; end++) {
      if (text[end] === '(') depth++
      if (text[end] === ')' && --depth === 0) break
    }
    const [, name = '', fallback] = /^\s*([^,\s]+)\s*(?:,(.*))?$/s.exec(
      text.slice(text.indexOf('(', start) + 1, end),
    ) ?? ['']
    const found = variables.get(name) ?? fallback
    if (found === undefined || text.length + found.length > MAX_VALUE) return null
    text = `${text.slice(0, start)}${found}${text.slice(end + 1)}`.trim()
  }
  return null
}

/** Pixels of a unit; viewport units are those of a screen of 1200 by 800 pixels. */
const UNITS: Record<string, number> = {
  px: 1,
  pt: 4 / 3,
  pc: 16,
  in: 96,
  cm: 96 / 2.54,
  mm: 96 / 25.4,
  q: 96 / 101.6,
  rem: 16,
  rlh: 19,
}
/** Units of the viewport, or of a container that is assumed to be as large. */
const VIEWPORT = /^(?:[dsl]?v|cq)(?:(w|i|max)|h|b|min)$/
const EM_UNITS: Record<string, number> = { em: 1, ex: 0.5, ch: 0.5, lh: 1.2, cap: 0.7, ic: 1 }

const pixelsOf = (unit: string, em: number): number => {
  const viewport = VIEWPORT.exec(unit)
  if (viewport) return viewport[1] === undefined ? 8 : 12
  return UNITS[unit] ?? (EM_UNITS[unit] ?? Number.NaN) * em
}

export const NUMBER = String.raw`[-+]?(?:(?<!\d)\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:e[-+]?\d{1,5})?`
const PIXELS = new RegExp(`^${NUMBER}(?:px)?$`)
const LENGTHS = new RegExp(`(${NUMBER})([a-z]+|%)(?![\\w(])`, 'g')
const RATIO = new RegExp(`^${NUMBER}%?$`)
const ANGLE = new RegExp(`^(${NUMBER})(deg|rad|grad|turn)?$`)

/**
 * Converts a length to pixels; null for anything else. `em` is the font size and `whole` what 100% is, if that is
 * known.
 */
export function toPixels(value: string | undefined, em: number, whole: number | null = null): number | null {
  if (value === undefined || !/\d/.test(value)) return null
  if (PIXELS.test(value)) return Number.parseFloat(value)
  const text = value.replace(LENGTHS, (written, number: string, unit: string) => {
    const factor = unit === '%' ? whole && whole / 100 : pixelsOf(unit, em)
    return factor === null || Number.isNaN(factor) ? written : `${Number(number) * factor}px`
  })
  const computed = text.includes('(') ? calc(text, { toCanonicalUnits: true }) : text
  return PIXELS.test(computed) ? Number.parseFloat(computed) : null
}

/** Converts a number or percentage, such as an opacity; null for anything else. */
export function toNumber(value: string | undefined): number | null {
  const computed = value?.includes('(') ? calc(value) : value
  if (computed === undefined || !RATIO.test(computed)) return null
  return Number.parseFloat(computed) / (computed.endsWith('%') ? 100 : 1)
}

/** Converts an angle to radians; null for anything else. */
export function toAngle(value: string | undefined): number | null {
  const [, number, unit = 'rad'] = ANGLE.exec(value ?? '') ?? []
  const circle: Record<string, number> = { deg: 360, grad: 400, turn: 1, rad: 2 * Math.PI }
  return number === undefined ? null : (Number(number) / circle[unit]!) * 2 * Math.PI
}
