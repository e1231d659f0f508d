import { useSyncExternalStore } from 'react'

/** Why what is shown may be old, although it is tried again. */
export interface Trouble {
  /** When reading goes on, in milliseconds since 1970, if the service asked to wait; null if it did not answer. */
  until: number | null
}

let trouble: Trouble | null = null
/** Reads that have failed several times, and are repeated by those who show the data. */
let failing = 0
const watchers = new Set<() => void>()

const tell = (next: Trouble | null): void => {
  if (next === trouble || (next && trouble && next.until === trouble.until)) return
  trouble = next
  for (const watcher of watchers) watcher()
}

/** Says that something could not be read, until `noTrouble`. */
export const sayTrouble = (until: number | null): void => tell({ until })

export const noTrouble = (): void => {
  if (failing === 0) tell(null)
}

/** Says the same until the returned function is called. */
export const holdTrouble = (): (() => void) => {
  failing++
  tell(trouble ?? { until: null })
  return () => {
    failing--
    noTrouble()
  }
}

const watch = (watcher: () => void): (() => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export const useTrouble = (): Trouble | null => useSyncExternalStore(watch, () => trouble)
