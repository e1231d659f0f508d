import {
  findAgent,
  findConnection,
  replaced,
  type Subscription,
  type SubscriptionOptions,
} from '../../agent/index.ts'
import { AppError } from '../../core/errors.ts'
import {
  type EventType,
  HEARD_BY_DEFAULT,
  hearsMessages,
  type LogPosition,
  readHead,
} from '../../event/index.ts'
import type { GraphqlContext } from '../context/context.ts'
import type { GraphqlDeps } from '../context/deps.ts'
import { TruncatedError } from '../execution/errors.ts'
import type { Change, Item } from '../feed/item.ts'

export interface FollowInput {
  agentId: string
  after?: number | null | undefined
  connectionId?: string | null | undefined
  /** `HEARD_BY_DEFAULT` if left out. */
  types?: readonly EventType[] | undefined
}

/**
 * Returns where the subscription starts without `after`: as a client, at the time it connected, otherwise
 * now.
 */
const startOf = async (
  { deps, viewer }: GraphqlContext,
  agentId: string,
  connectionId: string | null,
): Promise<number> => {
  if (connectionId === null) {
    await findAgent(deps, viewer, agentId)
    return (await readHead(deps, agentId)).lastId
  }
  const connection = await findConnection(deps, viewer, agentId, connectionId)
  if (connection.replacedAt !== null) throw replaced()
  return connection.startAfter
}

/**
 * Follows the agent's log until the subscription ends, continuing after database outages; then yields the
 * reason why it ended. Never throws.
 */
async function* itemsOf(
  deps: GraphqlDeps,
  subscription: Subscription,
  { agentId, after, types }: LogPosition & { types: readonly EventType[] },
): AsyncGenerator<Item, void, void> {
  const { signal } = subscription
  try {
    for await (const items of deps.feed.steady(agentId, after, signal)) {
      for (const item of items) {
        if (signal.aborted) break
        if ('truncated' in item) yield { failure: new TruncatedError(item.nextId) }
        else if (types.includes(item.type)) yield item
      }
    }
  } catch (error) {
    yield { failure: error as Error }
    return
  }
  if (subscription.reason) yield { failure: subscription.reason }
}

/**
 * Maximum number of changes that wait for one subscriber. An object that changes again while it waits is
 * reported once, in its latest state.
 */
const MAX_WAITING = 1_000

const tooSlow = () =>
  new AppError(
    'unavailable',
    'You read too slowly and missed changes. Query the current state and subscribe again.',
  )

/** Yields an agent's changes until the subscription ends; then the reason why it ended. */
async function* changesOf(
  subscription: Subscription,
  waiting: Map<string, Change>,
  wakes: { wake(): void },
): AsyncGenerator<Item, void, void> {
  const { signal } = subscription
  while (!signal.aborted) {
    const [next] = waiting.values()
    if (next) {
      waiting.delete(next.changed)
      yield next
      continue
    }
    await new Promise<void>((resolve) => {
      wakes.wake = resolve
    })
  }
  if (subscription.reason) yield { failure: subscription.reason }
}

/**
 * Turns an open subscription into a stream. Closing it, or the end of the response, immediately releases
 * everything.
 */
export const streamOf = (
  { life, deps }: GraphqlContext,
  subscription: Subscription,
  items: AsyncGenerator<Item, void, void>,
  release: () => void = () => undefined,
): AsyncGenerator<Item, void, void> => {
  const signal = life()
  const close = () => {
    signal.removeEventListener('abort', close)
    release()
    void deps.subscriptions.close(subscription)
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

export const openFor = (
  { viewer, deps }: GraphqlContext,
  options: Pick<SubscriptionOptions, 'agentId' | 'connectionId' | 'listens'>,
): Promise<Subscription> =>
  deps.subscriptions.open({
    via: 'graphql',
    tokenId: viewer.tokenId,
    workspaceId: viewer.workspaceId,
    tokenExpiresAt: viewer.expiresAt,
    ...options,
  })

/**
 * Follows the agent's events after `after`, for members and the agent itself; with `connectionId` as the
 * agent's client. Throws the same errors as REST for an agent or connection that the viewer may not access,
 * and `conflict` for a connection that was replaced. Events are pulled, never pushed: a slow reader occupies
 * no memory but its position in the log. `return` ends it immediately.
 */
export const followEvents = async (
  context: GraphqlContext,
  input: FollowInput,
): Promise<AsyncGenerator<Item, void, void>> => {
  const { agentId, types = HEARD_BY_DEFAULT } = input
  const connectionId = input.connectionId ?? null
  const start = await startOf(context, agentId, connectionId)
  const listens = hearsMessages(types)
  const subscription = await openFor(context, { agentId, connectionId, listens })
  const items = itemsOf(context.deps, subscription, { agentId, after: input.after ?? start, types })
  return streamOf(context, subscription, items)
}

/**
 * Follows changes of the agent's messages or webhooks from now on, for members and the agent itself. A
 * subscriber that reads too slowly receives an error and is disconnected: there is no log from which it could
 * catch up.
 */
export const followChanges = async (
  context: GraphqlContext,
  agentId: string,
  kind: Change['kind'],
): Promise<AsyncGenerator<Item, void, void>> => {
  await findAgent(context.deps, context.viewer, agentId)
  const { changes } = context
  const waiting = new Map<string, Change>()
  const wakes: { wake(): void; tooMany(): void } = { wake: () => undefined, tooMany: () => undefined }
  const onChange = (change: Change) => {
    waiting.set(change.changed, change)
    if (waiting.size > MAX_WAITING) wakes.tooMany()
    wakes.wake()
  }
  // Watching starts before the subscription is opened, so that nothing is missed after that.
  const stop =
    kind === 'message'
      ? changes.watchMessages(agentId, onChange)
      : await changes.watchWebhooks(agentId, onChange)
  const subscription = await openFor(context, { agentId, connectionId: null }).catch((error: unknown) => {
    stop()
    throw error
  })
  wakes.tooMany = () => subscription.end(tooSlow())
  subscription.signal.addEventListener('abort', () => wakes.wake(), { once: true })
  return streamOf(context, subscription, changesOf(subscription, waiting, wakes), stop)
}
