import { useEffect, useRef, useSyncExternalStore } from 'react'

/** A key, or several after each other, that does something on the present screen. */
export interface Binding {
  /** As `KeyboardEvent.key` has it, several separated by a space: `j`, `g i`, `mod+k`. */
  keys: string
  label: string
  group: 'any' | 'go' | 'list' | 'thread'
  run(): void
  /** Does something in a text field as well. */
  inFields?: boolean
}

/** How long the second key of a sequence may take. */
const SEQUENCE_MS = 1_200

let bindings: readonly Binding[] = []
const watchers = new Set<() => void>()
const set = (next: readonly Binding[]): void => {
  bindings = next
  for (const watcher of watchers) watcher()
}

const watch = (watcher: () => void): (() => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/** All bindings of the present screen, for the help and the command menu. */
export const useBindings = (): readonly Binding[] => useSyncExternalStore(watch, () => bindings)

/** Binds keys while the component is shown. What was bound last goes first. */
export const useKeys = (own: readonly Binding[]): void => {
  const latest = useRef(own)
  useEffect(() => {
    latest.current = own
  })
  const signature = own.map(({ keys }) => keys).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: bound again only when the keys change
  useEffect(() => {
    const bound = latest.current.map((binding, index) => ({
      ...binding,
      run: () => latest.current[index]?.run(),
    }))
    set([...bound, ...bindings])
    return () => set(bindings.filter((binding) => !bound.includes(binding)))
  }, [signature])
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.closest('input:not([type=checkbox], [type=radio]), textarea, select') !== null

const nameOf = (event: KeyboardEvent): string => {
  const mod = event.metaKey || event.ctrlKey
  return mod ? `mod+${event.key.toLowerCase()}` : event.key
}

let before = ''
let beforeAt = 0

const find = (event: KeyboardEvent): Binding | undefined => {
  const key = nameOf(event)
  const sequence = event.timeStamp - beforeAt < SEQUENCE_MS ? `${before} ${key}` : key
  before = key
  beforeAt = event.timeStamp
  const usable = bindings.filter(({ inFields }) => inFields || !isField(event.target))
  return usable.find(({ keys }) => keys === sequence) ?? usable.find(({ keys }) => keys === key)
}

/** A dialog has the keyboard for itself. */
const inDialog = (): boolean => document.querySelector('dialog[open]') !== null

addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.altKey || event.isComposing || inDialog()) return
  const binding = find(event)
  if (!binding) return
  event.preventDefault()
  binding.run()
})

const isApple = /Mac|iP(?:hone|ad|od)/.test(navigator.userAgent)
const SHOWN: Record<string, string> = { Escape: 'Esc', Enter: '↵', ArrowDown: '↓', ArrowUp: '↑' }

/** A binding's keys as they are printed on a keyboard. */
export const shownKeys = (keys: string): string[] =>
  keys
    .split(' ')
    .map((key) =>
      key.startsWith('mod+')
        ? `${isApple ? '⌘' : 'Ctrl '}${key.slice(4).toUpperCase().replace('ENTER', '↵')}`
        : (SHOWN[key] ?? key),
    )
