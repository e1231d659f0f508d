import { compile } from 'css-select'
import { AttributeAction, parse, type Selector, SelectorType } from 'css-what'
import type { AnyNode, Element } from 'domhandler'
import { mediaTruth, supportsTruth } from './conditions.ts'
import { type Declaration, parseDeclarations, parseSheet, type Rule } from './css.ts'
import { declare } from './properties.ts'
import { enclosedSheet, isFontServer, type SheetSource } from './sheet-source.ts'
import { substituted } from './values.ts'

/** Computed values of an element's properties that are set on it, in lower case. */
export type Style = ReadonlyMap<string, string>
/** Custom properties, which are inherited. */
export type Variables = ReadonlyMap<string, string>

interface Matched {
  matches(element: AnyNode): boolean
  layer: string | null
  specificity: number
  order: number
  declarations: readonly Declaration[]
}

const MAX_SHEET = 200_000
const MAX_RULES = 4_000
const MAX_SELECTOR = 2_000
const MAX_STYLE = 8_000
const MAX_UNEVALUATED = 200
const MAX_IMPORTS = 10
const NO_STYLE: Style = new Map()

/** States that no element of a mail has before a person acts on it. */
const INACTIVE = [
  ...['hover', 'active', 'focus', 'focus-within', 'focus-visible', 'target', 'target-within', 'visited'],
  ...['fullscreen', 'modal', 'popover-open', 'user-invalid', 'user-valid', 'autofill', 'picture-in-picture'],
]
const PSEUDOS = Object.fromEntries([
  ...INACTIVE.map((name) => [name, () => false]),
  ['defined', () => true],
  ['root', ({ name }: Element) => name === 'html'],
])
/** Other pseudo-classes of browsers that are evaluated. css-select knows more, which browsers do not. */
const EVALUATED = new Set([
  ...[...Object.keys(PSEUDOS), 'is', 'where', 'not', 'has', 'empty', 'lang', 'link', 'any-link'],
  ...[
    'first-child',
    'last-child',
    'only-child',
    'first-of-type',
    'last-of-type',
    'only-of-type',
    'nth-child',
  ],
  ...['nth-last-child', 'nth-of-type', 'nth-last-of-type', 'checked', 'disabled', 'enabled', 'required'],
])
/** Others of browsers. A selector with any that they do not know is invalid. */
const UNEVALUATED = new Set([
  ...[
    'read-only',
    'read-write',
    'dir',
    'optional',
    'valid',
    'invalid',
    'placeholder-shown',
    'default',
    'scope',
  ],
  ...[
    'in-range',
    'out-of-range',
    'indeterminate',
    'open',
    'state',
    'host',
    '-webkit-any',
    '-webkit-any-link',
  ],
  ...['before', 'after', 'first-line', 'first-letter', 'playing', 'paused', 'muted', '-webkit-autofill'],
])
const isKnown = (part: Selector): boolean =>
  part.type !== SelectorType.Pseudo || EVALUATED.has(part.name) || UNEVALUATED.has(part.name)

/** What a single pass over the HTML cannot know. */
const LATER = /^(?:has|empty|last-|only-|nth-last-)/
const GENERATED = /^(?:before|after)$/

export interface SheetOptions {
  /** Whether class names and ids are compared without case, as in pages without a doctype. */
  quirks?: boolean
  /** Whether elements are matched before their content and later siblings are known. */
  streaming?: boolean
}

/** The style sheets of a mail: a cascade (CSS Cascade 5) over selectors that css-select evaluates. */
export class StyleSheet {
  /** Declarations that may apply, in ways that are not evaluated. */
  readonly unevaluated: (readonly Declaration[])[] = []
  /** Other things that are not evaluated. */
  readonly foreign = new Set<string>()
  readonly variables = new Map<string, string>()
  readonly #rules = new Map<string, Matched[]>()
  readonly #generated = new Map<'before' | 'after', Matched[]>([
    ['before', []],
    ['after', []],
  ])
  readonly #layers: string[] = []
  readonly #options: SheetOptions
  #count = 0
  #imports = 0

  constructor(sources: readonly SheetSource[], options: SheetOptions = {}) {
    this.#options = options
    let left = MAX_SHEET
    for (const { css, media } of sources) {
      const holds = mediaTruth(media)
      if (!(holds > 0)) continue
      if (css === null) this.foreign.add('a style sheet on another server')
      else this.#addAll(parseSheet(css.slice(0, left)), { parent: null, layer: null, applies: holds === 1 })
      left = Math.max(0, left - (css ?? '').length)
      if (left === 0) this.foreign.add('style sheets of more than 200,000 characters')
    }
  }

  /** Returns the style of an element, including its `style` attribute, and the variables of its content. */
  styleOf(element: Element, inherited: Variables): { style: Style; variables: Variables } {
    const own = element.attribs.style ? parseDeclarations(element.attribs.style.slice(0, MAX_STYLE)) : []
    const matching =
      this.#count === 0 ? [] : this.#candidates(element).filter(({ matches }) => matches(element))
    if (matching.length === 0 && own.length === 0) return { style: NO_STYLE, variables: inherited }
    const declared = this.#cascaded(matching, own)
    const custom = declared.filter(({ property }) => property.startsWith('--'))
    const variables =
      custom.length === 0
        ? inherited
        : new Map([...inherited, ...custom.map(({ property, value }) => [property, value] as const)])
    const style = new Map<string, string>()
    for (const { property, value } of declared)
      if (!property.startsWith('--')) declare(style, property, substituted(value, variables) ?? 'unset')
    return { style, variables }
  }

  /** Returns the style of what style sheets add before or after an element's content. */
  generated(element: Element, place: 'before' | 'after', variables: Variables): Style | null {
    const matching = this.#generated.get(place)!.filter(({ matches }) => matches(element))
    if (matching.length === 0) return null
    const style = new Map<string, string>()
    for (const { property, value } of this.#cascaded(matching, []))
      declare(style, property, substituted(value, variables) ?? 'unset')
    return style
  }

  /** The declarations in the order in which a later one replaces an earlier one. */
  #cascaded(matching: readonly Matched[], own: readonly Declaration[]): Declaration[] {
    const rank = ({ layer }: Matched) => (layer === null ? this.#layers.length : this.#layers.indexOf(layer))
    const sorted = (direction: 1 | -1) =>
      [...matching].sort(
        (one, other) =>
          direction * (rank(one) - rank(other)) ||
          one.specificity - other.specificity ||
          one.order - other.order,
      )
    const all = (rules: readonly Matched[], wanted: boolean) =>
      [...rules.flatMap(({ declarations }) => declarations), ...own].filter(
        ({ important }) => important === wanted,
      )
    const normal = all(sorted(1), false)
    const important = all(sorted(-1), true)
    return [...normal, ...important]
  }

  #addAll(rules: readonly Rule[], context: Context): void {
    for (const rule of rules) {
      if (rule.at === null) this.#addStyle(rule, context)
      else this.#addAtRule(rule.at, rule, context)
    }
  }

  #addAtRule(at: string, rule: Rule, context: Context): void {
    if (at === 'import') this.#import(rule.prelude, context)
    else if (at === 'layer') this.#layer(rule, context)
    else if (at === 'property') {
      const initial = rule.declarations.find(({ property }) => property === 'initial-value')
      if (initial) this.variables.set(rule.prelude, initial.value)
    } else if (at === 'font-face') {
      if (rule.declarations.some(({ value }) => value.includes('data:')))
        this.foreign.add('a font of its own')
    } else if (!/^(?:charset|namespace|page|counter-style|starting-style|font-.*)$/.test(at)) {
      const holds =
        at === 'media' ? mediaTruth(rule.prelude) : at === 'supports' ? supportsTruth(rule.prelude) : 0.5
      if (!(holds > 0)) return
      const inner = { ...context, applies: context.applies && holds === 1 }
      if (/keyframes$/.test(at)) for (const { declarations } of rule.rules) this.#unevaluated(declarations)
      else this.#addAll(this.#nested(rule, context), inner)
    }
  }

  /** The declarations in an at-rule within a style rule belong to that style rule. */
  #nested({ declarations, rules }: Rule, { parent }: Context): Rule[] {
    return parent === null || declarations.length === 0
      ? rules
      : [{ at: null, prelude: '&', declarations, rules: [] }, ...rules]
  }

  #layer({ prelude, ...block }: Rule, context: Context): void {
    const names = prelude === '' ? [`anonymous-${this.#layers.length}`] : prelude.split(/ ?, ?/)
    const layers = names
      .slice(0, 20)
      .map((name) => (context.layer === null ? name : `${context.layer}.${name}`))
    // The rules of a layer win over those of the layers in it.
    for (const layer of layers) {
      const outer = this.#layers.findIndex((known) => layer.startsWith(`${known}.`))
      if (this.#layers.includes(layer) || this.#layers.length > 100) continue
      this.#layers.splice(outer < 0 ? this.#layers.length : outer, 0, layer)
    }
    this.#addAll(this.#nested({ prelude, ...block }, context), { ...context, layer: layers[0] ?? null })
  }

  #import(prelude: string, context: Context): void {
    const [, quoted, bare, rest = ''] =
      /^(?:url\( ?)?(?:"([^"]*)"|'?([^"'\s)]*)'?) ?\)?(.*)$/s.exec(prelude) ?? []
    const layer = /^ ?layer(?:\(([^)]*)\))?/.exec(rest)
    const holds = mediaTruth(rest.slice(layer?.[0].length ?? 0))
    if (!(holds > 0) || this.#imports++ > MAX_IMPORTS) return
    const sheet = enclosedSheet(quoted ?? bare ?? '')
    if (sheet === null) {
      if (!isFontServer(quoted ?? bare ?? '')) this.foreign.add('a style sheet on another server')
      return
    }
    const rules = parseSheet(sheet)
    const inner = { ...context, applies: context.applies && holds === 1 }
    if (layer) this.#layer({ at: 'layer', prelude: layer[1] ?? '', declarations: [], rules }, inner)
    else this.#addAll(rules, inner)
  }

  #unevaluated(declarations: readonly Declaration[]): void {
    if (this.unevaluated.length < MAX_UNEVALUATED) this.unevaluated.push(declarations)
  }

  #addStyle({ prelude, declarations, rules }: Rule, context: Context): void {
    const selector = context.parent === null ? prelude : within(prelude, context.parent)
    const parsed = selector.length > MAX_SELECTOR ? null : parsedSelector(selector)
    if (parsed === null || !parsed.flat().every(isKnown)) return
    if (declarations.length > 0) for (const one of parsed) this.#add(one, declarations, context)
    this.#addAll(rules, { ...context, parent: selector })
  }

  #add(selector: Selector[], declarations: readonly Declaration[], { layer, applies }: Context): void {
    const pseudoElement = pseudoElementOf(selector)
    const parts = selector.filter((part) => part !== pseudoElement)
    const { streaming = false, quirks = false } = this.#options
    const isEvaluated = pseudosIn(parts).every(
      (name) => EVALUATED.has(name) && !(streaming && LATER.test(name)),
    )
    if (!applies || !isEvaluated || this.#count >= MAX_RULES) {
      this.#unevaluated(declarations)
      return
    }
    if (pseudoElement !== undefined && !GENERATED.test(pseudoElement.name)) {
      if (/^first-/.test(pseudoElement.name)) this.#unevaluated(declarations)
      return
    }
    const rule = {
      matches: compile<AnyNode, Element>([parts], { quirksMode: quirks, pseudos: PSEUDOS }),
      layer,
      specificity: specificityOf(selector),
      order: this.#count++,
      declarations,
    }
    const place = pseudoElement?.name as 'before' | 'after' | undefined
    if (place !== undefined) this.#generated.get(place)!.push(rule)
    else {
      const key = keyOf(parts)
      const rules = this.#rules.get(key)
      if (rules === undefined) this.#rules.set(key, [rule])
      else rules.push(rule)
    }
  }

  #candidates({ name, attribs }: Element): Matched[] {
    const classes = new Set((attribs.class ?? '').toLowerCase().split(/\s+/, 50).filter(Boolean))
    const keys = ['*', name, ...[...classes].map((one) => `.${one}`), `#${(attribs.id ?? '').toLowerCase()}`]
    return keys.flatMap((key) => this.#rules.get(key) ?? [])
  }
}

interface Context {
  /** Selector of the rule around a nested one. */
  parent: string | null
  layer: string | null
  /** Whether all conditions around hold for every reader. */
  applies: boolean
}

/** Returns null for a selector that is not valid: it makes its whole list invalid. */
function parsedSelector(selector: string): Selector[][] | null {
  try {
    return parse(selector)
  } catch {
    return null
  }
}

/** A nested selector (CSS Nesting 3): relative to its parent unless it contains `&`. */
const within = (prelude: string, parent: string): string =>
  prelude.includes('&')
    ? prelude.replaceAll('&', `:is(${parent})`)
    : prelude.replace(/(^|,)/g, (comma) => `${comma} :is(${parent}) `)

const pseudoElementOf = (selector: readonly Selector[]) => {
  const last = selector.at(-1)
  const isOne =
    last?.type === SelectorType.PseudoElement ||
    (last?.type === SelectorType.Pseudo && /^(?:before|after|first-line|first-letter)$/.test(last.name))
  return isOne ? last : undefined
}

const pseudosIn = (selector: readonly Selector[]): string[] =>
  selector.flatMap((part) => {
    if (part.type === SelectorType.PseudoElement) return [`:${part.name}`]
    if (part.type !== SelectorType.Pseudo) return []
    return [part.name, ...(Array.isArray(part.data) ? part.data.flatMap(pseudosIn) : [])]
  })

/** Ids, then classes, attributes and pseudo-classes, then elements. */
const specificityOf = (selector: readonly Selector[]): number =>
  selector.reduce((sum, part) => {
    if (part.type === SelectorType.Tag || part.type === SelectorType.PseudoElement) return sum + 1
    if (part.type === SelectorType.Attribute)
      return sum + (part.name === 'id' && part.action === 'equals' ? 1e6 : 1e3)
    if (part.type !== SelectorType.Pseudo || part.name === 'where') return sum
    return sum + (Array.isArray(part.data) ? Math.max(0, ...part.data.map(specificityOf)) : 1e3)
  }, 0)

/** The key under which a rule is stored: an id, class or tag of the elements that it selects, or `*`. */
function keyOf(selector: readonly Selector[]): string {
  let key = '*'
  for (const part of selector) {
    if (TRAVERSALS.has(part.type)) key = '*'
    if (part.type === SelectorType.Tag && key === '*') key = part.name.toLowerCase()
    if (part.type !== SelectorType.Attribute || key.startsWith('#')) continue
    if (part.name === 'id' && part.action === AttributeAction.Equals) key = `#${part.value.toLowerCase()}`
    else if (part.name === 'class' && part.action === AttributeAction.Element)
      key = `.${part.value.toLowerCase()}`
  }
  return key
}
const TRAVERSALS = new Set<string>([
  SelectorType.Descendant,
  SelectorType.Child,
  SelectorType.Adjacent,
  SelectorType.Sibling,
])
