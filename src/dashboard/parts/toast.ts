import { useSyncExternalStore } from 'react'

/** A notice that something was done or failed. */
export interface Toast {
  id: number
  kind: 'done' | 'failure'
  text: string
  /** For failures: under which the service logged it. */
  requestId?: string | null
  /** Undoes what was done, or leads to it. */
  action?: ToastAction
}

export interface ToastAction {
  label: string
  run(): void
  /** The key that does the same while the notice is shown. */
  keys?: string
}

const SHOWN_MS = 6_000
/** There is time to read it, and to change one's mind. */
const SHOWN_WITH_ACTION_MS = 10_000
const MOST = 4

let toasts: readonly Toast[] = []
let nextId = 1
const watchers = new Set<() => void>()

const set = (next: readonly Toast[]): void => {
  toasts = next
  for (const watcher of watchers) watcher()
}

export const dismiss = (id: number): void => set(toasts.filter((toast) => toast.id !== id))

/** Shows a notice. Failures stay until they are closed. */
export const say = (toast: Omit<Toast, 'id'>): void => {
  const id = nextId++
  set([...toasts, { ...toast, id }].slice(-MOST))
  const shown = toast.action ? SHOWN_WITH_ACTION_MS : SHOWN_MS
  if (toast.kind === 'done') setTimeout(() => dismiss(id), shown)
}

const watch = (watcher: () => void): (() => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export const useToasts = (): readonly Toast[] => useSyncExternalStore(watch, () => toasts)
