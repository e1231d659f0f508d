import type { LoggedEvent } from '../../event/event.ts'

/** Something of an agent's that changed, to be read as it is now. */
export interface Change {
  agentId: string
  kind: 'message' | 'webhook'
  /** The message's or the webhook's id. */
  changed: string
  /** What it changed to, in words that differ whenever it does. */
  state: string
}

/** What a subscription hands out: events, changes, and errors that belong between them. */
export type Item = LoggedEvent | Change | { failure: Error }

/**
 * The same for the same event or change, whichever subscription hands it out. Null for what is of one
 * subscription alone.
 */
export const identityOf = (item: Item): string | null => {
  if ('failure' in item) return null
  if ('changed' in item) return `${item.kind} ${item.changed} ${item.state}`
  return `event ${item.agentId} ${item.id} ${item.text === undefined ? '' : 'with text'}`
}
