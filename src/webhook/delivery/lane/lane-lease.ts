import type { LeasedLane } from './lease.ts'

/** A lane's lease, and its row as of the lease. Times are on the clock of `performance.now()`. */
export class LaneLease {
  /** Revision of the row when it was leased. */
  readonly revision: number
  readonly #sealedSecret: Buffer
  readonly #format: number
  /** Time until which the lease is certain to last. */
  #until: number
  /** Time when the row was last read. */
  #checkedAt = performance.now()
  #rowChanged = false
  #writeMissed = false

  constructor({ revision, secret, format }: LeasedLane, until: number) {
    this.revision = revision
    this.#format = format
    this.#sealedSecret = secret
    this.#until = until
  }

  get checkedAt(): number {
    return this.#checkedAt
  }

  /** Whether the row's secret, format or position has changed, or it was paused, since it was leased. */
  get hasRowChanged(): boolean {
    return this.#rowChanged
  }

  /** Returns whether the lease lasts for `ms` more milliseconds. */
  covers(ms: number): boolean {
    return performance.now() + ms <= this.#until
  }

  /** Records that the lease had expired and was acquired again. */
  retaken(until: number): void {
    this.#until = until
  }

  renewed(at: number, until: number): void {
    this.#checkedAt = at
    this.#until = until
  }

  /** Records that the lane's progress was written, which renews the lease. */
  written(until: number): void {
    this.#writeMissed = false
    this.#until = Math.max(this.#until, until)
  }

  /**
   * Records that a write of progress did not find the lease. Returns whether the write before also did not.
   */
  missed(): boolean {
    const before = this.#writeMissed
    this.#writeMissed = true
    return before
  }

  rowChanged(): void {
    this.#rowChanged = true
  }

  /** Returns whether the row is unchanged since it was leased. */
  matches({ revision, secret, format }: Pick<LeasedLane, 'revision' | 'secret' | 'format'>): boolean {
    return revision === this.revision && format === this.#format && secret.equals(this.#sealedSecret)
  }
}
