import type { Clock } from '../../core/clock.ts'
import {
  type EventType,
  type Feed,
  type LoggedEvent,
  type LogPosition,
  positionOf,
} from '../../event/index.ts'
import type { Viewer } from '../../workspace/index.ts'
import type { Subscriptions, Via } from './subscriptions.ts'

export interface AwaitDeps {
  clock: Clock
  feed: Feed
  subscriptions: Subscriptions
}

/** What a client waits for, in the log of an agent after a position. */
export interface Awaited extends LogPosition {
  via: Via
  /** All if left out. */
  types?: readonly EventType[] | undefined
}

export interface Found {
  events: LoggedEvent[]
  /** The last event that was looked at. */
  position: number
  /** Whether events after the given position were deleted, because they were too old. */
  truncated: boolean
}

const MAX_EVENTS = 50

/**
 * Returns the next events of these types as soon as there is one, or none after `ms` milliseconds or when the client is
 * `gone`. It reads the database once and then waits for the feed. Throws the reason if the token is revoked, the agent
 * deleted or the service stopped meanwhile.
 */
export const awaitEvents = async (
  { clock, feed, subscriptions }: AwaitDeps,
  { tokenId, workspaceId, expiresAt: tokenExpiresAt }: Viewer,
  { via, agentId, after, types }: Awaited,
  { ms, gone }: { ms: number; gone: AbortSignal },
): Promise<Found> => {
  const session = await subscriptions.open({
    ...{ via, agentId, workspaceId, tokenId, tokenExpiresAt, connectionId: null },
  })
  const over = new AbortController()
  const ends = AbortSignal.any([session.signal, gone, over.signal])
  void clock.sleep(ms, ends).then(() => over.abort())
  const found: Found = { events: [], position: after, truncated: false }
  try {
    for await (const items of feed.steady(agentId, after, ends)) {
      const events = items.filter((item): item is LoggedEvent => !('truncated' in item))
      if (events.length < items.length) found.truncated = true
      found.events = events.filter(({ type }) => types?.includes(type) ?? true).slice(0, MAX_EVENTS)
      found.position = positionOf(found.events.at(-1) ?? items.at(-1)!)
      if (found.events.length > 0) break
    }
    if (session.reason) throw session.reason
    return found
  } finally {
    over.abort()
    await subscriptions.close(session)
  }
}
