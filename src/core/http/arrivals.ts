import type { Clock } from '../clock.ts'
import { LinkedSet } from '../linked-set.ts'

/** Incoming bytes: a request's body, or the content of a mail. */
export interface Transfer {
  /** Number of bytes received so far. */
  received(): number
  /** Whether everything received has been read, so that the sender is being waited for. */
  starved(): boolean
  /**
   * Ends the transfer with a response to the sender: it was too slow, or another transfer needs its place.
   */
  cut(why: 'slow' | 'displaced'): void
}

export interface ArrivalLimits {
  /**
   * Minimum rate of a sender while it is being waited for, measured over every `windowMs` milliseconds, the
   * first time over `graceMs`.
   */
  minBytesPerSecond: number
  graceMs: number
  windowMs: number
  /** Maximum time in milliseconds of a whole transfer, unless `allow` sets another; none by default. */
  wholeMs?: number
  /** Interval in milliseconds at which all transfers are checked. */
  tickMs: number
}

/** The progress of one transfer. */
export class Arrival {
  readonly transfer: Transfer
  readonly #limits: ArrivalLimits
  readonly #leave: () => void
  readonly #begunAt: number
  #wholeMs: number
  #seenAt: number
  #seen: number
  /**
   * Bytes received, and milliseconds in which the sender was waited for: in the current window and in the
   * previous one.
   */
  #running = { bytes: 0, waited: 0 }
  #before = { bytes: 0, waited: 0 }
  #windows = 0
  #over = false

  constructor(transfer: Transfer, limits: ArrivalLimits, now: number, leave: () => void) {
    this.transfer = transfer
    this.#limits = limits
    this.#leave = leave
    this.#begunAt = now
    this.#wholeMs = limits.wholeMs ?? Number.POSITIVE_INFINITY
    this.#seenAt = now
    this.#seen = transfer.received()
  }

  /** Whether it is complete, or no more of it will be received. */
  get over(): boolean {
    return this.#over
  }

  /** Recent rate in bytes per second. Time in which the sender was made to wait does not count. */
  get rate(): number {
    const waited = this.#running.waited + this.#before.waited
    return waited === 0
      ? Number.POSITIVE_INFINITY
      : ((this.#running.bytes + this.#before.bytes) * 1000) / waited
  }

  /** Sets the maximum time in milliseconds of the whole transfer. */
  allow(wholeMs: number): void {
    this.#wholeMs = wholeMs
  }

  end(): void {
    this.#over = true
    this.#leave()
  }

  /** Ends the transfer with a response to its sender. */
  cut(why: 'slow' | 'displaced'): void {
    if (this.#over) return
    this.end()
    this.transfer.cut(why)
  }

  /** Measures its progress, and ends it when it is too slow. */
  look(now: number): void {
    const { minBytesPerSecond, graceMs, windowMs } = this.#limits
    const received = this.transfer.received()
    this.#running.bytes += received - this.#seen
    if (this.transfer.starved()) this.#running.waited += now - this.#seenAt
    this.#seen = received
    this.#seenAt = now
    if (now - this.#begunAt > this.#wholeMs) this.cut('slow')
    const { bytes, waited } = this.#running
    if (waited < (this.#windows === 0 ? graceMs : windowMs)) return
    if (bytes * 1000 < minBytesPerSecond * waited) this.cut('slow')
    this.#windows++
    this.#before = this.#running
    this.#running = { bytes: 0, waited: 0 }
  }
}

/** The arrival of a request without a body. */
export const NO_BODY = new Arrival(
  { received: () => 0, starved: () => false, cut: () => undefined },
  { minBytesPerSecond: 0, graceMs: 0, windowMs: 0, tickMs: 0 },
  0,
  () => undefined,
)
NO_BODY.end()

/** Monitors transfers, and ends those that hold a place while sending next to nothing. */
export class Arrivals {
  readonly #clock: Clock
  readonly #limits: ArrivalLimits
  readonly #all = new LinkedSet<Arrival>()
  #timer: NodeJS.Timeout | undefined

  constructor(clock: Clock, limits: ArrivalLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  /** Monitors a transfer until its `end`. */
  watch(transfer: Transfer): Arrival {
    const arrival: Arrival = new Arrival(transfer, this.#limits, this.#now(), () => this.#leave(remove))
    const remove = this.#all.add(arrival)
    this.#timer ??= setInterval(() => this.#look(), this.#limits.tickMs).unref()
    return arrival
  }

  #leave(remove: () => void): void {
    remove()
    if (this.#all.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    const now = this.#now()
    for (const arrival of this.#all.all()) arrival.look(now)
  }

  #now(): number {
    return this.#clock.now().getTime()
  }
}
