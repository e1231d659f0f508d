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

/** The topic on which the other processes hear that an agent's log grew; the key is the agent's id. */
const EVENTS = 'events'

/**
 * The net under the notifications: how often the heads of followed logs are looked at. Promised: an event
 * arrives within 2 s even so.
 */
const POLL_MS = 1_500

/** Pause before a log is read again when the database is away. */
const AWAY_MS = 500

export type News = (agentId: string, event: LoggedEvent | null) => void

/** A position that is no longer kept: what follows begins at `nextId`. */
export interface Truncated {
  truncated: true
  nextId: number
}

/** Where a reader stands that was handed this. */
export const positionOf = (item: LoggedEvent | Truncated): number =>
  'truncated' in item ? item.nextId - 1 : item.id

export interface FeedDeps extends Db {
  notifier: Notifier
  /** The texts that events of the Message URL carry; the log has none. */
  texts: Texts
  clock: Clock
  log: Logger
  metrics?: Metrics
}

/**
 * How events get from the commit to who listens, in this process and all others. The log in the database is
 * the truth; what is handed over in memory, and what notifications tell, only saves reading it.
 */
export class Feed {
  readonly #deps: FeedDeps
  readonly #listeners = new Set<News>()
  readonly #followers = new Map<string, Set<Follower>>()
  /** The newest ids that the followers of each agent were told of. */
  readonly #heads = new Map<string, number>()
  readonly #stopping = new AbortController()
  #unsubscribe: (() => void)[] = []

  constructor(deps: FeedDeps) {
    this.#deps = deps
  }

  /**
   * Tells of events that are committed, in order of id: this process gets them as they are, the others read
   * them.
   */
  committed(events: readonly LoggedEvent[]): void {
    for (const event of events) {
      this.#deps.metrics?.count('events', event.channel)
      this.#tell(event.agentId, event)
      this.#deps.notifier.publish(EVENTS, event.agentId, { toSelf: false })
    }
  }

  /**
   * Hears of every agent's news: with the event where it is known, with null where only "there is more" is.
   * Returns how to stop.
   */
  onNews(listener: News): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * The agent's events after `after`, without gap or repetition: first from the log, then live. A position
   * beyond the log's end counts as its end. Ends when `signal` aborts; throws when the database is away.
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

  /**
   * The same as `batches`, over times without a database: it goes on where it stood. Throws for anything
   * else.
   */
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
        this.#deps.log.warn({ error: messageOf(error), agentId }, 'a reader of events waits for the database')
        await this.#deps.clock.sleep(AWAY_MS, signal)
      }
    }
  }

  /** The same as `follow`, with what is there at once together. */
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
      notifier.subscribe(EVENTS, (agentId) => this.#tell(agentId, null)),
      notifier.onReconnect(() => void this.#poll()),
    ]
    void this.#keepPolling()
  }

  stop(): void {
    this.#stopping.abort()
    for (const end of this.#unsubscribe) end()
  }

  #tell(agentId: string, event: LoggedEvent | null): void {
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
      this.#deps.log.warn({ error: messageOf(error) }, 'could not look for new events')
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
