import { type Clock, systemClock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import type { OwnedParts } from '../../worker/index.ts'
import { leaseDue, markBehind, nextDueAt } from './lane/due-lanes.ts'
import type { Lease } from './lane/lease.ts'
import type { LaneReader } from './lane-reader.ts'

export interface PollDeps extends Db {
  lease: Lease
  clock: Clock
  log: Logger
  parts: Pick<OwnedParts, 'bits'>
  reader: Pick<LaneReader, 'lease' | 'availableForRetrying'>
  everyMs: number
}

const BACKOFF_MS = 500

/**
 * Minimum time in milliseconds between polls, so that thousands of retries due in a second are leased
 * together.
 */
const INTERVAL_MS = 50

/**
 * Age in milliseconds of events that the poll looks at again, beyond the time since the last poll: an event is
 * dated before it is committed, and by the clock of another machine.
 */
const OVERLAP_MS = 10_000

/** Interval in milliseconds at which all webhooks are read, for what neither marks nor new events show. */
const MARK_MS = 10 * 60_000

/**
 * Leases lanes whose retry is due, and periodically those with events that no notification announced; those of other
 * workers' parts when they are late.
 */
export class Poll {
  readonly #deps: PollDeps
  #pause = new AbortController()
  #running = false
  #polling: Promise<void> = Promise.resolve()
  /** Times of the last poll that leased all due lanes, and of the last reading of all webhooks. */
  #completeAt = performance.now()
  #markedAt = Number.NEGATIVE_INFINITY

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
    const { clock, reader, lease, parts, everyMs } = this.#deps
    const now = clock.now()
    const from = performance.now()
    if (from - this.#markedAt >= MARK_MS) {
      await markBehind(this.#deps)
      this.#markedAt = from
    }
    const newMs = from - this.#completeAt + OVERLAP_MS
    const isFull = await reader.lease((lanes) => {
      const limits = { lanes, retrying: reader.availableForRetrying }
      return leaseDue(this.#deps, { lease, now, limits, newMs, parts: parts.bits })
    })
    if (!isFull) this.#completeAt = from
    const dueAt = await nextDueAt(this.#deps, { now, withinMs: everyMs, parts: parts.bits })
    return Math.max(
      0,
      Math.min(everyMs, dueAt ? dueAt.getTime() - clock.now().getTime() : Number.POSITIVE_INFINITY),
    )
  }
}
