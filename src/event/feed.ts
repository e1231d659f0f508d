import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Db } from '../db/client.ts'
import { publicError } from '../db/failure.ts'
import type { Notifier } from '../db/notify.ts'
import type { LoggedEvent } from './event.ts'
import { Follower } from './follower.ts'
import { readHead, readHeads } from './log.ts'
import type { Texts } from './texts.ts'

/** Topic that notifies the other processes that an agent's log grew; the key is the agent's id. */
const EVENTS = 'events'

/**
 * Interval in milliseconds at which the heads of followed logs are polled, in case a notification was lost.
 * Guaranteed: an event still arrives within 2 s.
 */
const POLL_MS = 1_500

/** Time in milliseconds before a retry while the database is unavailable. */
const RETRY_MS = 500

export type News = (agentId: string, event: LoggedEvent | null) => void

/** A position whose events are no longer stored: the next event is `nextId`. */
export interface Truncated {
  truncated: true
  nextId: number
}

/** Returns the position of a reader after this item. */
export const positionOf = (item: LoggedEvent | Truncated): number =>
  'truncated' in item ? item.nextId - 1 : item.id

export interface FeedDeps extends Db {
  notifier: Notifier
  /** Texts of the Message URL's events; the log does not contain them. */
  texts: Texts
  clock: Clock
  log: Logger
  metrics?: Metrics
}

/**
 * Delivers events from the commit to listeners, in this process and all others. The log in the database is
 * authoritative; events that are passed on in memory, and notifications, only save reading it.
 */
export class Feed {
  readonly #deps: FeedDeps
  readonly #listeners = new Set<News>()
  readonly #followers = new Map<string, Set<Follower>>()
  /** Newest id that the followers of each agent were notified of. */
  readonly #heads = new Map<string, number>()
  readonly #stopping = new AbortController()
  #unsubscribe: (() => void)[] = []

  constructor(deps: FeedDeps) {
    this.#deps = deps
  }

  /**
   * Announces committed events, in order of id: this process receives them directly, the others read them.
   */
  committed(events: readonly LoggedEvent[]): void {
    for (const event of events) {
      this.#deps.metrics?.count('events', event.channel)
      this.#notify(event.agentId, event)
      this.#deps.notifier.publish(EVENTS, event.agentId, { toSelf: false })
    }
  }

  /**
   * Subscribes to all agents' news: the event if it is known, null if only its existence is. Returns a
   * function that unsubscribes.
   */
  onNews(listener: News): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Yields the agent's events after `after`, without gaps or repetitions: first from the log, then live. A
   * position beyond the log's end counts as its end. Ends when `signal` aborts; throws when the database is
   * unavailable.
   */
  async *follow(
    agentId: string,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<LoggedEvent | Truncated, void, void> {
    for await (const items of this.batches(agentId, after, signal)) {
      for (const item of items) {
        if (signal.aborted) return
        yield item
      }
    }
  }

  /** Does the same as `batches`, but continues after outages of the database. Throws for any other error. */
  async *steady(
    agentId: string,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<(LoggedEvent | Truncated)[], void, void> {
    let position = after
    while (!signal.aborted) {
      try {
        for await (const items of this.batches(agentId, position, signal)) {
          position = positionOf(items.at(-1)!)
          yield items
        }
      } catch (error) {
        if (publicError(error).code !== 'unavailable') throw error
        this.#deps.log.warn({ error: messageOf(error), agentId }, 'event reader is waiting for the database')
        await this.#deps.clock.sleep(RETRY_MS, signal)
      }
    }
  }

  /** Does the same as `follow`, but yields events that are available together as one batch. */
  async *batches(
    agentId: string,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<(LoggedEvent | Truncated)[], void, void> {
    const follower = this.#join(agentId)
    const close = () => follower.close()
    signal.addEventListener('abort', close, { once: true })
    try {
      const { lastId, horizon } = await readHead(this.#deps, agentId)
      let position = Math.min(after, lastId)
      if (position < horizon) {
        position = horizon
        yield [{ truncated: true, nextId: horizon + 1 }]
      }
      while (!signal.aborted) {
        const events = follower.ready(position) ?? (await follower.read(this.#deps, position))
        if (signal.aborted) return
        if (events.length > 0) {
          position = events.at(-1)!.id
          yield events
        }
        await follower.idle()
      }
    } finally {
      signal.removeEventListener('abort', close)
      this.#leave(agentId, follower)
    }
  }

  start(): void {
    const { notifier, texts } = this.#deps
    this.#unsubscribe = [
      texts.start(),
      notifier.subscribe(EVENTS, (agentId) => this.#notify(agentId, null)),
      notifier.onReconnect(() => void this.#poll()),
    ]
    void this.#keepPolling()
  }

  stop(): void {
    this.#stopping.abort()
    for (const end of this.#unsubscribe) end()
  }

  #notify(agentId: string, event: LoggedEvent | null): void {
    const followers = this.#followers.get(agentId)
    if (followers) {
      if (event) this.#heads.set(agentId, Math.max(event.id, this.#heads.get(agentId) ?? 0))
      for (const follower of followers) follower.news(event)
    }
    for (const listener of this.#listeners) listener(agentId, event)
  }

  async #keepPolling(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#deps.clock.sleep(POLL_MS, signal)
      if (!signal.aborted) await this.#poll()
    }
  }

  async #poll(): Promise<void> {
    if (this.#followers.size === 0) return
    try {
      const known = new Map(this.#heads)
      for (const [agentId, lastId] of await readHeads(this.#deps, [...this.#followers.keys()])) {
        if (lastId <= (known.get(agentId) ?? -1)) continue
        this.#heads.set(agentId, Math.max(lastId, this.#heads.get(agentId) ?? 0))
        for (const follower of this.#followers.get(agentId) ?? []) follower.news(null)
      }
    } catch (error) {
      this.#deps.log.warn({ error: messageOf(error) }, 'could not poll for new events')
    }
  }

  #join(agentId: string): Follower {
    const follower = new Follower(agentId)
    const group = this.#followers.get(agentId) ?? new Set()
    this.#followers.set(agentId, group.add(follower))
    return follower
  }

  #leave(agentId: string, follower: Follower): void {
    const group = this.#followers.get(agentId)
    group?.delete(follower)
    if (group?.size !== 0) return
    this.#followers.delete(agentId)
    this.#heads.delete(agentId)
  }
}
