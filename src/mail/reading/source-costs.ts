import type { Origin } from './fair-queue.ts'

/** What the recent messages of a sender or of a source cost. */
export interface Cost {
  /** Average CPU time of recent messages in milliseconds; null until the first one was read. */
  averageMs: number | null
  /** Average time in milliseconds for which recent messages waited for DNS. */
  waitMs: number
  running: number
}

/** Average from which a sender may have only one message read at a time. See docs/decisions.md#time-to-read-mail. */
const SLOW_MS = 100
/**
 * A first message takes up to FAST_MS in a cold thread on a busy machine. No ordinary message takes
 * BLOCKING_MS.
 */
const FAST_MS = 250
const BLOCKING_MS = 1_000
/** Average wait for DNS from which a sender or a source may have only `MAX_WHEN_WAITING` messages read at a time. */
const LONG_WAIT_MS = 1_000
const MAX_WHEN_WAITING = 4
/**
 * Maximum number of messages read at a time for a gateway's senders that are not known to be fast.
 */
const MAX_PER_GATEWAY = 8
/** Weight of the latest message in the moving average. */
const WEIGHT = 0.3
const MAX_SOURCES = 10_000

const NO_COST: Readonly<Cost> = { averageMs: null, waitMs: 0, running: 0 }

const isFast = ({ averageMs, waitMs }: Cost): boolean =>
  (averageMs ?? FAST_MS) < FAST_MS && waitMs < LONG_WAIT_MS

/**
 * Tracks what the messages of each sender cost, so that slow messages delay only their own sender; and what those
 * of all senders behind a gateway cost that are not known to be fast, since somebody may name a new one each time.
 */
export class SourceCosts {
  readonly #costs = new Map<string, Cost>()

  /**
   * Whether another message of the sender may be read now. New and slow senders are limited to one at a time, and
   * those in domains that do not answer to a few, together with all such senders of their source.
   */
  mayStart(origin: Origin): boolean {
    const own = this.#of(origin)
    const mayOwn =
      own.running === 0 ||
      (own.averageMs !== null &&
        own.averageMs < SLOW_MS &&
        (own.waitMs < LONG_WAIT_MS || own.running < MAX_WHEN_WAITING))
    return mayOwn && (isFast(own) || !this.isFull(origin.source))
  }

  /** Whether the source is a gateway that may have no more messages read of senders that are not known to be fast. */
  isFull(source: string): boolean {
    const { waitMs, running } = this.#costs.get(source) ?? NO_COST
    return running >= (waitMs < LONG_WAIT_MS ? MAX_PER_GATEWAY : MAX_WHEN_WAITING)
  }

  /** Whether messages of the sender are known to be fast, and to be verified without a long wait. */
  isFast(origin: Origin): boolean {
    return isFast(this.#of(origin))
  }

  /** Whether messages of the sender are known to block a worker. */
  isBlocking(origin: Origin): boolean {
    return (this.#of(origin).averageMs ?? 0) >= BLOCKING_MS
  }

  /** Returns the costs that the message counts towards, for `stopped`. */
  started(origin: Origin): readonly Cost[] {
    const counted = origin.sender === '' || this.isFast(origin) ? [] : [origin.source]
    return [keyOf(origin), ...counted].map((key) => {
      const cost = this.#costs.get(key) ?? { ...NO_COST }
      cost.running++
      // Re-inserted to keep the map in order of last use; the first entry is forgotten first.
      this.#costs.delete(key)
      this.#costs.set(key, cost)
      this.#forget()
      return cost
    })
  }

  /**
   * `ms`: parse time of the message; null if it was not read to its end. `waitedMs`: how long it waited for DNS; one
   * whose sender is evicted would have waited longer.
   */
  stopped(costs: readonly Cost[], ms: number | null, waitedMs: number): void {
    for (const cost of costs) {
      cost.running--
      if (ms !== null || waitedMs > cost.waitMs) cost.waitMs += (waitedMs - cost.waitMs) * WEIGHT
      if (ms !== null)
        cost.averageMs = cost.averageMs === null ? ms : cost.averageMs + (ms - cost.averageMs) * WEIGHT
    }
  }

  /** Records the minimum parse time of a message that is still being read. */
  tookAtLeast(origin: Origin, ms: number): void {
    const cost = this.#costs.get(keyOf(origin))
    if (cost) cost.averageMs = Math.max(cost.averageMs ?? 0, ms)
  }

  #of(origin: Origin): Readonly<Cost> {
    return this.#costs.get(keyOf(origin)) ?? NO_COST
  }

  #forget(): void {
    if (this.#costs.size <= MAX_SOURCES) return
    for (const [source, { running }] of this.#costs) {
      if (running > 0) continue
      this.#costs.delete(source)
      return
    }
  }
}

/** The source alone, which contains no space, is the key of what its senders cost together. */
const keyOf = ({ source, sender }: Origin): string => `${source} ${sender}`
