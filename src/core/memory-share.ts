import type { Arrival } from './arrivals.ts'

export interface MemoryLimits {
  /** Bytes of all transfers together, and of one source. */
  total: number
  perSource: number
  /** Who sends less than so many bytes a second makes room for others. */
  keepBytesPerSecond: number
}

interface Held {
  readonly source: string
  bytes: number
}

/**
 * What many short transfers take up in memory together, until what came is worked on: each is little, but as
 * many as there are connections are not. Where there is no more room, those who send slowly make it, the one
 * with the most bytes first.
 */
export class MemoryShare {
  readonly #limits: MemoryLimits
  readonly #held = new Map<Arrival, Held>()
  #total = 0

  constructor(limits: MemoryLimits) {
    this.#limits = limits
  }

  /**
   * Counts bytes that have come. Whether there is room for them; if there is not, none of this transfer's are
   * counted any more.
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

  /** Its bytes are out of memory, or counted elsewhere. */
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
      const slow = this.#maxOfSlow(newcomer)
      if (slow === undefined) return false
      this.leave(slow)
      slow.cut('displaced')
    }
    return true
  }

  #maxOfSlow(newcomer: Arrival): Arrival | undefined {
    let most: [Arrival, Held] | undefined
    for (const [arrival, held] of this.#held) {
      if (arrival === newcomer || arrival.over || arrival.rate >= this.#limits.keepBytesPerSecond) continue
      if (most === undefined || held.bytes > most[1].bytes) most = [arrival, held]
    }
    return most?.[0]
  }
}
