import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { Queryable } from './client.ts'

/**
 * Tells every process, this one first, that something with a key has changed. A hint to look, not a queue:
 * subscribers re-read.
 */
export interface Notifier {
  /**
   * Call it after the commit. This process's subscribers hear it before it returns; the others within
   * milliseconds, in no promised order, equal ones once. Never throws and never waits: what could not be sent
   * is lost, and the slow poll of each subscriber is the net. `toSelf: false` leaves this process out, which
   * then has better news of its own.
   */
  publish(topic: string, key: string, options?: { toSelf: boolean }): void
  /** Returns what ends the subscription. */
  subscribe(topic: string, listener: (key: string) => void): () => void
  /**
   * Called after every time without a connection, when listening again: re-read, something may have been
   * missed. Returns its end.
   */
  onReconnect(callback: () => void): () => void
  /** Resolves once listening, or rejects when the first connection fails. */
  start(): Promise<void>
  /** Sends what is waiting, then closes the connection. */
  stop(): Promise<void>
}

export interface NotifierOptions {
  url: string
  pool: Queryable
  log: Logger
  clock: Clock
}

const CHANNEL = 'ams'
/** PostgreSQL refuses a payload of 8000 bytes. */
const PAYLOAD_BYTES = 7900
/**
 * What is published within this time goes out together. NOTIFY takes a lock at commit: many small ones queue
 * up behind each other.
 */
const GATHER_MS = 3
/**
 * Seldom enough for a server that is starting, soon enough that events are heard within a second of its being
 * back.
 */
const BACKOFF_MS = { first: 50, most: 1000 }
/**
 * How long a silent connection is believed: a firewall drops it without a word, and LISTEN never writes by
 * itself.
 */
const PROBE_MS = 15_000

type Listener = (key: string) => void

/**
 * `topic`s with their keys as few payloads under the size limit: `[instance, topic, key, key, …]` as JSON.
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

/** Delivers to subscribers; one that throws does not keep the others from hearing it. */
class Subscribers {
  readonly #byTopic = new Map<string, Set<Listener>>()
  readonly #log: Logger

  constructor(log: Logger) {
    this.#log = log
  }

  add(topic: string, listener: Listener): () => void {
    const listeners = this.#byTopic.get(topic) ?? new Set()
    this.#byTopic.set(topic, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#byTopic.get(topic) === listeners) this.#byTopic.delete(topic)
    }
  }

  deliver(topic: string, key: string): void {
    for (const listener of [...(this.#byTopic.get(topic) ?? [])]) this.run(() => listener(key))
  }

  run(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      this.#log.error({ err: error }, 'a subscriber failed')
    }
  }
}

/** Gathers what is published and sends it, one statement at a time. */
class Sender {
  readonly #instance: string
  readonly #options: NotifierOptions
  #waiting = new Map<string, Set<string>>()
  #sending: Promise<void> | undefined

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
    await new Promise((resolve) => setTimeout(resolve, GATHER_MS))
    while (this.#waiting.size > 0) {
      const payloads = packPayloads(this.#instance, this.#waiting)
      this.#waiting = new Map()
      try {
        await this.#options.pool.query('SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload', [
          CHANNEL,
          payloads,
        ])
      } catch (error) {
        this.#options.log.warn({ error: (error as Error).message }, 'other processes could not be notified')
      }
    }
  }

  async flush(): Promise<void> {
    await this.#sending
  }
}

/** The one connection that listens; it comes back by itself. */
class Listening {
  readonly #options: NotifierOptions
  readonly #onPayload: (payload: string) => void
  readonly #onReconnect: () => void
  readonly #stopped = new AbortController()
  #client: pg.Client | undefined
  #loop: Promise<void> | undefined

  constructor(options: NotifierOptions, onPayload: (payload: string) => void, onReconnect: () => void) {
    this.#options = options
    this.#onPayload = onPayload
    this.#onReconnect = onReconnect
  }

  /** Resolves, with what resolves when the connection is lost, once it listens. */
  async #connect(): Promise<{ lost: Promise<void> }> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      application_name: 'ams-listen',
      connectionTimeoutMillis: 5000,
      query_timeout: 5000,
      keepAlive: true,
    })
    const lost = new Promise<void>((resolve) => {
      client.once('end', resolve)
      client.on('error', () => resolve())
    })
    client.on('notification', ({ payload }) => this.#onPayload(payload ?? ''))
    try {
      await client.connect()
      await client.query(`LISTEN "${CHANNEL}"`)
    } catch (error) {
      void client.end().catch(() => undefined)
      throw error
    }
    this.#client = client
    const probe = setInterval(
      () => client.query('SELECT 1').catch(() => client.end().catch(() => undefined)),
      PROBE_MS,
    ).unref()
    return { lost: lost.finally(() => clearInterval(probe)) }
  }

  async start(): Promise<void> {
    const { lost } = await this.#connect()
    this.#loop = this.#keep(lost)
  }

  async #keep(first: Promise<void>): Promise<void> {
    let lost = first
    while (!this.#stopped.signal.aborted) {
      await lost
      this.#client = undefined
      const next = await this.#reconnect()
      if (!next) return
      lost = next.lost
      this.#options.log.info({}, 'listening to the database again')
      this.#onReconnect()
    }
  }

  async #reconnect(): Promise<{ lost: Promise<void> } | undefined> {
    const { signal } = this.#stopped
    for (let pause = BACKOFF_MS.first; !signal.aborted; pause = Math.min(pause * 2, BACKOFF_MS.most)) {
      try {
        return await this.#connect()
      } catch (error) {
        this.#options.log.warn({ error: (error as Error).message }, 'cannot listen to the database')
        await this.#options.clock.sleep(pause / 2 + Math.random() * (pause / 2), signal)
      }
    }
    return undefined
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#client?.end().catch(() => undefined)
    await this.#loop
    await this.#client?.end().catch(() => undefined) // it came back just then
  }
}

export function createNotifier(options: NotifierOptions): Notifier {
  const instance = randomUUID().slice(0, 8)
  const subscribers = new Subscribers(options.log)
  const reconnected = new Set<() => void>()
  const sender = new Sender(instance, options)
  const onPayload = (payload: string) => {
    const [from, topic, ...keys] = JSON.parse(payload) as [string, string, ...string[]]
    if (from !== instance) for (const key of keys) subscribers.deliver(topic, key)
  }
  const listening = new Listening(
    options,
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
