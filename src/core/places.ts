/** Limits how many places each key holds in this process, so that one key cannot take those of all others. */
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
   * Takes a place. Returns a function that releases it, which may be called repeatedly, or null when the key
   * has reached the limit.
   */
  take(key: string): (() => void) | null {
    if (this.isFull(key)) return null
    this.add(key)
    let taken = true
    return () => {
      if (taken) this.remove(key)
      taken = false
    }
  }

  /** Takes a place for a holder that counts its own places, whether or not the limit is reached. */
  add(key: string): void {
    this.#held.set(key, this.held(key) + 1)
  }

  /** Releases a place that was taken with `add`. */
  remove(key: string): void {
    const remaining = this.held(key) - 1
    if (remaining > 0) this.#held.set(key, remaining)
    else this.#held.delete(key)
  }
}
