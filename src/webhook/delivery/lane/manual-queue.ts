import type { ManualDelivery } from './lane-job.ts'
import type { LeasedLane } from './lease.ts'

/**
 * A lane's manual deliveries. The webhook's row counts them: `asked` is the number requested in total,
 * `answered` the number of them that are finished.
 */
export class ManualQueue {
  /** Whether requested deliveries may not have been read yet. */
  #stale: boolean
  #reading = false
  #deliveries: ManualDelivery[] = []
  readonly #ids = new Set<string>()
  /** Numbers of deliveries that were read, that are finished, and that the row records as finished. */
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

  /** Whether a read is needed or in progress. */
  get isAwaited(): boolean {
    return this.#stale || this.#reading
  }

  get isEmpty(): boolean {
    return !this.isAwaited && this.#deliveries.length === 0
  }

  /** Whether the row does not yet record all finished deliveries. */
  get hasUnwritten(): boolean {
    return this.#finished > this.#written
  }

  /** Records that another delivery was requested. */
  markStale(): void {
    this.#stale = true
  }

  /** Compares with the number of requested deliveries in the row. */
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
   * Queues the deliveries that were read; `requested` is the number requested by then. Skips those that were
   * read before, which stay pending in the database until the lane's progress is written.
   */
  endReading(deliveries: readonly ManualDelivery[], requested: number): void {
    this.#reading = false
    for (const delivery of deliveries) if (!this.#ids.has(delivery.id)) this.#deliveries.push(delivery)
    for (const { id } of deliveries) this.#ids.add(id)
    this.#read = Math.max(this.#read, requested)
    if (this.#deliveries.length === 0) this.#finished = Math.max(this.#finished, requested)
  }

  /** Removes the first delivery, which is finished. */
  shift(): void {
    this.#deliveries.shift()
    if (this.#deliveries.length === 0) this.#finished = this.#read
  }

  /** Records that the row has been updated to `finished`. */
  written(finished: number): void {
    this.#written = Math.max(this.#written, finished)
  }

  /** Drops the deliveries that were read: the lane's next holder reads them again. */
  close(): void {
    this.#deliveries = []
  }
}
