import { type Clock, systemClock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import type { LaneReader } from './lane-reader.ts'
import { type Lease, leaseDue, nextRetryAt } from './lease.ts'

export interface PollDeps extends Db {
  lease: Lease
  clock: Clock
  log: Logger
  reader: Pick<LaneReader, 'lease' | 'roomForSuspects'>
  everyMs: number
}

const BACKOFF_MS = 500

/** Least time between two: thousands of retries that are due within a second are leased together. */
const PACE_MS = 50

/**
 * Looks for due retries as they become due, and every now and then for lanes that no news told of (the net).
 */
export class Poll {
  readonly #deps: PollDeps
  #nap = new AbortController()
  #running = false
  #polling: Promise<void> = Promise.resolve()

  constructor(deps: PollDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#running = true
    this.#polling = this.#keepPolling()
  }

  /** Looks at once. */
  now(): void {
    this.#nap.abort()
  }

  /** Resolves when nothing is under way. */
  stop(): Promise<void> {
    this.#running = false
    this.#nap.abort()
    return this.#polling
  }

  async #keepPolling(): Promise<void> {
    const { clock, log } = this.#deps
    while (this.#running) {
      this.#nap = new AbortController()
      const { signal } = this.#nap
      try {
        const from = performance.now()
        const wait = await this.#poll()
        if (this.#running) await clock.sleep(wait, signal)
        if (this.#running) await systemClock.sleep(from + PACE_MS - performance.now(), signal)
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'could not look for due webhooks')
        await systemClock.sleep(BACKOFF_MS, signal)
      }
    }
  }

  /** Returns how long to wait until the next one, in milliseconds. */
  async #poll(): Promise<number> {
    const { clock, reader, lease, everyMs } = this.#deps
    const now = clock.now()
    await reader.lease((lanes) =>
      leaseDue(this.#deps, lease, now, { lanes, suspects: reader.roomForSuspects }),
    )
    const retryAt = await nextRetryAt(this.#deps, now)
    return Math.max(
      0,
      Math.min(everyMs, retryAt ? retryAt.getTime() - clock.now().getTime() : Number.POSITIVE_INFINITY),
    )
  }
}
