import { toColour } from './colour.ts'
import { names, toNumber, toPixels, words } from './values.ts'

/** Other names of properties, for text that runs from left to right and from top to bottom. */
const ALIASES: Record<string, string> = {
  'inline-size': 'width',
  'block-size': 'height',
  'overflow-inline': 'overflow-x',
  'overflow-block': 'overflow-y',
  'word-wrap': 'overflow-wrap',
  '-webkit-mask': 'mask',
  '-webkit-line-clamp': 'line-clamp',
}
const AXES: Record<string, readonly [string, string]> = {
  inline: ['left', 'right'],
  block: ['top', 'bottom'],
}

const LOGICAL = /^-webkit-|-(?:size|start|end|inline|block)|^word-wrap$/
const canonical = (property: string): string => {
  if (!LOGICAL.test(property)) return property
  if (ALIASES[property]) return ALIASES[property]
  const logical = /^(inset|margin|padding)-(inline|block)-(start|end)$/.exec(property)
  if (logical) {
    const side = AXES[logical[2]!]![logical[3] === 'start' ? 0 : 1]
    return logical[1] === 'inset' ? side : `${logical[1]}-${side}`
  }
  return property
    .replace(
      /^(min|max)-(inline|block)-size$/,
      (_, bound, axis) => `${bound}-${axis === 'inline' ? 'width' : 'height'}`,
    )
    .replace(/^-webkit-(?=transform|filter|clip-path|opacity|mask|background-clip|animation|backface)/, '')
}

const LENGTH = /^(?:auto|none|normal|(?:min|max|fit)-content|[a-z-]+\(.*)$/
const isColour = (value: string): boolean =>
  value === 'currentcolor' ||
  toColour(value) !== null ||
  (value.includes('(') && !/^(?:rgba?|hsla?|hwb|(?:ok)?(?:lab|lch)|color|color-mix)\(/.test(value))
const isSize = (value: string): boolean => (toPixels(value, 16) ?? (LENGTH.test(value) ? 0 : -1)) >= 0

const COLOURS = names('color background-color -webkit-text-fill-color')
const SIZES = names('width height min-width min-height max-width max-height')
const OFFSETS = names(`
  left right top bottom margin-left margin-right margin-top margin-bottom padding-left padding-right padding-top
  padding-bottom text-indent letter-spacing word-spacing`)
const OVERFLOW = /^(?:visible|hidden|clip|scroll|auto|overlay)$/
const FUNCTIONS = /^none$|\(/
const TRANSFORMED = /^none$|\(|\d/
const VALUES: Record<string, RegExp> = {
  display:
    /^(?:none|contents|flow-root|list-item|math|(?:inline|block|inline-block|run-in|ruby)(?:[- ][a-z- ]+)?|(?:inline-)?(?:flex|grid|table)|table-[a-z-]+|-[a-z-]+)$/,
  visibility: /^(?:visible|hidden|collapse)$/,
  position: /^(?:static|relative|absolute|fixed|(?:-webkit-)?sticky)$/,
  float: /^(?:none|left|right|inline-(?:start|end))$/,
  'content-visibility': /^(?:visible|auto|hidden)$/,
  clip: /^auto$|^rect\(/,
  'clip-path': /^none$|\(|-box$/,
  'mask-image': FUNCTIONS,
  transform: FUNCTIONS,
  filter: FUNCTIONS,
  scale: TRANSFORMED,
  rotate: TRANSFORMED,
  translate: TRANSFORMED,
  'overflow-x': OVERFLOW,
  'overflow-y': OVERFLOW,
}

/**
 * Whether browsers take a value. They ignore a declaration with an invalid one, so that an earlier one
 * applies: `display:none; display:x` hides the element.
 */
function isValid(property: string, value: string): boolean {
  const pattern = Object.hasOwn(VALUES, property) ? VALUES[property] : undefined
  if (pattern) return pattern.test(value)
  if (COLOURS.has(property)) return isColour(value)
  if (SIZES.has(property)) return isSize(value) || /^[\d.]+%$/.test(value)
  if (OFFSETS.has(property)) return toPixels(value, 16) !== null || LENGTH.test(value) || value.endsWith('%')
  if (property === 'opacity') return toNumber(value) !== null || /^(?!calc)[a-z-]+\(/.test(value)
  if (property === 'zoom') return value === 'normal' || (toNumber(value) ?? -1) >= 0
  if (property !== 'font-size') return true
  if (/^(?:(?:x{1,3}-)?(?:small|large)|medium|smaller|larger|math|[a-z-]+\(.*)$/.test(value)) return true
  return /\d/.test(value) && isSize(value.replace(/%$/, 'px'))
}

export const GLOBAL = /^(?:inherit|initial|unset|revert(?:-layer)?)$/

/** Properties that text inherits, besides its colour, size and visibility. */
export const INHERITED = [
  ...names(`
    text-indent letter-spacing word-spacing line-height white-space text-shadow font-size-adjust
    -webkit-text-security -webkit-text-stroke -webkit-text-fill-color`),
]

/** Adds a declaration to a style: replaces what it overrides, and writes out shorthands. */
export function declare(style: Map<string, string>, given: string, value: string): void {
  const property = canonical(given)
  if (property === 'all' && GLOBAL.test(value)) {
    resetAll(style, value)
    return
  }
  const isGlobal = GLOBAL.test(value)
  const longhands = Object.entries(longhandsOf(property, isGlobal ? '0' : value)).map(
    ([name, one]) => [name, isGlobal ? value : one] as const,
  )
  if (longhands.every(([name, one]) => GLOBAL.test(one) || isValid(name, one)))
    for (const [name, one] of longhands) style.set(name, one)
}

function resetAll(style: Map<string, string>, value: string): void {
  style.clear()
  if (!value.startsWith('revert')) style.set('display', 'inline')
  for (const name of [...INHERITED, 'color', 'font-size', 'visibility']) style.set(name, value)
}

const SIDES = ['top', 'right', 'bottom', 'left']

/** The longhands of a shorthand; other properties as they are. */
function longhandsOf(property: string, value: string): Record<string, string> {
  const [first = '', second = first, third = first, fourth = second] = words(value)
  const pair = /^(inset|margin|padding)-(inline|block)$/.exec(property)
  const sided = (box: string, side: string) => (box === 'inset' ? side : `${box}-${side}`)
  if (pair) {
    const [start, end] = AXES[pair[2]!]!
    return { [sided(pair[1]!, start)]: first, [sided(pair[1]!, end)]: second }
  }
  if (property === 'margin' || property === 'padding' || property === 'inset')
    return Object.fromEntries(
      SIDES.map((side, i) => [sided(property, side), [first, second, third, fourth][i]!]),
    )
  if (property === 'overflow') return { 'overflow-x': first, 'overflow-y': second }
  if (property === 'font') return fontLonghands(value)
  if (property === 'mask') return { 'mask-image': words(value).find((word) => word.includes('(')) ?? 'none' }
  if (property === 'background') return backgroundLonghands(value)
  return { [property]: value }
}

function fontLonghands(value: string): Record<string, string> {
  const [, size = 'medium', height = 'normal'] =
    /(?:^|\s)((?:xx?-)?(?:small|large)er?|medium|[-+.\d][\w.%+-]*|[a-z]+\([^/]*\))(?: ?\/ ?(\S+))? \S/.exec(
      value,
    ) ?? []
  return { 'font-size': size, 'line-height': height }
}

function backgroundLonghands(value: string): Record<string, string> {
  const parts = words(value)
  const isPicture = (word: string) =>
    /^(?:-webkit-)?(?:url|image|image-set|cross-fade|element|paint|(?:[a-z-]+-)?gradient)\(/.test(word)
  return {
    'background-color': parts.findLast((word) => !isPicture(word) && isColour(word)) ?? 'transparent',
    'background-image': parts.filter(isPicture).join(' ') || 'none',
    'background-clip': parts.includes('text') ? 'text' : 'border-box',
  }
}
