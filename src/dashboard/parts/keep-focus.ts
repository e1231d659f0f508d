/**
 * Keeps the keyboard's place when what has the focus disappears, such as a line that was dealt with: the browser
 * would go back to the beginning of the page. The focus goes to what stands next in the same list, else before it,
 * else to what surrounds it.
 */

const FOCUSABLE =
  'a[href], button:not(:disabled), input:not(:disabled), select, textarea, summary, [tabindex]'

/** What had the focus last, and has not been left by the user. */
let last: Element | null = null

const isLost = (): boolean => document.activeElement === null || document.activeElement === document.body

const firstIn = (node: Node | null): HTMLElement | null => {
  if (!(node instanceof HTMLElement) || !node.isConnected) return null
  const found = [node, ...node.querySelectorAll<HTMLElement>(FOCUSABLE)]
  return found.find((one) => one.matches(FOCUSABLE) && one.checkVisibility()) ?? null
}

/** The nearest element around a place that the focus can go to: a part of it, or the page's content itself. */
const around = (node: Node): HTMLElement | null => {
  const content = document.getElementById('content')
  if (!content?.contains(node)) return content
  for (let one: Node | null = node; one && one !== content; one = one.parentNode) {
    const found = firstIn(one)
    if (found) return found
  }
  return content
}

const focusInstead = (records: readonly MutationRecord[]): void => {
  if (!last || last.isConnected || !isLost()) return
  const gone = records.find(({ removedNodes }) => [...removedNodes].some((node) => node.contains(last)))
  last = null
  const place = gone?.target.isConnected
    ? gone
    : { target: document.body, nextSibling: null, previousSibling: null }
  const next = firstIn(place.nextSibling) ?? firstIn(place.previousSibling) ?? around(place.target)
  next?.focus({ preventScroll: true })
}

/** Begins to watch over the focus, for the life of the page. */
export const keepFocus = (): void => {
  document.addEventListener('focusin', ({ target }) => {
    last = target as Element
  })
  document.addEventListener('focusout', ({ target }) =>
    // The event also comes when an element is removed.
    queueMicrotask(() => {
      if (last?.isConnected && last === target && !last.matches(':disabled')) last = null
    }),
  )
  new MutationObserver(focusInstead).observe(document.body, { childList: true, subtree: true })
}
