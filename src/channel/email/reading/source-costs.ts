interface Cost {
  /** Average CPU time of recent messages in milliseconds; null until the first one was read. */
  averageMs: number | null
  /** Average time in milliseconds for which recent messages waited for DNS. */
  waitMs: number
  running: number
}

/** Average from which a source may have only one message read at a time. Ordinary mail takes 1 to 20 ms. */
const SLOW_MS = 100
/**
 * A first message takes up to FAST_MS in a cold thread on a busy machine. No ordinary message takes
 * BLOCKING_MS.
 */
const FAST_MS = 250
const BLOCKING_MS = 1_000
/** Average wait for DNS from which a source may have only `MAX_WHEN_WAITING` messages read at a time. */
const LONG_WAIT_MS = 1_000
const MAX_WHEN_WAITING = 4
/** Weight of the latest message in the moving average. */
const WEIGHT = 0.3
const MAX_SOURCES = 10_000

/** Tracks what the messages of each source cost, so that slow messages delay only their own source. */
export class SourceCosts {
  readonly #costs = new Map<string, Cost>()

  /**
   * Whether another message of the source may be read now. New and slow sources are limited to one at a time, and
   * those whose senders are in domains that do not answer to a few.
   */
  mayStart(source: string): boolean {
    const { averageMs = null, waitMs = 0, running = 0 } = this.#costs.get(source) ?? {}
    if (running === 0) return true
    if (averageMs === null || averageMs >= SLOW_MS) return false
    return waitMs < LONG_WAIT_MS || running < MAX_WHEN_WAITING
  }

  /** Whether messages of the source are known to be fast, and to be verified without a long wait. */
  isFast(source: string): boolean {
    const { averageMs, waitMs = 0 } = this.#costs.get(source) ?? {}
    return (averageMs ?? FAST_MS) < FAST_MS && waitMs < LONG_WAIT_MS
  }

  /** Whether messages of the source are known to block a worker. */
  isBlocking(source: string): boolean {
    return (this.#costs.get(source)?.averageMs ?? 0) >= BLOCKING_MS
  }

  started(source: string): void {
    const cost = this.#costs.get(source) ?? { averageMs: null, waitMs: 0, running: 0 }
    cost.running++
    // Re-inserted to keep the map in order of last use; the first entry is forgotten first.
    this.#costs.delete(source)
    this.#costs.set(source, cost)
    this.#forget()
  }

  /** `ms`: parse time of the message; null if unknown. `waitedMs`: how long it waited for DNS. */
  stopped(source: string, ms: number | null, waitedMs: number): void {
    const cost = this.#costs.get(source)
    if (cost === undefined) return
    cost.running--
    cost.waitMs += (waitedMs - cost.waitMs) * WEIGHT
    if (ms !== null)
      cost.averageMs = cost.averageMs === null ? ms : cost.averageMs + (ms - cost.averageMs) * WEIGHT
  }

  /** Records the minimum parse time of a message that is still being read. */
  tookAtLeast(source: string, ms: number): void {
    const cost = this.#costs.get(source)
    if (cost) cost.averageMs = Math.max(cost.averageMs ?? 0, ms)
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
