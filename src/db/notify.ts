import { randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { Queryable } from './client.ts'
import type { Prisma } from './generated/prisma/client.ts'
import { Listening } from './listening.ts'

/**
 * Notifies every process, this one first, that something with a key has changed. A notification is only a
 * hint: subscribers read the data again.
 */
export interface Notifier {
  /**
   * To be called after the commit. This process's subscribers are notified before it returns; the others
   * within milliseconds, in no particular order, and duplicates are merged. Never throws and never waits: a
   * notification that could not be sent is lost, and each subscriber's slow poll makes up for it. `toSelf:
   * false` skips this process, when it passes on the change itself.
   */
  publish(topic: string, key: string, options?: { toSelf: boolean }): void
  /** Returns a function that ends the subscription. */
  subscribe(topic: string, listener: (key: string) => void): () => void
  /** Key of the advisory lock that tells other processes whether this one is connected (see `Listening`). */
  readonly session: string
  /**
   * Calls back after every outage of the connection, once listening again: subscribers must read again,
   * because notifications may have been missed. Returns a function that ends it.
   */
  onReconnect(callback: () => void): () => void
  /** Resolves once listening; rejects when the first connection fails. */
  start(): Promise<void>
  /** Sends pending notifications, then closes the connection. */
  stop(): Promise<void>
}

export interface NotifierOptions {
  url: string
  pool: Queryable
  log: Logger
  clock: Clock
}

const CHANNEL = 'ams'
const NOTIFY = { name: 'notify', text: 'select pg_notify($1, payload) from unnest($2::text[]) as payload' }

const payloadOf = (topic: string, key: string): string => JSON.stringify(['', topic, key])

/**
 * Notifies every process when the transaction commits, and not at all if it does not. For changes that are rare:
 * a commit with a notification takes a lock that all of them share.
 */
export const notifyOnCommit = async (
  tx: Pick<Prisma.TransactionClient, '$executeRaw'>,
  topic: string,
  key: string,
): Promise<void> => {
  await tx.$executeRaw`select pg_notify(${CHANNEL}, ${payloadOf(topic, key)})`
}

/** PostgreSQL refuses a payload of 8000 bytes. */
const PAYLOAD_BYTES = 7900
/**
 * Minimum time in milliseconds between two statements that notify: meanwhile, notifications are collected and
 * sent together. NOTIFY takes a lock at commit, so many small ones would queue up behind each other. The first
 * one after a pause is sent immediately, because its reader waits for it.
 */
const INTERVAL_MS = 3
type Listener = (key: string) => void

/**
 * Packs topics and their keys into few payloads below the size limit: `[instance, topic, key, key, …]` as
 * JSON.
 */
export function packPayloads(instance: string, topics: Map<string, Set<string>>): string[] {
  const payloads: string[] = []
  for (const [topic, keys] of topics) {
    const head = JSON.stringify([instance, topic]).slice(0, -1)
    let body = ''
    for (const key of keys) {
      const item = `,${JSON.stringify(key)}`
      if (body !== '' && Buffer.byteLength(head + body + item) + 1 > PAYLOAD_BYTES) {
        payloads.push(`${head}${body}]`)
        body = ''
      }
      body += item
    }
    payloads.push(`${head}${body}]`)
  }
  return payloads
}

/**
 * Delivers to subscribers. One that throws does not affect the others. Every process hears of each event of the
 * installation, most of which concern it not: so a key costs a look-up and no allocation.
 */
class Subscribers {
  /** The lists are replaced, never changed: a listener may end subscriptions, also its own. */
  readonly #byTopic = new Map<string, readonly Listener[]>()
  readonly #log: Logger

  constructor(log: Logger) {
    this.#log = log
  }

  add(topic: string, listener: Listener): () => void {
    this.#byTopic.set(topic, [...(this.#byTopic.get(topic) ?? []), listener])
    return () => {
      const others = this.#byTopic.get(topic)?.filter((other) => other !== listener) ?? []
      if (others.length > 0) this.#byTopic.set(topic, others)
      else this.#byTopic.delete(topic)
    }
  }

  deliver(topic: string, key: string): void {
    const listeners = this.#byTopic.get(topic)
    if (listeners === undefined) return
    for (const listener of listeners) {
      try {
        listener(key)
      } catch (error) {
        this.#report(error)
      }
    }
  }

  run(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      this.#report(error)
    }
  }

  #report(error: unknown): void {
    this.#log.error({ err: error }, 'notification subscriber failed')
  }
}

/** Collects notifications and sends them, one statement at a time. */
class Sender {
  readonly #instance: string
  readonly #options: NotifierOptions
  #waiting = new Map<string, Set<string>>()
  #sending: Promise<void> | undefined
  #sentAt = Number.NEGATIVE_INFINITY

  constructor(instance: string, options: NotifierOptions) {
    this.#instance = instance
    this.#options = options
  }

  add(topic: string, key: string): void {
    const keys = this.#waiting.get(topic) ?? new Set()
    this.#waiting.set(topic, keys.add(key))
    this.#sending ??= this.#drain().finally(() => (this.#sending = undefined))
  }

  async #drain(): Promise<void> {
    while (this.#waiting.size > 0) {
      await this.#gathered()
      this.#sentAt = performance.now()
      const payloads = packPayloads(this.#instance, this.#waiting)
      this.#waiting = new Map()
      try {
        await this.#options.pool.query({ ...NOTIFY, values: [CHANNEL, payloads] })
      } catch (error) {
        this.#options.log.warn({ error: (error as Error).message }, 'could not notify other processes')
      }
    }
  }

  /** Resolves when the next statement may be sent, but never within the same turn of the event loop. */
  async #gathered(): Promise<void> {
    const wait = this.#sentAt + INTERVAL_MS - performance.now()
    await new Promise<void>((resolve) => {
      if (wait > 0) setTimeout(resolve, wait)
      else setImmediate(resolve)
    })
  }

  async flush(): Promise<void> {
    await this.#sending
  }
}

export function createNotifier(options: NotifierOptions): Notifier {
  const instance = randomUUID().slice(0, 8)
  const own = `[${JSON.stringify(instance)},`
  const subscribers = new Subscribers(options.log)
  const reconnected = new Set<() => void>()
  const sender = new Sender(instance, options)
  const onPayload = (payload: string) => {
    if (payload.startsWith(own)) return
    const parts = JSON.parse(payload) as [string, string, ...string[]]
    for (let at = 2; at < parts.length; at++) subscribers.deliver(parts[1], parts[at]!)
  }
  const listening = new Listening(
    { ...options, channel: CHANNEL },
    (payload) => subscribers.run(() => onPayload(payload)),
    () => {
      for (const callback of [...reconnected]) subscribers.run(callback)
    },
  )
  return {
    publish(topic, key, { toSelf } = { toSelf: true }) {
      if (toSelf) subscribers.deliver(topic, key)
      sender.add(topic, key)
    },
    subscribe: (topic, listener) => subscribers.add(topic, listener),
    session: listening.session,
    onReconnect(callback) {
      reconnected.add(callback)
      return () => reconnected.delete(callback)
    },
    start: () => listening.start(),
    async stop() {
      await sender.flush()
      await listening.stop()
    },
  }
}
