import { PARTS, partOf } from './part.ts'
import { hashOf, ownersOf } from './rendezvous.ts'

/**
 * Time in milliseconds after which anyone takes what is due and its owner has not taken: it may hang, or have more than
 * it can do. Short enough for webhooks and messages to be late by a few seconds at most, and longer than the second in
 * which workers notice that another one came.
 */
export const LATE_MS = 2_000

/**
 * The parts that this process's worker owns: all, until it is told which. Which worker works for an agent only saves
 * work; leases decide whose writes count, so workers that disagree for a moment do no harm.
 */
export class OwnedParts {
  /** Replaced, never changed: statements in progress may have it. Bit n % 8 of byte n / 8 is that of the part n. */
  #bits = Buffer.alloc(PARTS / 8, 0xff)
  readonly #listeners = new Set<() => void>()

  /** A bit for each part, for `isAmongParts`. */
  get bits(): Buffer {
    return this.#bits
  }

  /** Returns whether an agent's part is among them. */
  has(agentId: string): boolean {
    return this.#owns(partOf(agentId))
  }

  /** Returns whether it is this worker that does a work that one of all does, by its name. */
  leads(work: string): boolean {
    return this.#owns(hashOf(work) & (PARTS - 1))
  }

  #owns(part: number): boolean {
    return ((this.#bits[part >> 3]! >> (part & 7)) & 1) === 1
  }

  /** Calls back when the parts have changed. Returns a function that ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Takes the parts that are `self`'s among these live workers. */
  share(self: string, live: readonly string[]): void {
    const bits = Buffer.alloc(PARTS / 8)
    for (const [part, owner] of ownersOf(live).entries())
      if (owner === self) bits[part >> 3]! |= 1 << (part & 7)
    if (bits.equals(this.#bits)) return
    this.#bits = bits
    for (const listener of this.#listeners) listener()
  }
}
