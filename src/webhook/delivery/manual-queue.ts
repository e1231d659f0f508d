import type { ManualDelivery } from './lane-job.ts'
import type { LeasedLane } from './lease.ts'

/**
 * A lane's manual deliveries. The row counts them: `asked` is how many were requested in all, `answered` how
 * many of them are finished.
 */
export class ManualQueue {
  /** Whether some were requested that were not read. */
  #stale: boolean
  #reading = false
  #deliveries: ManualDelivery[] = []
  readonly #ids = new Set<string>()
  /** How many were read, are finished, and are finished as far as the row knows. */
  #read: number
  #finished: number
  #written: number

  constructor({ asked, answered }: LeasedLane) {
    this.#stale = asked > answered
    this.#read = answered
    this.#finished = answered
    this.#written = answered
  }

  get finished(): number {
    return this.#finished
  }

  get first(): ManualDelivery | undefined {
    return this.#deliveries[0]
  }

  get isStale(): boolean {
    return this.#stale
  }

  get isReading(): boolean {
    return this.#reading
  }

  /** Whether some are still to be read. */
  get isAwaited(): boolean {
    return this.#stale || this.#reading
  }

  get isEmpty(): boolean {
    return !this.isAwaited && this.#deliveries.length === 0
  }

  /** Whether the row does not know yet that all of them are finished. */
  get hasUnwritten(): boolean {
    return this.#finished > this.#written
  }

  /** One more was requested. */
  markStale(): void {
    this.#stale = true
  }

  /** The row counts `requested` in all. */
  compare(requested: number): void {
    if (requested > this.#read) this.#stale = true
  }

  beginReading(): void {
    this.#reading = true
    this.#stale = false
  }

  readFailed(): void {
    this.#reading = false
    this.#stale = true
  }

  /**
   * Queues what was read when `requested` had been requested in all. Those that were read before are pending
   * in the database until the lane's progress is written.
   */
  endReading(deliveries: readonly ManualDelivery[], requested: number): void {
    this.#reading = false
    for (const delivery of deliveries) if (!this.#ids.has(delivery.id)) this.#deliveries.push(delivery)
    for (const { id } of deliveries) this.#ids.add(id)
    this.#read = Math.max(this.#read, requested)
    if (this.#deliveries.length === 0) this.#finished = Math.max(this.#finished, requested)
  }

  /** The first one is finished. */
  shift(): void {
    this.#deliveries.shift()
    if (this.#deliveries.length === 0) this.#finished = this.#read
  }

  /** The row knows that `finished` are finished. */
  written(finished: number): void {
    this.#written = Math.max(this.#written, finished)
  }

  /** Drops what was read: the lane's next holder reads it again. */
  close(): void {
    this.#deliveries = []
  }
}
