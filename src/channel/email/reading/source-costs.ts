interface Cost {
  /** Average CPU time of recent messages in milliseconds; null until the first one was read. */
  averageMs: number | null
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
/** Weight of the latest message in the moving average. */
const WEIGHT = 0.3
const MAX_SOURCES = 10_000

/** Tracks what the messages of each source cost, so that slow messages delay only their own source. */
export class SourceCosts {
  readonly #costs = new Map<string, Cost>()

  /**
   * Whether another message of the source may be read now. New and slow sources are limited to one at a time.
   */
  mayStart(source: string): boolean {
    const { averageMs = null, running = 0 } = this.#costs.get(source) ?? {}
    return running === 0 || (averageMs !== null && averageMs < SLOW_MS)
  }

  /** Whether messages of the source are known to be fast. */
  isFast(source: string): boolean {
    return (this.#costs.get(source)?.averageMs ?? FAST_MS) < FAST_MS
  }

  /** Whether messages of the source are known to block a worker. */
  isBlocking(source: string): boolean {
    return (this.#costs.get(source)?.averageMs ?? 0) >= BLOCKING_MS
  }

  started(source: string): void {
    const cost = this.#costs.get(source) ?? { averageMs: null, running: 0 }
    cost.running++
    // Re-inserted to keep the map in order of last use; the first entry is forgotten first.
    this.#costs.delete(source)
    this.#costs.set(source, cost)
    this.#forget()
  }

  /** `ms`: parse time of the message; null if unknown. */
  stopped(source: string, ms: number | null): void {
    const cost = this.#costs.get(source)
    if (cost === undefined) return
    cost.running--
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
