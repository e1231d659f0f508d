import type { LoggedEvent } from '../../event/index.ts'
import type { ChangePosition, ChangesRead } from '../../workspace/index.ts'

/**
 * A change to one of an agent's messages or webhooks, whose current state is read when the result is
 * produced.
 */
export interface Change {
  agentId: string
  kind: 'message' | 'webhook'
  /** Id of the message or webhook. */
  changed: string
  /** The new state, as text that differs whenever the state does. */
  state: string
}

/** What changed in a workspace, after which position. */
export interface WorkspaceChanges extends ChangesRead {
  workspaceId: string
  after: ChangePosition
}

/** What a subscription yields: events, changes, and errors that occur between them. */
export type Item = LoggedEvent | Change | WorkspaceChanges | { failure: Error }

/**
 * Returns a key that is the same for the same event or change in every subscription; null for an item that
 * belongs to a single subscription.
 */
export const identityOf = (item: Item): string | null => {
  if ('failure' in item) return null
  if ('changes' in item)
    return `workspace ${item.workspaceId} ${item.after.snapshot} ${item.position.snapshot}`
  if ('changed' in item) return `${item.kind} ${item.changed} ${item.state}`
  return `event ${item.agentId} ${item.id} ${item.text === undefined ? '' : 'with text'}`
}
