import type { Clock } from './clock.ts'

/** Maximum number of sources in a window; beyond it, the one that was counted first is dropped. */
const MAX_SOURCES = 100_000

/**
 * Counts events for each source within the current window, in this process. All sources share the same
 * windows.
 */
export class WindowCounts {
  readonly #clock: Clock
  readonly #windowMs: number
  readonly #counts = new Map<string, number>()
  #window = 0

  constructor(clock: Clock, windowMs: number) {
    this.#clock = clock
    this.#windowMs = windowMs
  }

  of(source: string): number {
    this.#turn()
    return this.#counts.get(source) ?? 0
  }

  note(source: string): void {
    this.#counts.set(source, this.of(source) + 1)
    if (this.#counts.size > MAX_SOURCES) this.#counts.delete(this.#counts.keys().next().value!)
  }

  /** Seconds until the current window ends. */
  get resetSeconds(): number {
    const now = this.#turn()
    return Math.ceil(((this.#window + 1) * this.#windowMs - now) / 1000)
  }

  #turn(): number {
    const now = this.#clock.now().getTime()
    const window = Math.floor(now / this.#windowMs)
    if (window !== this.#window) {
      this.#window = window
      this.#counts.clear()
    }
    return now
  }
}
