import type { Element } from 'domhandler'
import type { Style } from './cascade.ts'
import { coloursIn, toColour } from './colour.ts'
import type { Doubt, Look } from './look.ts'
import { names, toAngle, toNumber, toPixels, words } from './values.ts'

interface Box {
  style: Style
  inherited: Style
  size: number
  parent: Look
}

/** Elements that are blocks unless a style says otherwise. Names that HTML does not know are inline. */
const BLOCKS = names(`
  html body address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer
  form h1 h2 h3 h4 h5 h6 header hgroup hr legend li listing main marquee menu nav ol optgroup option p plaintext pre
  search section summary ul xmp table caption td th tr button select input textarea img object svg`)
/** Boxes that grow to fit their text. */
const GROWING = /^(?:td|th|tr|tbody|thead|tfoot|table)$/
// Sizes in pixels: of a box that shows nothing, of an offset that is outside any screen, and of one that is
// outside the page as well.
const TINY = 3
const OFF_SCREEN = 500
const FAR = 3_000

/** Whether no part of an element's box is painted. */
export function isHiddenBox(element: Element, box: Box, doubt: Doubt): boolean {
  const { style, inherited, parent } = box
  const display = style.get('display') ?? ''
  if (display === 'contents' || (style.size === 0 && inherited === parent.inherited)) return false
  const isMoved = /^(?:absolute|fixed)$/.test(style.get('position') ?? '')
  const floats = /^(?!none)/.test(style.get('float') ?? 'none')
  const isBlock = display === '' ? BLOCKS.has(element.name) : !/^(?:inline|ruby)$/.test(display)
  const isInline = !isBlock && !isMoved && !floats && !parent.blockifies
  if (isFadedOut(style, doubt) || isOffPage(box, isInline, doubt)) return true
  if (mayCover(element.name, style)) doubt('elements on top of each other', true)
  if (isInline) return false
  return isTransformedAway(box, doubt) || (!GROWING.test(element.name) && isClipped(box, doubt))
}

/** Effects that are applied to the whole element. */
function isFadedOut(style: Style, doubt: Doubt): boolean {
  if (style.get('content-visibility') === 'hidden') return true
  const filter = style.get('filter') ?? 'none'
  const amounts = [...filter.matchAll(/(?:opacity|contrast)\(([^()]{0,100})\)/g)].map(([, amount]) =>
    toNumber(amount?.trim()),
  )
  if (amounts.some((amount) => amount !== null && amount <= 0.05)) return true
  if (/(?:opacity|contrast|brightness|blur|invert|url)\(/.test(filter)) doubt('filter')
  const mask = style.get('mask-image') ?? 'none'
  if (/gradient\(/.test(mask) && coloursIn(mask).length > 0 && coloursIn(mask).every(({ a }) => a <= 0.05))
    return true
  if (mask.includes('(')) doubt('mask')
  for (const [property, harmless] of DOUBTFUL)
    if (!harmless.test(style.get(property) ?? 'none')) doubt(property)
  return isClippedAway(style, doubt)
}

/** Properties that may hide text, with the values that do not. */
const DOUBTFUL: readonly (readonly [string, RegExp])[] = [
  ['mix-blend-mode', /^(?:none|normal|multiply|darken)$/],
  ['offset-path', /^none$/],
  // Outlook for Windows hides it, others do not.
  ['mso-hide', /^(?!all|screen)/],
  ['animation', /^none|^0s$/],
  ['animation-name', /^none$/],
  ['z-index', /^(?!-)/],
  ['flex', /^(?!0 \d+ 0(?:px|%)?$)/],
  ['content', /^(?:none|normal|["'])/],
  ['grid-template-rows', /^(?!.*(?<![\d.])0(?:fr|px)?(?![\d.]))/],
  ['grid-template-columns', /^(?!.*(?<![\d.])0(?:fr|px)?(?![\d.]))/],
]

function isClippedAway(style: Style, doubt: Doubt): boolean {
  const isMoved = /^(?:absolute|fixed)$/.test(style.get('position') ?? '')
  const rectangle = /^rect\((.*)\)$/.exec(style.get('clip') ?? '')?.[1]
  if (rectangle !== undefined && isMoved) {
    const [top, right, bottom, left] = words(rectangle).map((side) => toPixels(side, 16))
    if (bottom !== null && (bottom ?? 0) - (top ?? 0) <= TINY) return true
    if (right !== null && (right ?? 0) - (left ?? 0) <= TINY) return true
    doubt('clip')
  }
  const path = style.get('clip-path') ?? 'none'
  const [, shape = '', inside = ''] = /^([a-z]+)\((.*)\)/.exec(path) ?? []
  if (shape === '') return false
  const [first = 0, second = first, third = first, fourth = second] = words(
    inside.split(/ (?:round|at) /)[0]!,
  ).map((length) => toPixels(length, 16, 100) ?? 0)
  const isEmpty =
    (shape === 'inset' && (first + third >= 100 || second + fourth >= 100)) ||
    (shape === 'circle' && first <= TINY && /\d/.test(inside)) ||
    (shape === 'ellipse' && (first <= TINY || second <= TINY)) ||
    (shape === 'xywh' && (third <= TINY || fourth <= TINY)) ||
    (shape === 'rect' && (third - first <= TINY || second - fourth <= TINY)) ||
    (shape === 'polygon' && isFlat(inside)) ||
    (shape === 'path' && !/[hlvcsqta]/i.test(inside.slice(2)))
  if (!isEmpty && !(shape === 'inset' && [first, second, third, fourth].every((side) => side <= 0)))
    doubt('clip-path')
  return isEmpty
}

/** Whether all corners of a polygon are on one horizontal or vertical line. */
function isFlat(polygon: string): boolean {
  const corners = polygon
    .replace(/^(?:evenodd|nonzero),/, '')
    .split(',')
    .map((corner) => words(corner))
  return [0, 1].some((axis) => new Set(corners.map((corner) => toPixels(corner[axis], 16, 100))).size === 1)
}

/** Whether the element has no size and its overflow is cut off. */
function isClipped({ style, inherited, size }: Box, doubt: Doubt): boolean {
  const contain = style.get('contain') ?? ''
  const cuts = ['overflow-x', 'overflow-y'].some((axis) =>
    /^(?:hidden|clip|auto|scroll|overlay)$/.test(style.get(axis) ?? ''),
  )
  if (!cuts && !/strict|paint|content/.test(contain)) return false
  const length = (property: string) => toPixels(style.get(property), size)
  // Content begins after the padding at the start, and is cut off after the one at the end.
  const extent = (side: string, end: string, natural: number) =>
    Math.max(
      length(`min-${side}`) ?? 0,
      Math.min(length(side) ?? natural, length(`max-${side}`) ?? Number.POSITIVE_INFINITY),
    ) + (length(`padding-${end}`) ?? 0)
  const lineHeight = inherited.get('line-height')
  const ratio = toNumber(lineHeight)
  const line = ratio === null ? toPixels(lineHeight, size, size) : ratio * size
  const natural = /strict|size/.test(contain) || (line !== null && line <= 2) ? 0 : Number.POSITIVE_INFINITY
  const height = extent('height', 'bottom', natural)
  const width = extent('width', 'right', Number.POSITIVE_INFINITY)
  if (height <= TINY || width <= TINY) return true
  if (
    /^nowrap|^pre$/.test(inherited.get('white-space') ?? '') &&
    /^100%/.test(inherited.get('text-indent') ?? '')
  )
    return true
  const isOneLine = /^(?:nowrap|pre)$/.test(inherited.get('white-space') ?? '')
  if (height < Number.POSITIVE_INFINITY || (isOneLine && width < Number.POSITIVE_INFINITY)) doubt('overflow')
  if (/^0/.test(style.get('height') ?? '') || /^0/.test(style.get('max-height') ?? '')) doubt('height')
  if (style.has('line-clamp')) doubt('line-clamp')
  return false
}

/** Whether an offset moves the text to where nobody looks. */
function isOffPage({ style, inherited, size }: Box, isInline: boolean, doubt: Doubt): boolean {
  const offset = (property: string) => {
    const whole = VERTICAL.test(property) ? 800 : 1_200
    return toPixels(style.get(property) ?? inherited.get(property), size, whole) ?? 0
  }
  const isPlaced = /^(?!static)/.test(style.get('position') ?? 'static')
  const moves = ['margin-left']
  if (isPlaced) moves.push('left', 'right', 'top', 'bottom')
  if (!isInline) moves.push('margin-top', 'text-indent')
  for (const property of moves) {
    const by = offset(property)
    if (by < -20 || by > 1_000) doubt(property)
    if (by <= -OFF_SCREEN || by >= FAR) return true
  }
  const spacing = toPixels(style.get('letter-spacing') ?? inherited.get('letter-spacing'), size, size) ?? 0
  if (spacing < -size / 2 || spacing >= OFF_SCREEN || offset('word-spacing') <= -FAR) return true
  if (!isInline && offset('margin-bottom') < -OFF_SCREEN) doubt('margin-bottom', true)
  return ['padding-left', 'margin-right', 'word-spacing', ...(isInline ? [] : ['padding-top'])].some(
    (property) => offset(property) >= FAR,
  )
}

const VERTICAL = /^(?:top|bottom|padding-top)$/

/** Whether a transform leaves nothing to see. */
function isTransformedAway({ style, size }: Box, doubt: Doubt): boolean {
  const [, axis = 'z', angle = 'none'] = /^(?:([xyz]) )?(.*)$/.exec(style.get('rotate') ?? '') ?? []
  if (words(angle).length > 1) doubt('rotate')
  const functions = [
    ...(style.get('transform') ?? '').matchAll(
      /(?<![a-z0-9])([a-z0-9]{1,20})\(((?:[^()]|\([^()]{0,100}\)){0,100})\)/g,
    ),
    ['', 'scale', style.get('scale') ?? 'none'],
    ['', 'translate', style.get('translate') ?? 'none'],
    ['', `rotate${axis}`, angle],
  ]
  return functions.some(([, name = '', inside = '']) => {
    const parts = words(inside)
    const numbers = parts.map((part) => toNumber(part) ?? 1)
    const [first = 1, second = first] = numbers
    const cosine = Math.cos(toAngle(parts[0]) ?? 0)
    if (/^scale(?:3d)?$/.test(name)) return Math.min(Math.abs(first), Math.abs(second)) < 0.1
    if (/^scale[xy]$/.test(name)) return Math.abs(first) < 0.1
    if (/^rotate[xy]$/.test(name))
      return Math.abs(cosine) < 0.1 || (cosine < 0 && style.get('backface-visibility') === 'hidden')
    if (name === 'matrix') {
      const isFlat = Math.abs(first * numbers[3]! - second * numbers[2]!) < 0.01
      return isFlat || isMoved(parts[4], size) || isMoved(parts[5], size)
    }
    if (/^translate/.test(name)) {
      if (parts.some((part) => (toPixels(part, size, 300) ?? 0) < -20)) doubt('translate')
      return parts.some((part) => isMoved(part, size))
    }
    if (/^(?:matrix3d|rotate3d|skew|perspective)/.test(name)) doubt('transform')
    return /^skew/.test(name) && parts.some((part) => Math.abs(Math.cos(toAngle(part) ?? 0)) < 0.1)
  })
}

const isMoved = (length: string | undefined, size: number): boolean => {
  const by = toPixels(length, size, 300) ?? 0
  return by <= -OFF_SCREEN || by >= FAR
}

/** Whether the element may be painted over others. */
function mayCover(name: string, style: Style): boolean {
  const isPainted =
    name === 'img' ||
    (style.get('background-image') ?? 'none') !== 'none' ||
    (toColour(style.get('background-color') ?? '')?.a ?? 0) > 0.05
  const isPlaced = /^(?:absolute|fixed)$/.test(style.get('position') ?? '')
  const isPulled = ['margin-top', 'margin-left', 'top', 'left'].some(
    (side) => (toPixels(style.get(side), 16, 100) ?? 0) < -5,
  )
  return (
    (isPainted && (isPlaced || isPulled || /translate/.test(style.get('transform') ?? ''))) ||
    style.has('backdrop-filter')
  )
}
