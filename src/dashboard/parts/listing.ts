import { useSyncExternalStore } from 'react'

/** Whether the command menu is open, which lists also what closed menus contain. */
let listing = false
const watchers = new Set<() => void>()

export const setListing = (next: boolean): void => {
  listing = next
  for (const watcher of watchers) watcher()
}

const watch = (watcher: () => void): (() => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export const useListing = (): boolean => useSyncExternalStore(watch, () => listing)
