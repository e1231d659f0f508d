import type { Clock } from './clock.ts'

/** Bytes that somebody sends here: a request's body, the text of a mail. */
export interface Transfer {
  /** Bytes that have come so far. */
  received(): number
  /** Whether all that has come is read, so that it is the sender who is waited for. */
  starved(): boolean
  /** Ends it, with an answer: it came too slowly, or another one needs its place. */
  cut(why: 'slow' | 'displaced'): void
}

export interface ArrivalLimits {
  /**
   * What a sender has to keep up while it is waited for; it is looked at over every `windowMs` milliseconds,
   * the first time over `graceMs`.
   */
  minBytesPerSecond: number
  graceMs: number
  windowMs: number
  /** How often all transfers are looked at. */
  tickMs: number
}

/** One transfer as it comes in. */
export class Arrival {
  readonly transfer: Transfer
  readonly #limits: ArrivalLimits
  readonly #leave: (arrival: Arrival) => void
  #seenAt: number
  #seen: number
  /**
   * Bytes that came, and milliseconds that the sender was waited for: in the running window, and in the one
   * before it.
   */
  #running = { bytes: 0, waited: 0 }
  #before = { bytes: 0, waited: 0 }
  #windows = 0
  #over = false

  constructor(transfer: Transfer, limits: ArrivalLimits, now: number, leave: (arrival: Arrival) => void) {
    this.transfer = transfer
    this.#limits = limits
    this.#leave = leave
    this.#seenAt = now
    this.#seen = transfer.received()
  }

  /** Whether all of it is here, or nothing more of it will come. */
  get over(): boolean {
    return this.#over
  }

  /** Bytes a second, lately. Time in which the sender was made to wait does not count. */
  get rate(): number {
    const waited = this.#running.waited + this.#before.waited
    return waited === 0
      ? Number.POSITIVE_INFINITY
      : ((this.#running.bytes + this.#before.bytes) * 1000) / waited
  }

  end(): void {
    this.#over = true
    this.#leave(this)
  }

  /** Ends it with an answer to its sender. */
  cut(why: 'slow' | 'displaced'): void {
    if (this.#over) return
    this.end()
    this.transfer.cut(why)
  }

  /** Looks how far it has come. */
  look(now: number): void {
    const { minBytesPerSecond, graceMs, windowMs } = this.#limits
    const received = this.transfer.received()
    this.#running.bytes += received - this.#seen
    if (this.transfer.starved()) this.#running.waited += now - this.#seenAt
    this.#seen = received
    this.#seenAt = now
    const { bytes, waited } = this.#running
    if (waited < (this.#windows === 0 ? graceMs : windowMs)) return
    if (bytes * 1000 < minBytesPerSecond * waited) this.cut('slow')
    this.#windows++
    this.#before = this.#running
    this.#running = { bytes: 0, waited: 0 }
  }
}

/** What there is to say of a request without a body. */
export const NO_BODY = new Arrival(
  { received: () => 0, starved: () => false, cut: () => undefined },
  { minBytesPerSecond: 0, graceMs: 0, windowMs: 0, tickMs: 0 },
  0,
  () => undefined,
)
NO_BODY.end()

/** Watches over transfers: who keeps a place without sending anything to speak of loses it. */
export class Arrivals {
  readonly #clock: Clock
  readonly #limits: ArrivalLimits
  readonly #all = new Set<Arrival>()
  #timer: NodeJS.Timeout | undefined

  constructor(clock: Clock, limits: ArrivalLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  /** Watches over a transfer until its `end`. */
  watch(transfer: Transfer): Arrival {
    const arrival = new Arrival(transfer, this.#limits, this.#now(), (each) => this.#leave(each))
    this.#all.add(arrival)
    this.#timer ??= setInterval(() => this.#look(), this.#limits.tickMs).unref()
    return arrival
  }

  #leave(arrival: Arrival): void {
    this.#all.delete(arrival)
    if (this.#all.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    const now = this.#now()
    for (const arrival of [...this.#all]) arrival.look(now)
  }

  #now(): number {
    return this.#clock.now().getTime()
  }
}
