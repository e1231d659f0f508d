import { useSyncExternalStore } from 'react'

/** Whether changes are heard as they happen. */
export interface LiveStatus {
  state: 'connecting' | 'live' | 'waiting'
  /** Since when, in milliseconds since 1970. */
  since: number
}

let status: LiveStatus = { state: 'connecting', since: Date.now() }
const watchers = new Set<() => void>()

export const setStatus = (next: LiveStatus): void => {
  if (next.state === status.state) return
  status = next
  for (const watcher of watchers) watcher()
}

export const currentStatus = (): LiveStatus => status

const watch = (watcher: () => void): (() => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export const useLiveStatus = (): LiveStatus => useSyncExternalStore(watch, currentStatus)
