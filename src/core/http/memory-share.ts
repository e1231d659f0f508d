import type { Arrival } from './arrivals.ts'

export interface MemoryLimits {
  /** Maximum number of bytes of all transfers, and of those of one source. */
  total: number
  perSource: number
  /** Rate in bytes per second below which a transfer may be displaced. */
  keepBytesPerSecond: number
}

interface Held {
  readonly source: string
  bytes: number
}

/**
 * Limits the memory that many small transfers use together until they are processed: each is small, but one
 * for each connection would not be. When the limit is reached, slow transfers are ended, the one with the
 * largest bytes first.
 */
export class MemoryShare {
  readonly #limits: MemoryLimits
  readonly #held = new Map<Arrival, Held>()
  #total = 0

  constructor(limits: MemoryLimits) {
    this.#limits = limits
  }

  /**
   * Counts received bytes. Returns whether they fit; if not, none of this transfer's bytes are counted any
   * more.
   */
  add(arrival: Arrival, source: string, bytes: number): boolean {
    const held = this.#held.get(arrival) ?? { source, bytes: 0 }
    held.bytes += bytes
    this.#held.set(arrival, held)
    this.#total += bytes
    if (this.#bytesOf(source) <= this.#limits.perSource && this.#makeRoom(arrival)) return true
    this.leave(arrival)
    return false
  }

  /** Stops counting a transfer, because its bytes were released or are counted elsewhere. */
  leave(arrival: Arrival): void {
    this.#total -= this.#held.get(arrival)?.bytes ?? 0
    this.#held.delete(arrival)
  }

  #bytesOf(source: string): number {
    if (source === '' || this.#total <= this.#limits.perSource) return 0
    let sum = 0
    for (const held of this.#held.values()) if (held.source === source) sum += held.bytes
    return sum
  }

  #makeRoom(newcomer: Arrival): boolean {
    while (this.#total > this.#limits.total) {
      const slow = this.#largestSlow(newcomer)
      if (slow === undefined) return false
      this.leave(slow)
      slow.cut('displaced')
    }
    return true
  }

  #largestSlow(newcomer: Arrival): Arrival | undefined {
    let largest: [Arrival, Held] | undefined
    for (const [arrival, held] of this.#held) {
      if (arrival === newcomer || arrival.over || arrival.rate >= this.#limits.keepBytesPerSecond) continue
      if (largest === undefined || held.bytes > largest[1].bytes) largest = [arrival, held]
    }
    return largest?.[0]
  }
}
