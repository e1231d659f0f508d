import { CLIENT_REPLACED, endLease, renewLeases } from '../agent/connection.ts'
import { AppError, messageOf, notFound } from '../core/errors.ts'
import { readHeads } from '../event/log.ts'
import { watchTokens } from '../workspace/held-tokens.ts'
import type { GraphqlDeps } from './context.ts'

/** How often leases are renewed, and what notifications may have missed is looked at. A third of a lease. */
const CHECK_MS = 15_000
const EXPIRY_CHECK_MS = 1_000

export interface SubscriptionOptions {
  agentId: string
  tokenId: string
  tokenExpiresAt: Date | null
  /** The connection as whose client it listens. */
  connectionId: string | null
}

/** One open subscription to an agent's events: what it holds, and why it ended. */
export class Subscription {
  readonly options: SubscriptionOptions
  readonly #closing = new AbortController()
  #reason: AppError | null = null

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

  end(reason: AppError | null = null): void {
    if (this.#closing.signal.aborted) return
    this.#reason = reason
    this.#closing.abort()
  }
}

const invalidToken = () => new AppError('unauthorized', 'This token is not valid.')
export const replaced = () => new AppError('conflict', 'Another client is connected now.')
const stopping = () => new AppError('unavailable', 'The service is stopping. Subscribe again with `after`.')

/** The open subscriptions of this process: ended when they lose their right to be there, their leases kept while they have it. */
export class Subscriptions {
  readonly #deps: GraphqlDeps
  readonly #open = new Set<Subscription>()
  readonly #unsubscribe: (() => void)[]

  constructor(deps: GraphqlDeps) {
    this.#deps = deps
    const check = setInterval(() => void this.#check([...this.#open]), CHECK_MS)
    const expiry = setInterval(() => this.#endExpired(), EXPIRY_CHECK_MS)
    this.#unsubscribe = [
      deps.notifier.subscribe(CLIENT_REPLACED, (agentId) => void this.#checkClients(this.#where((one) => one.agentId === agentId))),
      watchTokens(
        deps,
        () => [...this.#open].map(({ options }) => options.tokenId),
        (gone) =>
          this.#end(
            this.#where(({ tokenId }) => gone.has(tokenId)),
            invalidToken(),
          ),
      ),
      deps.notifier.onReconnect(() => void this.#check([...this.#open])),
      () => clearInterval(check),
      () => clearInterval(expiry),
    ]
  }

  get size(): number {
    return this.#open.size
  }

  /** Ends all of them: their clients subscribe again, to another process or to the next start. */
  stop(): void {
    for (const end of this.#unsubscribe) end()
    this.#end([...this.#open], stopping())
  }

  /**
   * Opens one. From here on it is told of everything that ends it. Throws `unauthorized` when its token was revoked just now, and
   * `conflict` when it is no longer the agent's client.
   */
  async open(options: SubscriptionOptions): Promise<Subscription> {
    const subscription = new Subscription(options)
    const { connectionId } = options
    if (connectionId !== null)
      this.#end(
        this.#where((one) => one.connectionId === connectionId),
        replaced(),
      )
    this.#open.add(subscription)
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

  /** Lets go of it and of its lease, at once. */
  async close(subscription: Subscription): Promise<void> {
    subscription.end()
    if (!this.#open.delete(subscription)) return
    const { agentId, connectionId } = subscription.options
    if (connectionId === null || this.#where((one) => one.connectionId === connectionId).length > 0) return
    await endLease(this.#deps, agentId, connectionId).catch((error: unknown) =>
      this.#deps.log.warn({ error: messageOf(error) }, 'a lease could not be ended; it runs out by itself'),
    )
  }

  #where(applies: (options: SubscriptionOptions) => boolean): Subscription[] {
    return [...this.#open].filter(({ options }) => applies(options))
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

  /** Ends those whose token or agent is gone or whose connection was replaced; renews the leases of the others. */
  async #verify(subscriptions: readonly Subscription[]): Promise<void> {
    if (subscriptions.length === 0) return
    const ids = <T>(idOf: (options: SubscriptionOptions) => T | null) => [
      ...new Set(subscriptions.map(({ options }) => idOf(options)).filter((id) => id !== null)),
    ]
    const connectionIds = ids(({ connectionId }) => connectionId)
    const [tokens, heads, current] = await Promise.all([
      this.#deps.prisma.token.findMany({ where: { id: { in: ids(({ tokenId }) => tokenId) } }, select: { id: true } }),
      readHeads(
        this.#deps,
        ids(({ agentId }) => agentId),
      ),
      connectionIds.length === 0 ? new Set<string>() : renewLeases(this.#deps, connectionIds),
    ])
    const tokenIds = new Set(tokens.map(({ id }) => id))
    for (const subscription of subscriptions) {
      const { tokenId, agentId, connectionId } = subscription.options
      if (!tokenIds.has(tokenId)) subscription.end(invalidToken())
      else if (!heads.has(agentId)) subscription.end(notFound('agent'))
      else if (connectionId !== null && !current.has(connectionId)) subscription.end(replaced())
    }
  }
}
