import { compile } from 'css-select'
import { AttributeAction, parse, type Selector, SelectorType } from 'css-what'
import type { AnyNode, Element } from 'domhandler'
import { names } from './values.ts'

/** States that no element of a mail has before a person acts on it. */
const INACTIVE = names(`
  hover active focus focus-within focus-visible target target-within visited fullscreen modal popover-open
  user-invalid user-valid autofill picture-in-picture`)
const PSEUDOS = Object.fromEntries([
  ...[...INACTIVE].map((name) => [name, () => false] as const),
  ['defined', () => true],
  ['root', ({ name }: Element) => name === 'html'],
])
/** Other pseudo-classes of browsers that are evaluated. css-select knows more, which browsers do not. */
export const EVALUATED = names(`
  ${Object.keys(PSEUDOS).join(' ')} is where not has empty lang link any-link first-child last-child only-child
  first-of-type last-of-type only-of-type nth-child nth-last-child nth-of-type nth-last-of-type checked disabled
  enabled required`)
/** Others of browsers. A selector with any that they do not know is invalid. */
const UNEVALUATED = names(`
  read-only read-write dir optional valid invalid placeholder-shown default scope in-range out-of-range indeterminate
  open state host playing paused muted -webkit-any -webkit-any-link -webkit-autofill before after first-line
  first-letter`)
export const isKnown = (part: Selector): boolean =>
  part.type !== SelectorType.Pseudo || EVALUATED.has(part.name) || UNEVALUATED.has(part.name)

/** What a single pass over the HTML cannot know. */
export const LATER = /^(?:has|empty|last-|only-|nth-last-)/
export const GENERATED = /^(?:before|after)$/

/** Returns null for a selector that is not valid: it makes its whole list invalid. */
export function parsedSelector(selector: string): Selector[][] | null {
  try {
    return parse(selector)
  } catch {
    return null
  }
}

/** Returns null for a selector that css-select does not evaluate; browsers may. */
export function matcherOf(selector: Selector[], quirksMode: boolean): ((element: AnyNode) => boolean) | null {
  try {
    return compile<AnyNode, Element>([selector], { quirksMode, pseudos: PSEUDOS })
  } catch {
    return null
  }
}

/** A nested selector (CSS Nesting 3): relative to its parent unless it contains `&`. */
export const within = (prelude: string, parent: string): string =>
  prelude.includes('&')
    ? prelude.replaceAll('&', `:is(${parent})`)
    : prelude.replace(/(^|,)/g, (comma) => `${comma} :is(${parent}) `)

export const pseudoElementOf = (selector: readonly Selector[]) => {
  const last = selector.at(-1)
  const isOne =
    last?.type === SelectorType.PseudoElement ||
    (last?.type === SelectorType.Pseudo && /^(?:before|after|first-line|first-letter)$/.test(last.name))
  return isOne ? last : undefined
}

export const pseudosIn = (selector: readonly Selector[]): string[] =>
  selector.flatMap((part) => {
    if (part.type === SelectorType.PseudoElement) return [`:${part.name}`]
    if (part.type !== SelectorType.Pseudo) return []
    return [part.name, ...(Array.isArray(part.data) ? part.data.flatMap(pseudosIn) : [])]
  })

/** Ids, then classes, attributes and pseudo-classes, then elements. */
export const specificityOf = (selector: readonly Selector[]): number =>
  selector.reduce((sum, part) => {
    if (part.type === SelectorType.Tag || part.type === SelectorType.PseudoElement) return sum + 1
    if (part.type === SelectorType.Attribute)
      return sum + (part.name === 'id' && part.action === 'equals' ? 1e6 : 1e3)
    if (part.type !== SelectorType.Pseudo || part.name === 'where') return sum
    return sum + (Array.isArray(part.data) ? Math.max(0, ...part.data.map(specificityOf)) : 1e3)
  }, 0)

/** The key under which a rule is stored: an id, class or tag of the elements that it selects, or `*`. */
export function keyOf(selector: readonly Selector[]): string {
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
