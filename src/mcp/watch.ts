import { AppError } from '../core/errors.ts'
import type { LoggedEvent } from '../event/event.ts'
import { type FeedItem, positionOf } from '../event/follower.ts'
import { HEARD_BY_DEFAULT } from '../event/selection.ts'
import type { Call } from './tool.ts'

const MAX_EVENTS = 50

export interface Watched {
  events: LoggedEvent[]
  position: number
  truncated: boolean
}

const isArrival = (item: FeedItem): item is LoggedEvent =>
  !('truncated' in item) && HEARD_BY_DEFAULT.includes(item.type)

/**
 * Returns the events of the agent's next messages as soon as there is one, or none after `ms` milliseconds. It reads the
 * database once and then waits for the feed. Throws the reason if the token is revoked or the agent deleted
 * meanwhile.
 */
export const watchLog = async (
  { deps, viewer, waits, gone }: Call,
  { agentId, after, ms }: { agentId: string; after: number; ms: number },
): Promise<Watched> => {
  const { tokenId, workspaceId, expiresAt: tokenExpiresAt } = viewer
  const leave = waits.take(tokenId)
  if (!leave)
    throw new AppError('rate_limited', `A token can have ${waits.max} waiting calls at a time.`, {
      retryAfter: 5,
    })
  const session = await deps.subscriptions
    .open({ via: 'mcp', agentId, workspaceId, tokenId, tokenExpiresAt, connectionId: null })
    .catch((error: unknown) => {
      leave()
      throw error
    })
  const over = new AbortController()
  const ends = AbortSignal.any([session.signal, gone(), over.signal])
  void deps.clock.sleep(ms, ends).then(() => over.abort())
  const found: Watched = { events: [], position: after, truncated: false }
  try {
    for await (const items of deps.feed.steady(agentId, after, ends)) {
      if (items.some((item) => 'truncated' in item)) found.truncated = true
      found.events = items.filter(isArrival).slice(0, MAX_EVENTS)
      found.position = positionOf(found.events.at(-1) ?? items.at(-1)!)
      if (found.events.length > 0) break
    }
    if (session.reason) throw session.reason
    return found
  } finally {
    over.abort()
    leave()
    await deps.subscriptions.close(session)
  }
}
