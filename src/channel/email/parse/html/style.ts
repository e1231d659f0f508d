import { AttributeAction, parse, type Selector, SelectorType } from 'css-what'

/** The parts of an HTML element that style sheets can match. */
export interface Styled {
  name?: string
  attribs?: Record<string, string>
  parent?: Styled | null
}

/** Properties of an element, in lower case. */
export type Style = ReadonlyMap<string, string>

interface Declared {
  value: string
  important: boolean
}
type Declarations = ReadonlyMap<string, Declared>

/** A compound selector and its combinator with the one on its right. */
interface Step {
  parts: Selector[]
  child: boolean
}

interface Rule {
  /** In order from right to left. */
  steps: Step[]
  specificity: number
  declarations: Declarations
}

const MAX_RULES = 2_000
const MAX_STEPS = 5
const MAX_ANCESTORS = 100
const NO_STYLE: Style = new Map()

/**
 * The rules in a mail's style sheets. Supports selectors of tags, classes, ids and attributes with descendant
 * and child combinators. Rules in an `@media` block that may not apply are ignored. A rule with a
 * pseudo-class may not apply either; its backgrounds count as unknown.
 */
export class StyleSheet {
  readonly #rules = new Map<string, Rule[]>()
  #count = 0

  constructor(css: string) {
    for (const [, selectors = '', body = ''] of ungrouped(css).matchAll(
      /(?<=^|[{}])([^{}]{1,2000})\{([^{}]{0,4000})\}/g,
    )) {
      const declarations = declared(body)
      if (declarations.size > 0) for (const selector of parsed(selectors)) this.#add(selector, declarations)
    }
  }

  /** Returns the style of an element, including its `style` attribute. */
  styleOf(element: Styled): Style {
    const own = declared(element.attribs?.style ?? '')
    const matching =
      this.#count === 0 ? [] : this.#candidates(element).filter(({ steps }) => matches(element, steps, 0))
    if (matching.length === 0 && own.size === 0) return NO_STYLE
    matching.sort((one, other) => one.specificity - other.specificity)
    const all = [...matching.map(({ declarations }) => declarations), own]
    const style = new Map<string, string>()
    for (const important of [false, true])
      for (const declarations of all)
        for (const [property, one] of declarations)
          if (one.important === important) style.set(property, one.value)
    return style
  }

  #add(selector: Selector[], declarations: Declarations): void {
    const steps = stepsOf(selector)
    if (steps === null || this.#count >= MAX_RULES) return
    const alwaysMatches = steps.every(({ parts }) => parts.every(({ type }) => type !== SelectorType.Pseudo))
    const rule = {
      steps,
      specificity: specificityOf(steps),
      declarations: alwaysMatches ? declarations : unknownPaint(declarations),
    }
    if (rule.declarations.size === 0) return
    const key = keyOf(steps[0]!)
    this.#rules.set(key, [...(this.#rules.get(key) ?? []), rule])
    this.#count++
  }

  #candidates({ name = '', attribs = {} }: Styled): Rule[] {
    const classes = (attribs.class ?? '').split(/\s+/, 50).filter(Boolean)
    const keys = ['*', name, ...classes.map((one) => `.${one}`), `#${attribs.id ?? ''}`]
    return keys.flatMap((key) => this.#rules.get(key) ?? [])
  }
}

const parsed = (selectors: string): Selector[][] =>
  selectors.split(',').flatMap((selector) => {
    try {
      return parse(selector.trim())
    } catch {
      return []
    }
  })

/**
 * Splits a selector into compounds from right to left; null if it is not supported (siblings,
 * pseudo-elements).
 */
function stepsOf(selector: Selector[]): Step[] | null {
  const steps: Step[] = [{ parts: [], child: false }]
  for (const part of selector) {
    if (part.type === SelectorType.Descendant || part.type === SelectorType.Child)
      steps.unshift({ parts: [], child: part.type === SelectorType.Child })
    else if (
      [SelectorType.Tag, SelectorType.Universal, SelectorType.Attribute, SelectorType.Pseudo].includes(
        part.type,
      )
    )
      steps[0]!.parts.push(part)
    else return null
  }
  return steps.length > MAX_STEPS ? null : steps
}

const specificityOf = (steps: Step[]) =>
  steps
    .flatMap(({ parts }) => parts)
    .reduce(
      (sum, part) =>
        sum +
        (part.type === SelectorType.Tag
          ? 1
          : part.type !== SelectorType.Attribute
            ? 0
            : part.name === 'id'
              ? 10_000
              : 100),
      0,
    )

/** Returns the key under which rules with this compound are stored: an id, class, tag or `*`. */
function keyOf({ parts }: Step): string {
  let key = '*'
  for (const part of parts) {
    if (part.type === SelectorType.Tag && key === '*') key = part.name.toLowerCase()
    if (part.type !== SelectorType.Attribute || key.startsWith('#')) continue
    if (part.name === 'id' && part.action === AttributeAction.Equals) key = `#${part.value}`
    else if (part.name === 'class' && part.action === AttributeAction.Element) key = `.${part.value}`
  }
  return key
}

function matches(element: Styled, steps: Step[], at: number): boolean {
  const step = steps[at]!
  if (!step.parts.every((part) => matchesPart(element, part))) return false
  if (at === steps.length - 1) return true
  let ancestor = element.parent
  for (let i = 0; ancestor && i < (step.child ? 1 : MAX_ANCESTORS); i++, ancestor = ancestor.parent)
    if (matches(ancestor, steps, at + 1)) return true
  return false
}

function matchesPart({ name, attribs = {} }: Styled, part: Selector): boolean {
  if (part.type === SelectorType.Tag) return name === part.name.toLowerCase()
  if (part.type !== SelectorType.Attribute) return true
  const value = Object.hasOwn(attribs, part.name) ? attribs[part.name] : undefined
  if (value === undefined) return false
  if (part.action === AttributeAction.Exists) return true
  if (part.action === AttributeAction.Element) return value.split(/\s+/).includes(part.value)
  if (part.action === AttributeAction.Start) return value.startsWith(part.value)
  if (part.action === AttributeAction.End) return value.endsWith(part.value)
  if (part.action === AttributeAction.Any) return value.includes(part.value)
  return value === part.value
}

const unknownPaint = (declarations: Declarations): Declarations =>
  new Map(
    [...declarations.keys()]
      .filter((property) => property.startsWith('background'))
      .map(() => ['background-image', { value: 'url()', important: false }]),
  )

/** At-rules that apply on every computer screen, which is at least 800 pixels wide. */
const ALWAYS = [
  /^@(?:supports(?! not)|layer)\b[^;}]*$/,
  /^@media (?:only )?(?:screen|all)(?: and \(min-width ?: ?[1-7]?\d{0,2}(?:px)?\))?$/,
  /^@media ?\(min-width ?: ?[1-7]?\d{0,2}(?:px)?\)$/,
]

/** Returns the length of the at-rule up to and including its brace if it always applies; otherwise 0. */
function alwaysAppliesLength(sheet: string, start: number): number {
  const head = sheet.slice(start, start + 200).split('{', 1)[0]!
  const words = head.replace(/\s+/g, ' ').trim().toLowerCase()
  return sheet[start + head.length] === '{' && ALWAYS.some((one) => one.test(words)) ? head.length + 1 : 0
}

/**
 * Removes comments, and at-rules that do not apply on every screen. A single pass, because a regular
 * expression takes quadratic time here.
 */
function ungrouped(sheet: string): string {
  let kept = ''
  let depth = 0
  let inside = false
  let open = 0
  for (let i = 0; i < sheet.length; i++) {
    const character = sheet[i]!
    if (sheet.startsWith('/*', i)) {
      const end = sheet.indexOf('*/', i + 2)
      i = end < 0 ? sheet.length : end + 1
      continue
    }
    if (!inside && character === '@') {
      const always = alwaysAppliesLength(sheet, i)
      if (always > 0) {
        i += always - 1
        open++
        continue
      }
      inside = true
    }
    if (!inside) {
      if (character === '{') depth++
      if (character === '}' && depth === 0 && open > 0) open--
      else kept += character
      if (character === '}' && depth > 0) depth--
    } else if (character === '{') depth++
    else if (character === '}') inside = --depth > 0
    else if (character === ';' && depth === 0) inside = false
  }
  return kept.replace(/<!--|-->/g, '')
}

function declared(style: string): Declarations {
  const found = new Map<string, Declared>()
  const plain = unescaped(withoutComments(style.slice(0, 4_000))).toLowerCase()
  for (const declaration of plain.split(';')) {
    const colon = declaration.indexOf(':')
    if (colon < 1) continue
    const property = declaration.slice(0, colon).trim()
    const given = declaration.slice(colon + 1)
    const important = /!\s*important\s*$/.test(given)
    const value = plainLength(given.replace(/!\s*important\s*$/, '').trim())
    if (!isKnown(property, value) || (found.get(property)?.important && !important)) continue
    found.set(property, { value, important })
  }
  return found
}

/**
 * Valid values of properties that can hide an element. A browser ignores a declaration with an invalid value,
 * so that an earlier one applies: `display:none; display:x` hides the element.
 */
const KNOWN: Record<string, RegExp> = {
  display:
    /^(?:none|contents|flow-root|list-item|(?:inline|block|inline-block|run-in|ruby)(?:[- ][a-z- ]+)?|(?:inline-)?(?:flex|grid|table)|table-[a-z-]+|-[a-z-]+)$/,
  visibility: /^(?:visible|hidden|collapse)$/,
  opacity: /^(?:[+-]?[\d.]+(?:e[+-]?\d+)?%?|[a-z-]+\(.*)$/,
  'font-size':
    /^(?:[+-]?[\d.]+(?:[a-z]+|%)?|(?:x{1,3}-)?(?:small|large)|medium|smaller|larger|math|[a-z-]+\(.*)$/,
}
const GLOBAL_VALUES = /^(?:inherit|initial|unset|revert(?:-layer)?)$/

const isKnown = (property: string, value: string): boolean =>
  !Object.hasOwn(KNOWN, property) ||
  KNOWN[property]!.test(value) ||
  GLOBAL_VALUES.test(value) ||
  value.includes('var(')

/** Unwraps a constant: `calc(-9999px)` is `-9999px`. */
const plainLength = (value: string): string =>
  /^calc\(\s*([-+]?[\d.]+[a-z%]*)\s*\)$/.exec(value)?.[1] ?? value

/** Resolves escapes: browsers read `n\6f ne` as `none` (CSS Syntax 4.3.7). */
const unescaped = (css: string): string =>
  css.includes('\\')
    ? css.replace(
        /\\(?:([0-9a-f]{1,6})\s?|([^\n]))/gi,
        (_, hex: string | undefined, character: string | undefined) =>
          hex === undefined ? character! : String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0xfffd)),
      )
    : css

/** Removes comments; an unclosed one extends to the end. */
const withoutComments = (css: string): string =>
  css
    .split('/*')
    .map((piece, index) => (index === 0 ? piece : piece.split('*/').slice(1).join('*/')))
    .join('')
