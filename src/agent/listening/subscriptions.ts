import { inTime } from '../../core/clock.ts'
import { AppError, messageOf, notFound } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import {
  movingError,
  type StreamPlaces,
  TOKEN_CHECK_MS,
  TOKEN_REVOKED,
  WORKSPACE_MOVES,
} from '../../workspace/index.ts'
import {
  CLIENT_REPLACED,
  type ConnectionDeps,
  type Ending,
  endLeases,
  type ListenerUse,
  readEnded,
  renewLeases,
} from './connection.ts'
import { CurrentListeners } from './current-listeners.ts'

export type SubscriptionsDeps = ConnectionDeps & { log: Logger; places: StreamPlaces }

/** Interval in milliseconds at which leases are renewed and subscriptions checked: twice in a lease, should it fail once. */
const CHECK_MS = 20_000
const EXPIRY_CHECK_MS = 1_000
/** Time in milliseconds after which the connection that hears notifications is not waited for. */
const HEARING_MS = 100

/** The interface through which a subscription is opened. */
export type Via = 'stream' | 'graphql' | 'mcp' | 'rest'

export interface SubscriptionOptions extends ListenerUse {
  via: Via
  workspaceId: string
  tokenExpiresAt: Date | null
  /** Whether it receives new messages, so that its client counts as a listener; true if left out. */
  listens?: boolean | undefined
}

/** Whether a subscription keeps its connection's lease. */
const leases = ({ connectionId, listens = true }: SubscriptionOptions): boolean =>
  connectionId !== null && listens

const useKey = ({ agentId, tokenId, connectionId }: ListenerUse): string =>
  `${agentId} ${tokenId} ${connectionId}`

/** A subscription to an agent's events, and why it ended. */
export class Subscription {
  readonly options: SubscriptionOptions
  #ended = false
  #onEnd: (() => void) | null = null
  /** Created when it is asked for: a process has thousands of subscriptions, and most need only `onEnd`. */
  #ending: AbortController | null = null
  #reason: AppError | null = null
  #reopened = false

  constructor(options: SubscriptionOptions) {
    this.options = options
  }

  /** Aborts when the subscription ends. */
  get signal(): AbortSignal {
    this.#ending ??= new AbortController()
    if (this.#ended) this.#ending.abort()
    return this.#ending.signal
  }

  /** Calls back when the subscription ends, once. */
  onEnd(callback: () => void): void {
    if (this.#ended) callback()
    else this.#onEnd = callback
  }

  /** The error sent to the client at the end; null when the client closed the subscription. */
  get reason(): AppError | null {
    return this.#reason
  }

  /** Whether the same connection opened a newer subscription in place of this one. */
  get reopened(): boolean {
    return this.#reopened
  }

  end(reason: AppError | null = null, { reopened = false } = {}): void {
    if (this.#ended) return
    this.#ended = true
    this.#reason = reason
    this.#reopened = reopened
    this.#ending?.abort()
    this.#onEnd?.()
  }
}

const invalidToken = () => new AppError('unauthorized', 'This token is not valid.')
export const replaced = () => new AppError('conflict', 'Another client is connected now.')
const REASONS: Record<Ending, () => AppError> = {
  revoked: invalidToken,
  gone: () => notFound('agent'),
  replaced,
}
const stopping = () => new AppError('unavailable', 'The service is stopping. Subscribe again with `after`.')

/**
 * The open subscriptions of this process, over all interfaces. A connection's lease is renewed while it has
 * an open subscription, and ends with the last one. A subscription ends when its token or agent is deleted,
 * its token expires, or its connection is replaced.
 */
export class Subscriptions {
  readonly #deps: SubscriptionsDeps
  readonly #open = new Set<Subscription>()
  readonly #current: CurrentListeners
  readonly #unsubscribe: (() => void)[]
  /** The ends of leases in progress. */
  readonly #closing = new Set<Promise<void>>()
  #looking = false
  /** Whether one of which this process was notified could not be checked. */
  #missed = false

  constructor(deps: SubscriptionsDeps) {
    this.#deps = deps
    this.#current = new CurrentListeners(deps)
    const check = setInterval(() => void this.#check([...this.#open]), CHECK_MS)
    const look = setInterval(() => void this.#look(), TOKEN_CHECK_MS)
    const expiry = setInterval(() => this.#endExpired(), EXPIRY_CHECK_MS)
    this.#unsubscribe = [
      deps.notifier.subscribe(
        CLIENT_REPLACED,
        (agentId) => void this.#checkClients(this.#where((one) => one.agentId === agentId)),
      ),
      deps.notifier.subscribe(TOKEN_REVOKED, (revoked) => this.endOf(new Set([revoked]))),
      deps.notifier.subscribe(WORKSPACE_MOVES, (id) =>
        this.#end(
          this.#where(({ workspaceId }) => workspaceId === id),
          movingError(),
        ),
      ),
      deps.notifier.onReconnect(() => void this.#check([...this.#open])),
      () => clearInterval(check),
      () => clearInterval(look),
      () => clearInterval(expiry),
    ]
  }

  /** Returns the number of subscriptions that are open over an interface. */
  count(via: Via): number {
    return this.#where((one) => one.via === via).length
  }

  /**
   * Ends all subscriptions, and their leases in one statement: those of a thousand streams that close one by one
   * would still wait for connections when the pool is closed. Their clients subscribe again, to another process
   * or after a restart. Resolves after `graceMs` milliseconds if the database does not respond.
   */
  async stop(graceMs: number): Promise<void> {
    for (const end of this.#unsubscribe) end()
    const open = [...this.#open]
    this.#open.clear()
    for (const { options } of open) this.#deps.places.release(options)
    this.#end(open, stopping())
    await inTime(Promise.all([this.#endLeases(open), ...this.#closing]), graceMs)
  }

  /**
   * Opens a subscription, and ends an earlier one of its connection over the same interface. Throws
   * `unauthorized` when its token has just been revoked, `conflict` when another client has replaced the
   * connection, and `rate_limited` when too many are open.
   */
  async open(options: SubscriptionOptions): Promise<Subscription> {
    const subscription = new Subscription(options)
    const { connectionId, via } = options
    if (connectionId !== null)
      for (const before of this.#where((one) => one.connectionId === connectionId && one.via === via))
        before.end(replaced(), { reopened: true })
    this.#deps.places.take(options)
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

  /** Ends the subscriptions of tokens that are no longer valid. */
  endOf(tokenIds: ReadonlySet<string>): void {
    this.#end(
      this.#where(({ tokenId }) => tokenIds.has(tokenId)),
      invalidToken(),
    )
  }

  /** Closes a subscription, and ends its connection's lease unless the connection has another one open. */
  async close(subscription: Subscription): Promise<void> {
    subscription.end()
    if (!this.#open.delete(subscription)) return
    this.#deps.places.release(subscription.options)
    const { options } = subscription
    const isSame = (one: SubscriptionOptions) => one.connectionId === options.connectionId && leases(one)
    if (!leases(options) || this.#where(isSame).length > 0) return
    const ending = this.#endLeases([subscription]).finally(() => this.#closing.delete(ending))
    this.#closing.add(ending)
    await ending
  }

  async #endLeases(subscriptions: readonly Subscription[]): Promise<void> {
    const clients = subscriptions
      .filter(({ options }) => leases(options))
      .map(({ options: { agentId, connectionId } }) => ({ id: connectionId!, agentId: agentId! }))
    if (clients.length === 0) return
    await endLeases(this.#deps, clients).catch((error: unknown) =>
      this.#deps.log.warn({ error: messageOf(error) }, 'could not end connection leases; they will expire'),
    )
  }

  #where(applies: (options: SubscriptionOptions) => boolean): Subscription[] {
    const found: Subscription[] = []
    // Without a copy of all: each that opens looks among thousands.
    for (const one of this.#open) if (applies(one.options)) found.push(one)
    return found
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
      this.#missed = true
      this.#deps.log.warn({ error: messageOf(error) }, 'could not renew and check subscriptions; retrying')
    }
  }

  async #checkClients(subscriptions: readonly Subscription[]): Promise<void> {
    await this.#check(subscriptions.filter(({ options }) => options.connectionId !== null))
  }

  /**
   * Finds subscriptions whose notification was lost, and ends them. Does nothing while a check is running.
   */
  async #look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      if (this.#open.size === 0) return
      const hasMissed = this.#missed
      this.#missed = false // a check that fails from now on is for the next look
      const heardAll = (await this.#deps.notifier.isUpToDate(HEARING_MS)) && !hasMissed
      const uses = [...this.#open].map(({ options }) => options)
      const ended = await this.#current.readEnded(uses, heardAll)
      if (ended.size > 0) this.#endThose(ended)
    } catch (error) {
      this.#missed = true
      this.#deps.log.warn({ error: messageOf(error) }, 'could not check subscriptions; retrying')
    } finally {
      this.#looking = false
    }
  }

  #endThose(ended: ReadonlyMap<ListenerUse, Ending>): void {
    for (const subscription of this.#open) {
      const ending = ended.get(subscription.options)
      if (ending !== undefined) subscription.end(REASONS[ending]())
    }
  }

  /** Ends the subscriptions whose token or agent was deleted or whose connection was replaced. */
  async #endInvalid(subscriptions: readonly Subscription[]): Promise<void> {
    if (subscriptions.length === 0) return
    const uses = new Map(subscriptions.map(({ options }) => [useKey(options), options]))
    const ended = await readEnded(this.#deps, [...uses.values()])
    if (ended.size === 0) return
    const byUse = new Map([...uses.keys()].map((key, place) => [key, ended.get(place)]))
    for (const subscription of subscriptions) {
      const ending = byUse.get(useKey(subscription.options))
      if (ending !== undefined) subscription.end(REASONS[ending]())
    }
  }

  /** Ends the subscriptions that are no longer valid, and renews the leases of the others. */
  async #verify(subscriptions: readonly Subscription[]): Promise<void> {
    const clients = subscriptions.filter(({ options }) => leases(options))
    const held = new Map(clients.map(({ options }) => [options.connectionId!, options.agentId!]))
    const connections = [...held].map(([id, agentId]) => ({ id, agentId }))
    const [lapsed] = await Promise.all([
      connections.length === 0 ? new Set<string>() : renewLeases(this.#deps, connections),
      // A lease is proof enough for those that use their token's own connection.
      this.#endInvalid(
        subscriptions.filter(({ options }) => !leases(options) || !this.#current.isOwn(options)),
      ),
    ])
    const ended = clients.filter(({ options }) => lapsed.has(options.connectionId!))
    await this.#endInvalid(ended)
    for (const client of ended) client.end(replaced())
  }
}
