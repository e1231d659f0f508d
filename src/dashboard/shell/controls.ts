/**
 * What the present screen lets a member do, for the command menu. The page itself is the list: whatever can be
 * pressed or filled in has a name, for those who cannot see it.
 */

export interface Control {
  label: string
  /** What it belongs to: the line, the part of the page. */
  context: string
  /** Presses it; fields and settings get the focus instead. */
  run(): void
}

const PRESSED = 'button, a.button, summary, .tabs a, .choices input'
const FILLED = 'input, select, textarea'

/** The contents of closed menus are hidden, and yet offered. */
const isOffered = (element: Element): boolean =>
  !element.matches(':disabled, [type=hidden], [type=file]') &&
  element.closest('[inert], [aria-hidden=true], dialog, [hidden]:not(.menu-list)') === null

const wordsOf = (element: Element | null | undefined): string =>
  (element?.textContent ?? '').replace(/\s+/g, ' ').trim()

const referredTo = (element: Element): string =>
  (element.getAttribute('aria-labelledby') ?? '')
    .split(' ')
    .map((id) => wordsOf(document.getElementById(id)))
    .join(' ')

const nameOf = (element: Element): string => {
  const label = 'labels' in element ? (element as HTMLInputElement).labels?.[0] : null
  return element.getAttribute('aria-label') || referredTo(element) || wordsOf(label) || wordsOf(element)
}

const LONGEST = 60

const contextOf = (element: Element): string => {
  const choices = element.closest('.choices')?.querySelector('legend')
  const row = element.closest('tr')
  const line = row?.cells[0] ?? element.closest('li, article')?.querySelector('a, strong, h2, h3, span')
  const part = element.closest('section')
  const names = [
    wordsOf(choices),
    wordsOf(line).slice(0, LONGEST),
    part?.getAttribute('aria-label') || wordsOf(part?.querySelector('h2, h3')),
  ]
  return names
    .filter((name, index) => name && name !== nameOf(element) && names.indexOf(name) === index)
    .join(' · ')
}

const main = (): HTMLElement | null => document.querySelector('main')

/** Presses a control, or moves the focus to it once the command menu is closed and the page takes it again. */
const act = (element: HTMLElement): void => {
  if (element.matches(PRESSED)) element.click()
  else
    setTimeout(() => {
      element.scrollIntoView({ block: 'nearest' })
      element.focus()
    })
}

/** What can be done here. Lines of lists are chosen in the list itself. */
export const readControls = (): Control[] => {
  const found = [...(main()?.querySelectorAll<HTMLElement>(`${PRESSED}, ${FILLED}`) ?? [])]
  const named = found
    .filter((element) => isOffered(element) && !element.matches('.thread-check'))
    .map((element) => ({ element, label: nameOf(element), context: contextOf(element) }))
  return named
    .filter(({ label }) => label !== '')
    .map(({ element, label, context }) => ({
      label,
      context,
      // It may have been replaced while the command menu was open.
      run: () => {
        const same = element.isConnected ? element : findSame(label, context)
        if (same) act(same)
      },
    }))
}

/** The one control with this label in this place; undefined if there are several, of which one may be of another line. */
const findSame = (label: string, context: string): HTMLElement | undefined => {
  const found = [...(main()?.querySelectorAll<HTMLElement>(`${PRESSED}, ${FILLED}`) ?? [])].filter(
    (element) => isOffered(element) && nameOf(element) === label && contextOf(element) === context,
  )
  return found.length === 1 ? found[0] : undefined
}

const findControl = (label: string): HTMLElement | undefined =>
  [...(main()?.querySelectorAll<HTMLElement>(`${PRESSED}, ${FILLED}`) ?? [])].find(
    (element) => isOffered(element) && nameOf(element) === label,
  )

const findHeading = (label: string): HTMLElement | undefined =>
  [...(main()?.querySelectorAll<HTMLElement>('h2') ?? [])].find((heading) => wordsOf(heading) === label)

const reach = (label: string): boolean => {
  const control = findControl(label)
  const heading = control ? undefined : findHeading(label)
  if (control) act(control)
  heading?.scrollIntoView({ block: 'start' })
  heading?.setAttribute('tabindex', '-1')
  heading?.focus({ preventScroll: true })
  return control !== undefined || heading !== undefined
}

/** How long a screen may take until it shows what was asked for. */
const PATIENCE_MS = 10_000

/** Presses what is called `label` at a path, or goes to the part of the page with this title, once it is there. */
export const pressLater = (path: string, label: string): void => {
  const observer = new MutationObserver(() => {
    if (location.pathname.endsWith(path) && reach(label)) observer.disconnect()
  })
  observer.observe(document.body, { childList: true, subtree: true })
  setTimeout(() => observer.disconnect(), PATIENCE_MS)
}
