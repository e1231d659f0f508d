import { randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { Queryable } from './client.ts'
import type { Prisma } from './generated/prisma/client.ts'
import { Listening } from './listening.ts'
import { type Cipher, type Contents, packPayloads, readPayload } from './payload.ts'

/**
 * Notifies every process, this one first, that something with a key has changed. A notification is only a
 * hint: subscribers read the data again, unless its contents are what they would read.
 */
export interface Notifier {
  /**
   * To be called after the commit. This process's subscribers are notified before it returns; the others
   * within milliseconds, in no particular order, and duplicates are merged. Never throws and never waits: a
   * notification that could not be sent is lost, and each subscriber's slow poll makes up for it.
   */
  publish(topic: string, key: string, options?: PublishOptions): void
  /** Returns a function that ends the subscription. Only notifications of other processes have contents. */
  subscribe(topic: string, listener: (key: string, contents: Contents | null) => void): () => void
  /** Key of the advisory lock that tells other processes whether this one is connected (see `Listening`). */
  readonly session: string
  /**
   * Calls back after every outage of the connection, once listening again: subscribers must read again,
   * because notifications may have been missed. Returns a function that ends it.
   */
  onReconnect(callback: () => void): () => void
  /**
   * Resolves with whether this process has heard of all commits before the call that notified with `notifyOnCommit`; false when
   * the server does not answer within `ms` milliseconds.
   */
  isUpToDate(ms: number): Promise<boolean>
  /** Resolves once listening; rejects when the first connection fails. */
  start(): Promise<void>
  /** Sends pending notifications, then closes the connection. */
  stop(): Promise<void>
}

export interface PublishOptions {
  /** `false` skips this process, when it passes on the change itself; true if left out. */
  toSelf?: boolean
  /** `false` when a transaction has notified the others; true if left out. */
  toOthers?: boolean
  /** Returns JSON that saves the other processes reading the database; null when they must read it. */
  content?(): string | null
}

export interface NotifierOptions {
  url: string
  pool: Queryable
  log: Logger
  clock: Clock
  /** Returns the cipher for the contents that a process sends, by its random name. Without it, nothing has contents. */
  cipherOf?(instance: string): Cipher
}

const CHANNEL = 'ams'
const NOTIFY = {
  name: 'notify',
  text: 'select pg_notify($1, payload), pg_notification_queue_usage() as used from unnest($2::text[]) as payload',
}

/**
 * Notifies every process when the transaction commits, and not at all if it does not. For changes that are rare:
 * a commit with a notification takes a lock that all of them share.
 */
export const notifyOnCommit = async (
  tx: Pick<Prisma.TransactionClient, '$executeRaw'>,
  topic: string,
  ...keys: readonly string[]
): Promise<void> => {
  if (keys.length === 0) return
  const payloads = packPayloads('', new Map([[topic, new Map(keys.map((key) => [key, null]))]]))
  await tx.$executeRaw`select pg_notify(${CHANNEL}, payload) from unnest(${payloads}::text[]) as payload`
}

/**
 * Minimum time in milliseconds between two statements that notify: meanwhile, notifications are collected and
 * sent together. NOTIFY takes a lock at commit, so many small ones would queue up behind each other. The first
 * one after a pause is sent immediately, because its reader waits for it.
 */
const INTERVAL_MS = 3
/**
 * Maximum number of characters of contents in one statement; the rest is read from the database, which costs less per event when
 * there are hundreds.
 */
const MAX_CONTENTS = 64_000

/**
 * Share of PostgreSQL's queue of notifications (8 GB) from which on none has contents: the queue grows while a process is suspended.
 */
const MAX_QUEUE_USED = 0.01

type Listener = (key: string, contents: Contents | null) => void

/**
 * Delivers to subscribers. One that throws does not affect the others. Every process is notified of each event of the
 * installation, and most do not concern it, so a key costs a lookup and no allocation.
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

  deliver(topic: string, key: string, contents: Contents | null = null): void {
    const listeners = this.#byTopic.get(topic)
    if (listeners === undefined) return
    for (const listener of listeners) {
      try {
        listener(key, contents)
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
  readonly #cipher: Cipher | null
  #waiting = new Map<string, Map<string, string[] | null>>()
  /** Number of characters of their contents. */
  #contentLength = 0
  #queueUsed = 0
  #sending: Promise<void> | undefined
  #sentAt = Number.NEGATIVE_INFINITY

  constructor(instance: string, options: NotifierOptions) {
    this.#instance = instance
    this.#options = options
    this.#cipher = options.cipherOf?.(instance) ?? null
  }

  add(topic: string, key: string, content?: () => string | null): void {
    const keys = this.#waiting.get(topic) ?? new Map<string, string[] | null>()
    this.#waiting.set(topic, keys)
    const before = keys.get(key)
    const text = before === null || !this.#takesContents ? null : (content?.() ?? null)
    this.#contentLength += text?.length ?? 0
    if (text === null) keys.set(key, null)
    else if (before) before.push(text)
    else keys.set(key, [text])
    this.#sending ??= this.#drain().finally(() => (this.#sending = undefined))
  }

  get #takesContents(): boolean {
    return this.#cipher !== null && this.#contentLength <= MAX_CONTENTS && this.#queueUsed < MAX_QUEUE_USED
  }

  async #drain(): Promise<void> {
    while (this.#waiting.size > 0) {
      await this.#gathered()
      this.#sentAt = performance.now()
      const payloads = packPayloads(this.#instance, this.#waiting, this.#cipher)
      this.#waiting = new Map()
      this.#contentLength = 0
      try {
        const { rows } = await this.#options.pool.query<{ used: number }>({
          ...NOTIFY,
          values: [CHANNEL, payloads],
        })
        this.#queueUsed = rows[0]!.used
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

/** Most ciphers of other processes that are kept. */
const MAX_CIPHERS = 1_000

/** Returns the same function, which derives a process's cipher once. */
const kept = (cipherOf: (instance: string) => Cipher): ((instance: string) => Cipher) => {
  const ciphers = new Map<string, Cipher>()
  return (instance) => {
    const cipher = ciphers.get(instance) ?? cipherOf(instance)
    if (ciphers.size >= MAX_CIPHERS) ciphers.clear() // others have come and gone
    ciphers.set(instance, cipher)
    return cipher
  }
}

export function createNotifier(options: NotifierOptions): Notifier {
  const instance = randomUUID().slice(0, 8)
  const subscribers = new Subscribers(options.log)
  const reconnected = new Set<() => void>()
  const sender = new Sender(instance, options)
  const ciphers = options.cipherOf ? kept(options.cipherOf) : null
  const onPayload = (payload: string) => {
    const read = readPayload(payload, instance, ciphers)
    if (read === null) return
    for (const key of read.keys) subscribers.deliver(read.topic, key, read.contents)
  }
  const listening = new Listening(
    { ...options, channel: CHANNEL },
    (payload) => subscribers.run(() => onPayload(payload)),
    () => {
      for (const callback of [...reconnected]) subscribers.run(callback)
    },
  )
  return {
    publish(topic, key, { toSelf = true, toOthers = true, content } = {}) {
      if (toSelf) subscribers.deliver(topic, key)
      if (toOthers) sender.add(topic, key, content)
    },
    subscribe: (topic, listener) => subscribers.add(topic, listener),
    session: listening.session,
    onReconnect(callback) {
      reconnected.add(callback)
      return () => reconnected.delete(callback)
    },
    isUpToDate: (ms) => listening.isUpToDate(ms),
    start: () => listening.start(),
    async stop() {
      await sender.flush()
      await listening.stop()
    },
  }
}
