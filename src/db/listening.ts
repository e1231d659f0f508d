import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { type Clock, inTime } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { SCHEMA } from './schema.ts'

export interface ListeningOptions {
  url: string
  /** Name of the channel of PostgreSQL. */
  channel: string
  log: Logger
  clock: Clock
}

/**
 * Rare enough for a server that is starting, and frequent enough that events are received within a second of
 * its return.
 */
const BACKOFF_MS = { initial: 50, max: 1000 }
/**
 * Interval of the checks of a silent connection: a firewall may drop it silently, and LISTEN never writes by
 * itself.
 */
const PROBE_MS = 15_000

/**
 * The connection that listens. It reconnects automatically. While it is connected it holds an advisory lock that no
 * other process asks for: PostgreSQL releases it when the process ends, however it ends, so that others can see
 * that it is gone.
 */
export class Listening {
  /** A random key. Shared, because after a broken connection its session may still hold the lock. */
  readonly session = randomBytes(8).readBigInt64BE().toString()
  readonly #options: ListeningOptions
  readonly #onPayload: (payload: string) => void
  readonly #onReconnect: () => void
  readonly #stopped = new AbortController()
  #client: pg.Client | undefined
  #probing: Promise<boolean> | undefined
  #loop: Promise<void> | undefined

  constructor(options: ListeningOptions, onPayload: (payload: string) => void, onReconnect: () => void) {
    this.#options = options
    this.#onPayload = onPayload
    this.#onReconnect = onReconnect
  }

  /** Resolves once it listens, with a promise that resolves when the connection is lost. */
  async #connect(): Promise<{ lost: Promise<void> }> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      application_name: `ams-listen/${SCHEMA}`,
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
      await client.query('select pg_advisory_lock_shared($1)', [this.session])
      await client.query(`LISTEN "${this.#options.channel}"`)
    } catch (error) {
      void client.end().catch(() => undefined)
      throw error
    }
    this.#client = client
    const probe = setInterval(() => void this.#probe(client), PROBE_MS).unref()
    return { lost: lost.finally(() => clearInterval(probe)) }
  }

  /** Resolves with whether the server answers on this connection; one that does not is closed. One probe at a time. */
  #probe(client: pg.Client): Promise<boolean> {
    this.#probing ??= client
      .query('SELECT 1')
      .then(
        () => true,
        () => {
          void client.end().catch(() => undefined)
          return false
        },
      )
      .finally(() => (this.#probing = undefined))
    return this.#probing
  }

  /**
   * Resolves with whether the connection has delivered all notifications that were committed before the call: the server sends
   * them in order, before the answer to a query. False when there is no answer within `ms` milliseconds.
   */
  async isUpToDate(ms: number): Promise<boolean> {
    const client = this.#client
    if (client === undefined) return false
    const answered = await inTime(this.#probe(client), ms, this.#options.clock)
    return answered === true && client === this.#client
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
      this.#options.log.info({}, 'listening for database notifications again')
      this.#onReconnect()
    }
  }

  async #reconnect(): Promise<{ lost: Promise<void> } | undefined> {
    const { signal } = this.#stopped
    for (let pause = BACKOFF_MS.initial; !signal.aborted; pause = Math.min(pause * 2, BACKOFF_MS.max)) {
      try {
        return await this.#connect()
      } catch (error) {
        this.#options.log.warn(
          { error: (error as Error).message },
          'could not listen for database notifications; retrying',
        )
        await this.#options.clock.sleep(pause / 2 + Math.random() * (pause / 2), signal)
      }
    }
    return undefined
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#client?.end().catch(() => undefined)
    await this.#loop
    await this.#client?.end().catch(() => undefined) // it reconnected just then
  }
}
