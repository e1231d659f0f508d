import type { Subscriptions } from '../../agent/subscriptions.ts'
import type { Clock } from '../../core/clock.ts'
import type { EventType } from '../../event/event.ts'
import type { Feed } from '../../event/feed.ts'
import type { LogPosition } from '../../event/log.ts'
import type { Viewer } from '../../workspace/viewer.ts'

export interface AwaitDeps {
  clock: Clock
  feed: Feed
  subscriptions: Subscriptions
}

/**
 * Resolves as soon as the agent's log has an event of these types after a position, after `ms` milliseconds, or when
 * the client is `gone`. Who waits is no listener. Throws the reason if the token is revoked, the agent deleted or the
 * service stopped meanwhile.
 */
export const awaitEvents = async (
  { clock, feed, subscriptions }: AwaitDeps,
  { tokenId, workspaceId, expiresAt: tokenExpiresAt }: Viewer,
  { agentId, after, types }: LogPosition & { types?: readonly EventType[] | undefined },
  { ms, gone }: { ms: number; gone: AbortSignal },
): Promise<void> => {
  const held = { via: 'rest', agentId, workspaceId, tokenId, tokenExpiresAt, connectionId: null } as const
  const session = await subscriptions.open(held)
  const over = new AbortController()
  const ends = AbortSignal.any([session.signal, gone, over.signal])
  void clock.sleep(ms, ends).then(() => over.abort())
  try {
    for await (const items of feed.steady(agentId, after, ends))
      if (items.some((item) => !('truncated' in item) && (types?.includes(item.type) ?? true))) break
    if (session.reason) throw session.reason
  } finally {
    over.abort()
    await subscriptions.close(session)
  }
}
