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
    this.#held.set(key, this.held(key) + 1)
    let taken = true
    return () => {
      if (!taken) return
      taken = false
      const remaining = this.held(key) - 1
      if (remaining > 0) this.#held.set(key, remaining)
      else this.#held.delete(key)
    }
  }
}
