/** What a change is about. `all`: changes may have been missed, so that everything shown is read again. */
export type Topic =
  | 'access'
  | 'agents'
  | 'all'
  | 'domains'
  | 'drafts'
  | 'listeners'
  | 'members'
  | 'messages'
  | 'numbers'
  | 'secrets'
  | 'suppressions'
  | 'tokens'
  | 'webhooks'
  | 'workspace'

/** A change in the workspace, as all tabs hear it. */
export interface Change {
  topic: Topic
  agentId?: string
  /** The messages, drafts or webhooks that changed; some may be gone. */
  ids?: readonly string[]
  /** The messages have just arrived. */
  arrived?: boolean
}

type Listener = (changes: readonly Change[]) => void

const listeners = new Set<Listener>()

/** Calls `listener` with every change; returns a function that ends this. */
export const onChange = (listener: Listener): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const tellChanges = (changes: readonly Change[]): void => {
  for (const listener of [...listeners]) listener(changes)
}
