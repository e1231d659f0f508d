import { AppError, messageOf, notFound } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { TOKENS_LOOK_MS } from '../workspace/held-tokens.ts'
import type { StreamPlaces } from '../workspace/stream-places.ts'
import { TOKEN_REVOKED } from '../workspace/token.ts'
import {
  CLIENT_REPLACED,
  type ConnectionDeps,
  endLease,
  type ListenerUse,
  readStanding,
  renewLeases,
  type Standing,
} from './connection.ts'

export type SubscriptionsDeps = ConnectionDeps & { log: Logger; places: StreamPlaces }

/** How often leases are renewed, and what notifications may have missed is looked at. A third of a lease. */
const CHECK_MS = 15_000
const EXPIRY_CHECK_MS = 1_000

/** The interface that a subscription is opened over. */
export type Via = 'stream' | 'graphql' | 'mcp'

export interface SubscriptionOptions extends ListenerUse {
  via: Via
  workspaceId: string
  tokenExpiresAt: Date | null
}

const useKey = ({ agentId, tokenId, connectionId }: ListenerUse): string =>
  `${agentId} ${tokenId} ${connectionId}`

/** One open subscription to an agent's events: what it holds, and why it ended. */
export class Subscription {
  readonly options: SubscriptionOptions
  readonly #closing = new AbortController()
  #reason: AppError | null = null
  #reopened = false

  constructor(options: SubscriptionOptions) {
    this.options = options
  }

  get signal(): AbortSignal {
    return this.#closing.signal
  }

  /** What its client is told as the last thing; null when it ended by the client's own wish. */
  get reason(): AppError | null {
    return this.#reason
  }

  /** Whether its own client opened its connection again. */
  get reopened(): boolean {
    return this.#reopened
  }

  end(reason: AppError | null = null, { reopened = false } = {}): void {
    if (this.#closing.signal.aborted) return
    this.#reason = reason
    this.#reopened = reopened
    this.#closing.abort()
  }
}

const invalidToken = () => new AppError('unauthorized', 'This token is not valid.')
export const replaced = () => new AppError('conflict', 'Another client is connected now.')
const REASONS: Record<Exclude<Standing, 'current'>, () => AppError> = {
  revoked: invalidToken,
  gone: () => notFound('agent'),
  replaced,
}
const stopping = () => new AppError('unavailable', 'The service is stopping. Subscribe again with `after`.')

/**
 * The open subscriptions of this process, over all interfaces: a connection's lease is renewed as long as one
 * of them is the connection's, and ends with the last. A subscription ends when its token or agent is
 * deleted, its token expires, or its connection is replaced.
 */
export class Subscriptions {
  readonly #deps: SubscriptionsDeps
  /** Each with how to give its place back. */
  readonly #open = new Map<Subscription, () => void>()
  readonly #unsubscribe: (() => void)[]
  #looking = false

  constructor(deps: SubscriptionsDeps) {
    this.#deps = deps
    const check = setInterval(() => void this.#check([...this.#open.keys()]), CHECK_MS)
    const look = setInterval(() => void this.#look(), TOKENS_LOOK_MS)
    const expiry = setInterval(() => this.#endExpired(), EXPIRY_CHECK_MS)
    this.#unsubscribe = [
      deps.notifier.subscribe(
        CLIENT_REPLACED,
        (agentId) => void this.#checkClients(this.#where((one) => one.agentId === agentId)),
      ),
      deps.notifier.subscribe(TOKEN_REVOKED, (revoked) =>
        this.#end(
          this.#where(({ tokenId }) => tokenId === revoked),
          invalidToken(),
        ),
      ),
      deps.notifier.onReconnect(() => void this.#check([...this.#open.keys()])),
      () => clearInterval(check),
      () => clearInterval(look),
      () => clearInterval(expiry),
    ]
  }

  /** How many are open over this interface. */
  count(via: Via): number {
    return this.#where((one) => one.via === via).length
  }

  /** Ends all of them: their clients subscribe again, to another process or to the next start. */
  stop(): void {
    for (const end of this.#unsubscribe) end()
    this.#end([...this.#open.keys()], stopping())
  }

  /**
   * Opens one, in place of one that its connection has over the same interface. Throws `unauthorized` when
   * its token was revoked just now, `conflict` when it is no longer the agent's client, and `rate_limited`
   * when too many are open.
   */
  async open(options: SubscriptionOptions): Promise<Subscription> {
    const subscription = new Subscription(options)
    const { connectionId, via } = options
    if (connectionId !== null)
      for (const before of this.#where((one) => one.connectionId === connectionId && one.via === via))
        before.end(replaced(), { reopened: true })
    this.#open.set(subscription, this.#deps.places.take(options))
    try {
      await this.#verify([subscription])
    } catch (error) {
      await this.close(subscription)
      throw error
    }
    if (!subscription.reason) return subscription
    await this.close(subscription)
    throw subscription.reason
  }

  /** Closes it, and ends its connection's lease unless another one is open. */
  async close(subscription: Subscription): Promise<void> {
    subscription.end()
    const leave = this.#open.get(subscription)
    if (!leave) return
    this.#open.delete(subscription)
    leave()
    const { agentId, connectionId } = subscription.options
    if (connectionId === null || this.#where((one) => one.connectionId === connectionId).length > 0) return
    await endLease(this.#deps, agentId, connectionId).catch((error: unknown) =>
      this.#deps.log.warn({ error: messageOf(error) }, 'a lease could not be ended; it runs out by itself'),
    )
  }

  #where(applies: (options: SubscriptionOptions) => boolean): Subscription[] {
    return [...this.#open.keys()].filter(({ options }) => applies(options))
  }

  #end(subscriptions: readonly Subscription[], reason: AppError): void {
    for (const subscription of subscriptions) subscription.end(reason)
  }

  #endExpired(): void {
    const now = this.#deps.clock.now()
    this.#end(
      this.#where(({ tokenExpiresAt }) => tokenExpiresAt !== null && tokenExpiresAt <= now),
      invalidToken(),
    )
  }

  async #check(subscriptions: readonly Subscription[]): Promise<void> {
    try {
      await this.#verify(subscriptions)
    } catch (error) {
      this.#deps.log.warn({ error: messageOf(error) }, 'subscriptions could not be checked')
    }
  }

  async #checkClients(subscriptions: readonly Subscription[]): Promise<void> {
    await this.#check(subscriptions.filter(({ options }) => options.connectionId !== null))
  }

  /** Ends what no notification told of. One look at a time. */
  async #look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      await this.#endFallen([...this.#open.keys()])
    } catch (error) {
      this.#deps.log.warn({ error: messageOf(error) }, 'subscriptions could not be looked at')
    } finally {
      this.#looking = false
    }
  }

  /** Ends those whose token or agent is gone or whose connection was replaced. */
  async #endFallen(subscriptions: readonly Subscription[]): Promise<void> {
    if (subscriptions.length === 0) return
    const uses = new Map(subscriptions.map(({ options }) => [useKey(options), options]))
    const standings = await readStanding(this.#deps, [...uses.values()])
    const byUse = new Map([...uses.keys()].map((key, index) => [key, standings[index]!]))
    for (const subscription of subscriptions) {
      const standing = byUse.get(useKey(subscription.options))
      if (standing !== undefined && standing !== 'current') subscription.end(REASONS[standing]())
    }
  }

  /** The same, and renews the leases of the others. */
  async #verify(subscriptions: readonly Subscription[]): Promise<void> {
    const clients = subscriptions.filter(({ options }) => options.connectionId !== null)
    const held = new Map(clients.map(({ options }) => [options.connectionId!, options.agentId]))
    const connections = [...held].map(([id, agentId]) => ({ id, agentId }))
    const [current] = await Promise.all([
      connections.length === 0 ? new Set<string>() : renewLeases(this.#deps, connections),
      this.#endFallen(subscriptions),
    ])
    for (const client of clients) if (!current.has(client.options.connectionId!)) client.end(replaced())
  }
}
