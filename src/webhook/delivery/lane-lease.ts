import type { LeasedLane } from './lease.ts'

/** A lane's lease, and its row as it was leased. Times are of `performance.now()`. */
export class LaneLease {
  /** The row's, when it was leased. */
  readonly revision: number
  readonly #sealedSecret: Buffer
  /** Until when it lasts for sure. */
  #until: number
  /** When the row was last read. */
  #checkedAt = performance.now()
  #rowChanged = false
  #writeMissed = false

  constructor({ revision, secret }: LeasedLane, until: number) {
    this.revision = revision
    this.#sealedSecret = secret
    this.#until = until
  }

  get checkedAt(): number {
    return this.#checkedAt
  }

  /** Whether the row has another secret or position than when it was leased. */
  get hasRowChanged(): boolean {
    return this.#rowChanged
  }

  /** Whether it lasts for `ms` more milliseconds. */
  covers(ms: number): boolean {
    return performance.now() + ms <= this.#until
  }

  /** It had run out, and was taken again. */
  retaken(until: number): void {
    this.#until = until
  }

  renewed(at: number, until: number): void {
    this.#checkedAt = at
    this.#until = until
  }

  /** The lane's progress was written, which renews the lease too. */
  written(until: number): void {
    this.#writeMissed = false
    this.#until = Math.max(this.#until, until)
  }

  /** A write of the lane's progress did not find the lease. Returns whether the write before did not either. */
  missed(): boolean {
    const before = this.#writeMissed
    this.#writeMissed = true
    return before
  }

  rowChanged(): void {
    this.#rowChanged = true
  }

  /** Whether the row is still what was leased. */
  matches({ revision, secret }: Pick<LeasedLane, 'revision' | 'secret'>): boolean {
    return revision === this.revision && secret.equals(this.#sealedSecret)
  }
}
