/**
 * How many of one thing each key holds at a time in this process: one key must not take the places of all
 * others.
 */
export class Places {
  readonly max: number
  readonly #held = new Map<string, number>()

  constructor(max: number) {
    this.max = max
  }

  held(key: string): number {
    return this.#held.get(key) ?? 0
  }

  isFull(key: string): boolean {
    return this.held(key) >= this.max
  }

  /**
   * Takes a place; returns how to give it back, which may be called again. Null when the key has as many as
   * it may have.
   */
  take(key: string): (() => void) | null {
    if (this.isFull(key)) return null
    this.#held.set(key, this.held(key) + 1)
    let taken = true
    return () => {
      if (!taken) return
      taken = false
      const left = this.held(key) - 1
      if (left > 0) this.#held.set(key, left)
      else this.#held.delete(key)
    }
  }
}
