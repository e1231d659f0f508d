import { toNumber, toPixels } from './values.ts'

/** How far a condition holds for readers at a computer: 1 always, 0.5 for some, 0 never; NaN: invalid. */
type Truth = number

/** Evaluates a list of media queries for people who read mail on a light screen of common size. */
export const mediaTruth = (list: string): Truth => {
  const queries = topLevel(list.toLowerCase(), ',').map((query) => {
    const [, modifier, type, , rest] = /^(?:(not|only) )?([a-z][a-z-]*)( and (.+))?$/.exec(query.trim()) ?? []
    if (type === undefined || type === 'not') return truth(query, mediaFeature)
    const named = type === 'screen' || type === 'all' ? 1 : 0
    const whole = rest === undefined ? named : Math.min(named, truth(rest, mediaFeature))
    return modifier === 'not' ? 1 - whole : whole
  })
  return list.trim() === '' ? 1 : anyOf(queries)
}

/** Evaluates `@supports`. What a browser supports is not known here, so that a negation may hold. */
export const supportsTruth = (condition: string): Truth =>
  truth(condition.toLowerCase(), (feature) =>
    /^-(?:ms|moz|o)-|^mso-/.test(feature) ? 0 : /^-webkit-|^--/.test(feature) ? 0.5 : 0.75,
  ) >= 0.75
    ? 1
    : Number(/not|-webkit-|--/.test(condition)) / 2

const anyOf = (all: readonly Truth[]): Truth => Math.max(0, ...all.filter((one) => !Number.isNaN(one)))

function truth(condition: string, feature: (text: string) => Truth): Truth {
  const text = condition.trim()
  if (/^not\b/.test(text)) return 1 - truth(text.slice(3), feature)
  const either = topLevel(text, ' or ')
  if (either.length > 1) return anyOf(either.map((one) => truth(one, feature)))
  const both = topLevel(text, ' and ')
  if (both.length > 1) return Math.min(...both.map((one) => truth(one, feature)))
  const inner = /^\((.*)\)$/s.exec(text)?.[1]?.trim()
  if (inner === undefined) return /^[a-z-]+\(/.test(text) ? 0.75 : Number.NaN
  return /^(?:\(|not\b)/.test(inner) ? truth(inner, feature) : feature(inner)
}

/** Splits text at a separator outside of brackets. */
function topLevel(text: string, separator: string): string[] {
  const parts = ['']
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++
    if (text[i] === ')') depth--
    if (depth === 0 && text.startsWith(separator, i)) {
      parts.push('')
      i += separator.length - 1
    } else parts.push(`${parts.pop() ?? ''}${text[i]}`)
  }
  return parts
}

/** What is common where mail is read at a computer, from and to. */
const RANGES: Record<string, readonly [number, number]> = {
  width: [800, 1920],
  height: [500, 1200],
  'device-width': [1024, 3840],
  'device-height': [600, 2160],
  'aspect-ratio': [0.8, 3],
  resolution: [1, 3],
  '-webkit-device-pixel-ratio': [1, 3],
  color: [8, 10],
}
const VALUES: Record<string, string> = {
  'prefers-color-scheme': 'light',
  'prefers-reduced-motion': 'no-preference',
  orientation: 'landscape',
  hover: 'hover',
  'any-hover': 'hover',
  pointer: 'fine',
  'any-pointer': 'fine',
}

/** Features that are not known here hold for some readers. */
function mediaFeature(feature: string): Truth {
  const [, name = '', value] = /^([a-z0-9-]+) ?(?:: ?(.+))?$/.exec(feature) ?? []
  if (Object.hasOwn(VALUES, name))
    return Number(value === undefined ? VALUES[name] !== 'no-preference' : value === VALUES[name])
  const bounded = /^(-webkit-)?(min|max)-(.+)$/.exec(name)
  if (bounded !== null && value !== undefined)
    return compared(`${bounded[1] ?? ''}${bounded[3]}`, bounded[2] === 'min' ? '>=' : '<=', value)
  if (name !== '')
    return value === undefined ? (Object.hasOwn(RANGES, name) ? 1 : 0.5) : compared(name, '=', value)
  const [left = '', first, middle = '', second, right] = feature
    .split(/ ?([<>]=?|=) ?/)
    .map((part) => part.trim())
  if (first === undefined) return Number.NaN
  if (second !== undefined)
    return Math.min(compared(middle, reversed(first), left), compared(middle, second, right!))
  return Object.hasOwn(RANGES, left) ? compared(left, first, middle) : compared(middle, reversed(first), left)
}

const reversed = (operator: string): string => operator.replace(/[<>]/, (sign) => (sign === '<' ? '>' : '<'))

function compared(name: string, operator: string, value: string): Truth {
  const bound = amount(value)
  if (!Object.hasOwn(RANGES, name)) return 0.5
  if (bound === null) return Number.NaN
  const [low, high] = RANGES[name]!
  const holds = (one: number) =>
    operator === '='
      ? one === bound
      : operator.startsWith('>')
        ? one > bound || (one === bound && operator === '>=')
        : one < bound || (one === bound && operator === '<=')
  if (operator === '=' && bound > low && bound < high) return 0.5
  return (Number(holds(low)) + Number(holds(high))) / 2
}

function amount(value: string): number | null {
  const [, number, unit] = /^([\d.]+) ?(dppx|x|dpi|dpcm)$/.exec(value) ?? []
  if (number !== undefined) return Number(number) / (unit === 'dpi' ? 96 : unit === 'dpcm' ? 96 / 2.54 : 1)
  const [, top, bottom] = /^([\d.]+) ?\/ ?([\d.]+)$/.exec(value) ?? []
  return top === undefined ? (toNumber(value) ?? toPixels(value, 16)) : Number(top) / Number(bottom)
}
