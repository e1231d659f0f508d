import type { Selector } from 'css-what'
import type { AnyNode, Element } from 'domhandler'
import { mediaTruth, supportsTruth } from './conditions.ts'
import { type Declaration, parseDeclarations, parseSheet, type Rule } from './css.ts'
import { declare } from './properties.ts'
import {
  EVALUATED,
  GENERATED,
  isKnown,
  keyOf,
  LATER,
  matcherOf,
  parsedSelector,
  pseudoElementOf,
  pseudosIn,
  specificityOf,
  within,
} from './selector.ts'
import { enclosedSheet, isFontServer, type SheetSource } from './sheet-source.ts'
import { substituted } from './values.ts'

/** Computed values of an element's properties that are set on it, in lower case. */
export type Style = ReadonlyMap<string, string>
/** Custom properties, which are inherited. */
export type Variables = ReadonlyMap<string, string>

export interface Computed {
  style: Style
  variables: Variables
}

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
const MAX_STYLES = 500
const MAX_UNEVALUATED = 200
const MAX_IMPORTS = 10
const NO_STYLE: Style = new Map()

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
  readonly #layers: string[] = []
  readonly #styles = new WeakMap<Variables, Map<string, Computed>>()
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
  styleOf(element: Element, inherited: Variables): Computed {
    const own = element.attribs.style ?? ''
    const matching = this.#count === 0 ? [] : this.#matching(element, keysOf(element))
    if (matching.length === 0 && own === '') return { style: NO_STYLE, variables: inherited }
    return this.#computed(matching, own, inherited)
  }

  /** Returns the style of what style sheets add before or after an element's content. */
  generated(element: Element, place: 'before' | 'after', variables: Variables): Style | null {
    const matching = this.#count === 0 ? [] : this.#matching(element, [`::${place}`])
    return matching.length === 0 ? null : this.#computed(matching, '', variables).style
  }

  #matching(element: Element, keys: readonly string[]): Matched[] {
    return keys.flatMap((key) => this.#rules.get(key)?.filter(({ matches }) => matches(element)) ?? [])
  }

  /** Newsletters repeat the same rules and the same `style` attributes, so that most styles are known. */
  #computed(matching: readonly Matched[], own: string, inherited: Variables): Computed {
    const key = `${matching.map(({ order }) => order)} ${own}`
    const known = this.#styles.get(inherited) ?? new Map<string, Computed>()
    const style = known.get(key) ?? computed(this.#cascaded(matching, parseDeclarations(own)), inherited)
    if (known.size < MAX_STYLES) this.#styles.set(inherited, known.set(key, style))
    return style
  }

  /** The declarations in the order in which a later one replaces an earlier one. */
  #cascaded(matching: readonly Matched[], own: readonly Declaration[]): Declaration[] {
    const rank = ({ layer }: Matched) => (layer === null ? this.#layers.length : this.#layers.indexOf(layer))
    const inOrder = (wanted: boolean) => {
      // Of important declarations, those of the first layer win.
      const direction = wanted ? -1 : 1
      const sorted = matching.toSorted(
        (one, other) =>
          direction * (rank(one) - rank(other)) ||
          one.specificity - other.specificity ||
          one.order - other.order,
      )
      const all = [...sorted.flatMap(({ declarations }) => declarations), ...own]
      return all.filter(({ important }) => important === wanted)
    }
    return [...inOrder(false), ...inOrder(true)]
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
    if (!(holds > 0)) return
    if (this.#imports++ > MAX_IMPORTS) {
      this.foreign.add('many imported style sheets')
      return
    }
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
    else this.foreign.add('rules that may apply')
  }

  #addStyle({ prelude, declarations, rules }: Rule, context: Context): void {
    const selector = context.parent === null ? prelude : within(prelude, context.parent)
    if (selector.length > MAX_SELECTOR) this.#unevaluated(declarations)
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
    const matches = matcherOf(parts, quirks)
    if (matches === null) {
      this.#unevaluated(declarations)
      return
    }
    const rule = {
      matches,
      layer,
      specificity: specificityOf(selector),
      order: this.#count++,
      declarations,
    }
    const key = pseudoElement === undefined ? keyOf(parts) : `::${pseudoElement.name}`
    const rules = this.#rules.get(key)
    if (rules === undefined) this.#rules.set(key, [rule])
    else rules.push(rule)
  }
}

/** The keys under which rules for an element are stored; see `keyOf`. */
const keysOf = ({ name, attribs }: Element): string[] => [
  '*',
  name,
  ...(attribs.class === undefined
    ? []
    : new Set(
        attribs.class
          .toLowerCase()
          .split(/\s+/)
          .map((one) => `.${one}`),
      )),
  ...(attribs.id === undefined ? [] : [`#${attribs.id.toLowerCase()}`]),
]

function computed(declared: readonly Declaration[], inherited: Variables): Computed {
  const style = new Map<string, string>()
  const custom = declared.filter(({ property }) => property.startsWith('--'))
  const variables =
    custom.length === 0
      ? inherited
      : new Map([...inherited, ...custom.map(({ property, value }) => [property, value] as const)])
  for (const { property, value } of declared)
    if (!property.startsWith('--')) declare(style, property, substituted(value, variables) ?? 'unset')
  return { style, variables }
}

interface Context {
  /** Selector of the rule around a nested one. */
  parent: string | null
  layer: string | null
  /** Whether all conditions around hold for every reader. */
  applies: boolean
}
