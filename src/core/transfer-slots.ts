import type { Arrival } from './arrivals.ts'

export interface SlotLimits {
  /** Transfers at a time, of all sources and of one. */
  total: number
  perSource: number
  /** Who sends less than so many bytes a second loses its place when somebody else waits for one. */
  keepBytesPerSecond: number
  /** How often it is looked whether somebody waits who may have another's place, in milliseconds. */
  reviewMs: number
}

/** A place for a transfer, to be left again once what came is out of memory. */
export interface Slot {
  leave(): void
}

interface Holder {
  readonly arrival: Arrival
  readonly source: string
}

interface Waiting extends Holder {
  grant(slot: Slot | null): void
}

/**
 * Places for what takes much memory while it comes in and is worked on. First come, first served, but one
 * source (an address, a token) holds only so many; and while somebody waits, the slowest sender of another
 * source gives way. A source of '' is not counted.
 */
export class TransferSlots {
  readonly #limits: SlotLimits
  readonly #held = new Set<Holder>()
  readonly #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  /** Whether a source has as many places as it may have. */
  isFull(source: string): boolean {
    return (
      source !== '' &&
      [...this.#held].filter((holder) => holder.source === source).length >= this.#limits.perSource
    )
  }

  /** Resolves with a place, or with null when there was none within `waitMs` milliseconds. */
  enter(arrival: Arrival, source: string, waitMs: number): Promise<Slot | null> {
    return new Promise((resolve) => {
      const waiting: Waiting = {
        arrival,
        source,
        grant: (slot) => {
          clearTimeout(timer)
          this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
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

  /**
   * Gives places to those who wait, as far as there are any, and takes one from a slow sender where there is
   * none.
   */
  #serve(): void {
    for (const waiting of [...this.#waiting]) {
      if (this.isFull(waiting.source)) continue
      if (this.#held.size >= this.#limits.total && !this.#displace(waiting.source)) return
      waiting.grant(this.#hold(waiting))
    }
  }

  #hold({ arrival, source }: Holder): Slot {
    const holder: Holder = { arrival, source }
    this.#held.add(holder)
    return {
      leave: () => {
        if (this.#held.delete(holder)) this.#serve()
      },
    }
  }

  /** Whether the slowest sender had to go. What is here whole is being worked on, and stays. */
  #displace(source: string): boolean {
    const [slowest] = [...this.#held]
      .filter(({ arrival, source: other }) => !arrival.over && (source === '' || other !== source))
      .filter(({ arrival }) => arrival.rate < this.#limits.keepBytesPerSecond)
      .sort((a, b) => a.arrival.rate - b.arrival.rate)
    if (!slowest) return false
    this.#held.delete(slowest)
    slowest.arrival.cut('displaced')
    return true
  }

  #watch(): void {
    if (this.#waiting.length > 0)
      this.#timer ??= setInterval(() => this.#serve(), this.#limits.reviewMs).unref()
    else this.#timer = void clearInterval(this.#timer)
  }
}
