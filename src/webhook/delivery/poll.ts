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
  reader: Pick<LaneReader, 'lease' | 'availableForRetrying'>
  everyMs: number
}

const BACKOFF_MS = 500

/**
 * Minimum time in milliseconds between polls, so that thousands of retries due in a second are leased
 * together.
 */
const INTERVAL_MS = 50

/** Leases lanes whose retry is due, and periodically those with events that no notification announced. */
export class Poll {
  readonly #deps: PollDeps
  #pause = new AbortController()
  #running = false
  #polling: Promise<void> = Promise.resolve()

  constructor(deps: PollDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#running = true
    this.#polling = this.#keepPolling()
  }

  /** Polls immediately. */
  now(): void {
    this.#pause.abort()
  }

  /** Stops polling; resolves when no poll is in progress. */
  stop(): Promise<void> {
    this.#running = false
    this.#pause.abort()
    return this.#polling
  }

  async #keepPolling(): Promise<void> {
    const { clock, log } = this.#deps
    while (this.#running) {
      this.#pause = new AbortController()
      const { signal } = this.#pause
      try {
        const from = performance.now()
        const wait = await this.#poll()
        if (this.#running) await clock.sleep(wait, signal)
        if (this.#running) await systemClock.sleep(from + INTERVAL_MS - performance.now(), signal)
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'could not check for due webhooks; retrying')
        await systemClock.sleep(BACKOFF_MS, signal)
      }
    }
  }

  /** Returns the time in milliseconds to wait until the next poll. */
  async #poll(): Promise<number> {
    const { clock, reader, lease, everyMs } = this.#deps
    const now = clock.now()
    await reader.lease((lanes) =>
      leaseDue(this.#deps, { lease, now, limits: { lanes, retrying: reader.availableForRetrying } }),
    )
    const retryAt = await nextRetryAt(this.#deps, now)
    return Math.max(
      0,
      Math.min(everyMs, retryAt ? retryAt.getTime() - clock.now().getTime() : Number.POSITIVE_INFINITY),
    )
  }
}
