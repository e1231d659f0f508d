import { findConnection } from '../agent/connection.ts'
import { findAgent } from '../agent/reach.ts'
import { messageOf } from '../core/errors.ts'
import { publicError } from '../db/failure.ts'
import type { LoggedEvent } from '../event/event.ts'
import { readHead } from '../event/log.ts'
import type { GraphqlContext, GraphqlDeps } from './context.ts'
import { TruncatedError } from './errors.ts'
import { replaced, type Subscription } from './subscriptions.ts'

/** Pause before the log is read again when the database is away. */
const AWAY_MS = 500

/** What a subscription hands out: events, and errors that belong between them. */
export type Item = LoggedEvent | { failure: Error }

export interface FollowInput {
  agentId: string
  after?: number | null | undefined
  connectionId?: string | null | undefined
}

/** Where it begins without `after`: as a client at the moment of the connect, else now. */
const startOf = async ({ deps, viewer }: GraphqlContext, agentId: string, connectionId: string | null): Promise<number> => {
  if (connectionId === null) {
    await findAgent(deps, viewer, agentId)
    return (await readHead(deps, agentId)).lastId
  }
  const connection = await findConnection(deps, viewer, agentId, connectionId)
  if (connection.replacedAt !== null) throw replaced()
  return Number(connection.startAfter)
}

/** Follows the agent's log until the subscription ends, over times without a database; then says why it ended. Never throws. */
async function* itemsOf(deps: GraphqlDeps, subscription: Subscription, after: number): AsyncGenerator<Item, void, void> {
  const { options, signal } = subscription
  let position = after
  while (!signal.aborted) {
    try {
      for await (const item of deps.feed.follow(options.agentId, position, signal)) {
        position = 'truncated' in item ? item.nextId - 1 : item.id
        yield 'truncated' in item ? { failure: new TruncatedError(item.nextId) } : item
      }
    } catch (error) {
      if (publicError(error).code !== 'unavailable') {
        yield { failure: error as Error }
        return
      }
      deps.log.warn({ error: messageOf(error), agentId: options.agentId }, 'a subscription waits for the database')
      await deps.clock.sleep(AWAY_MS, signal)
    }
  }
  if (subscription.reason) yield { failure: subscription.reason }
}

/**
 * The agent's events after `after`, for members and the agent itself; with `connectionId` as the agent's client. Throws what REST
 * answers for an agent or a connection that the viewer may not have, and `conflict` for a connection that was replaced. Pulled, never
 * pushed: a reader that doesn't ask keeps nothing in memory but its place in the log. `return` ends it at once.
 */
export const followEvents = async (context: GraphqlContext, input: FollowInput): Promise<AsyncGenerator<Item, void, void>> => {
  const { deps, viewer, signal, subscriptions } = context
  const { agentId } = input
  const connectionId = input.connectionId ?? null
  const start = await startOf(context, agentId, connectionId)
  const subscription = await subscriptions.open({ agentId, tokenId: viewer.tokenId, tokenExpiresAt: viewer.expiresAt, connectionId })
  const items = itemsOf(deps, subscription, input.after ?? start)
  const close = () => {
    signal.removeEventListener('abort', close)
    void subscriptions.close(subscription)
    return items.return()
  }
  signal.addEventListener('abort', close)
  if (signal.aborted) void close()
  const stream: AsyncGenerator<Item, void, void> = {
    async next() {
      const result = await items.next()
      if (result.done) void close()
      return result
    },
    return: close,
    throw: close,
    [Symbol.asyncIterator]: () => stream,
  }
  return stream
}
