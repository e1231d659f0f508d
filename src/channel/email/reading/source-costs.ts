interface Cost {
  /**
   * Milliseconds of computing that its recent messages took on average; null before the first one was read.
   */
  averageMs: number | null
  running: number
}

/**
 * Messages that take longer on average make their source wait for each of them. Ordinary mail takes 1 to 20
 * ms.
 */
const SLOW_MS = 100
/** So long takes a first message in a cold thread on a busy machine; and so long, no ordinary one. */
const FAST_MS = 250
const BLOCKING_MS = 1_000
/** The weight of the latest message. */
const WEIGHT = 0.3
const MAX_SOURCES = 10_000

/** What the messages of each source cost, so that slow ones delay nobody but their own source. */
export class SourceCosts {
  readonly #costs = new Map<string, Cost>()

  /** Whether a source may have another message read now: one that is new or slow has one at a time. */
  mayStart(source: string): boolean {
    const { averageMs = null, running = 0 } = this.#costs.get(source) ?? {}
    return running === 0 || (averageMs !== null && averageMs < SLOW_MS)
  }

  /** Whether its messages are known to be read fast. */
  isFast(source: string): boolean {
    return (this.#costs.get(source)?.averageMs ?? FAST_MS) < FAST_MS
  }

  /** Whether its messages are known to block a thread. */
  isBlocking(source: string): boolean {
    return (this.#costs.get(source)?.averageMs ?? 0) >= BLOCKING_MS
  }

  started(source: string): void {
    const cost = this.#costs.get(source) ?? { averageMs: null, running: 0 }
    cost.running++
    // The one that was heard of longest ago stands first, and is forgotten first.
    this.#costs.delete(source)
    this.#costs.set(source, cost)
    this.#forget()
  }

  /** `ms`: what the message took; null when that is not known. */
  stopped(source: string, ms: number | null): void {
    const cost = this.#costs.get(source)
    if (cost === undefined) return
    cost.running--
    if (ms !== null)
      cost.averageMs = cost.averageMs === null ? ms : cost.averageMs + (ms - cost.averageMs) * WEIGHT
  }

  /** A message that is still being read has taken so long already. */
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
