import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Metrics } from '../core/metrics.ts'
import { uuidArray } from '../db/bytea.ts'
import type { Db } from '../db/client.ts'
import type { Notifier } from '../db/notify.ts'
import type { Contents } from '../db/payload.ts'
import type { LoggedEvent } from './event.ts'
import { FeedIterator } from './feed-iterator.ts'
import { type FeedItem, Follower, type Sink } from './follower.ts'
import { type LogPosition, readGrown, sumOfEnds } from './log.ts'
import { LogReader } from './log-reader.ts'
import { contentOf, eventsIn } from './notification.ts'
import type { Texts } from './texts.ts'

/** Topic that notifies the other processes that an agent's log grew; the key is the agent's id. Small events are its contents. */
const EVENTS = 'events'

/**
 * Interval in milliseconds at which the heads of followed logs are polled, in case a notification was lost.
 * Guaranteed: an event still arrives within 2 s.
 */
const POLL_MS = 1_500

/** `eventsOf` returns an agent's new events if they are known, in order, and null if only their existence is. */
export type News = (agentId: string, eventsOf: () => readonly LoggedEvent[] | null) => void

export interface FeedDeps extends Db {
  notifier: Notifier
  /** Texts of the Message URL's events; the log does not contain them. */
  texts: Texts
  clock: Clock
  log: Logger
  metrics?: Metrics
}

const byAgent = (events: readonly LoggedEvent[]): Map<string, LoggedEvent[]> => {
  const found = new Map<string, LoggedEvent[]>()
  for (const event of events) {
    const own = found.get(event.agentId)
    if (own) own.push(event)
    else found.set(event.agentId, [event])
  }
  return found
}

/**
 * Delivers events from the commit to listeners, in this process and all others. The log in the database is
 * authoritative; events that are passed on in memory, and notifications, only save reading it.
 */
export class Feed {
  readonly #deps: FeedDeps
  readonly #reader: LogReader
  readonly #listeners = new Set<News>()
  /** By agent. */
  readonly #followers = new Map<string, Follower[]>()
  /** The agents in `#followers`, as a parameter; null when they have changed. */
  #followed: Buffer | null = null
  readonly #stopping = new AbortController()
  #unsubscribe: (() => void)[] = []

  constructor(deps: FeedDeps) {
    this.#deps = deps
    this.#reader = new LogReader(deps)
  }

  /**
   * Announces committed events, in order of id: this process receives them directly, those of an agent together, the others in a
   * notification, or from the log.
   */
  committed(events: readonly LoggedEvent[]): void {
    for (const [agentId, own] of byAgent(events)) this.#notify(agentId, own)
    for (const event of events) {
      this.#deps.metrics?.count('events', event.channel)
      for (const listener of this.#listeners) listener(event.agentId, () => [event])
      this.#deps.notifier.publish(EVENTS, event.agentId, { toSelf: false, content: () => contentOf(event) })
    }
  }

  /** Subscribes to all agents' news. Returns a function that unsubscribes. */
  onNews(listener: News): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Passes the agent's events after `after` to a sink, without gaps or repetitions: first from the log, then
   * live. A position beyond the log's end counts as its end. Continues after outages of the database. Ends
   * when `unfollow` is called.
   */
  follow(position: LogPosition, sink: Sink): Follower {
    const follower = new Follower({ reader: this.#reader, texts: this.#deps.texts }, position, sink)
    const others = this.#followers.get(position.agentId)
    if (others) others.push(follower)
    else {
      this.#followers.set(position.agentId, [follower])
      this.#followed = null
    }
    follower.proceed()
    return follower
  }

  unfollow(follower: Follower): void {
    follower.close()
    const { agentId } = follower
    const others = this.#followers.get(agentId)?.filter((other) => other !== follower) ?? []
    if (others.length > 0) this.#followers.set(agentId, others)
    else if (this.#followers.delete(agentId)) this.#followed = null
  }

  /** Like `follow`, as an iterator that ends when `signal` aborts. Throws what the sink's `failed` would get. */
  steady(agentId: string, after: number, signal: AbortSignal): AsyncIterableIterator<FeedItem[], void> {
    return new FeedIterator(this, { agentId, after }, signal)
  }

  start(): void {
    const { notifier, texts } = this.#deps
    this.#unsubscribe = [
      texts.start(),
      notifier.subscribe(EVENTS, (agentId, contents) => this.#onNotification(agentId, contents)),
      notifier.onReconnect(() => void this.#poll()),
    ]
    void this.#keepPolling()
  }

  stop(): void {
    this.#stopping.abort()
    this.#reader.stop()
    for (const end of this.#unsubscribe) end()
  }

  /** Contents are decrypted only for agents with listeners here: a process is notified of each event of the installation. */
  #onNotification(agentId: string, contents: Contents | null): void {
    const eventsOf = () => eventsIn(contents, agentId)
    if (this.#followers.has(agentId)) this.#notify(agentId, eventsOf())
    for (const listener of this.#listeners) listener(agentId, eventsOf)
  }

  #notify(agentId: string, events: readonly LoggedEvent[] | null): void {
    const followers = this.#followers.get(agentId)
    if (followers !== undefined) for (const follower of followers) follower.news(events)
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
    const known = [...this.#followers].map(([agentId, followers]) => ({
      agentId,
      after: followers.reduce((least, { end }) => Math.min(least, end), Number.MAX_SAFE_INTEGER),
    }))
    try {
      if (!(await this.#mayHaveGrown(known))) return
      for (const { agentId } of await readGrown(this.#deps, known)) this.#notify(agentId, null)
    } catch (error) {
      this.#deps.log.warn({ error: messageOf(error) }, 'could not poll for new events')
    }
  }

  /**
   * Nearly always nothing was missed: to add the ends of thousands of logs up costs a third of comparing each. A reader
   * whose log is gone, or that is slow, makes the sums differ.
   */
  async #mayHaveGrown(known: readonly LogPosition[]): Promise<boolean> {
    this.#followed ??= uuidArray(known.map(({ agentId }) => agentId).sort())
    const sum = await sumOfEnds(this.#deps, this.#followed)
    return sum !== known.reduce((all, { after }) => all + after, 0)
  }
}
