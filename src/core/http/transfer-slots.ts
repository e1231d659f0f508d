import type { Arrival } from './arrivals.ts'

export interface SlotLimits {
  /** Maximum number of concurrent transfers, in total and for each source. */
  total: number
  perSource: number
  /** Maximum number of bytes of all transfers in places; only those count that are told of. */
  totalBytes?: number
  /** Rate in bytes per second below which a transfer loses its place to a waiting one. */
  keepBytesPerSecond: number
  /**
   * Interval in milliseconds at which it is checked whether a waiting transfer may take the place of another.
   */
  reviewMs: number
}

/** A place for a transfer, to be released when its bytes are out of memory. */
export interface Slot {
  leave(): void
}

interface Holder {
  readonly arrival: Arrival
  readonly source: string
  readonly bytes: number
}

interface Waiting extends Holder {
  grant(slot: Slot | null): void
}

/**
 * Limits the number of transfers that use much memory while they are received and processed. One source (an
 * address, a token) holds only a limited number of places. Sources take turns: the one that was given a place least
 * recently comes first, then the order of arrival counts, so that nobody waits behind all that another source sends
 * at once. While a transfer waits, the slowest one of another source is ended. The source '' is not limited.
 */
export class TransferSlots {
  readonly #limits: SlotLimits
  readonly #held = new Set<Holder>()
  readonly #waiting: Waiting[] = []
  /** How many places had been given when each source that waits or holds one was last given one. */
  readonly #turns = new Map<string, number>()
  #given = 0
  #timer: NodeJS.Timeout | undefined

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  /** Returns whether a source has reached its limit. */
  isFull(source: string): boolean {
    return (
      source !== '' &&
      [...this.#held].filter((holder) => holder.source === source).length >= this.#limits.perSource
    )
  }

  /** Resolves with a place, or with null if there was none within `waitMs` milliseconds. */
  enter(arrival: Arrival, source: string, waitMs: number, bytes = 0): Promise<Slot | null> {
    return new Promise((resolve) => {
      const waiting: Waiting = {
        ...{ arrival, source, bytes },
        grant: (slot) => {
          clearTimeout(timer)
          this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
          this.#forget(source)
          this.#watch()
          resolve(slot)
        },
      }
      const timer = setTimeout(() => waiting.grant(null), waitMs)
      this.#waiting.push(waiting)
      this.#serve()
      this.#watch()
    })
  }

  /** Gives available places to waiting transfers; if there are none, takes one from a slow sender. */
  #serve(): void {
    const turnOf = ({ source }: Waiting) => this.#turns.get(source) ?? 0
    for (const waiting of this.#waiting.toSorted((one, other) => turnOf(one) - turnOf(other))) {
      if (this.isFull(waiting.source)) continue
      if (!this.#fits(waiting) && !this.#displace(waiting.source)) return
      waiting.grant(this.#hold(waiting))
    }
  }

  #fits({ bytes }: Holder): boolean {
    const { total, totalBytes = Number.POSITIVE_INFINITY } = this.#limits
    const held = [...this.#held].reduce((sum, holder) => sum + holder.bytes, 0)
    return this.#held.size < total && held + bytes <= totalBytes
  }

  #hold({ arrival, source, bytes }: Holder): Slot {
    const holder: Holder = { arrival, source, bytes }
    this.#held.add(holder)
    if (source !== '') this.#turns.set(source, ++this.#given)
    return {
      leave: () => {
        if (!this.#held.delete(holder)) return
        this.#forget(source)
        this.#serve()
      },
    }
  }

  /** Forgets when it was the source's turn once nothing of it is here. */
  #forget(source: string): void {
    if (![...this.#held, ...this.#waiting].some((one) => one.source === source)) this.#turns.delete(source)
  }

  /**
   * Ends the slowest transfer and returns whether there was one to end. A transfer that is complete is being
   * processed, and stays.
   */
  #displace(source: string): boolean {
    const [slowest] = [...this.#held]
      .filter(({ arrival, source: other }) => !arrival.over && (source === '' || other !== source))
      .filter(({ arrival }) => arrival.rate < this.#limits.keepBytesPerSecond)
      .sort((a, b) => a.arrival.rate - b.arrival.rate)
    if (!slowest) return false
    this.#held.delete(slowest)
    this.#forget(slowest.source)
    slowest.arrival.cut('displaced')
    return true
  }

  #watch(): void {
    if (this.#waiting.length > 0)
      this.#timer ??= setInterval(() => this.#serve(), this.#limits.reviewMs).unref()
    else this.#timer = void clearInterval(this.#timer)
  }
}
