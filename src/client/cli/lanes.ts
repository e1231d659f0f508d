/** How much may wait for its turn before no more is accepted. */
const MAX_WAITING = 100

/** Runs work at once, but that of one key in order. */
export class Lanes {
  readonly #parallel: number
  readonly #failed: (error: unknown) => void
  readonly #tails = new Map<string, Promise<void>>()
  readonly #pending = new Set<Promise<void>>()
  readonly #waiting: (() => void)[] = []
  #running = 0

  /** `failed` is called with what work throws. */
  constructor(parallel: number, failed: (error: unknown) => void) {
    this.#parallel = parallel
    this.#failed = failed
  }

  /** Resolves when more is accepted. */
  async add(key: string, work: () => Promise<void>): Promise<void> {
    const tail = this.#after(this.#tails.get(key), work)
      .catch(this.#failed)
      .finally(() => {
        this.#pending.delete(tail)
        if (this.#tails.get(key) === tail) this.#tails.delete(key)
      })
    this.#tails.set(key, tail)
    this.#pending.add(tail)
    if (this.#pending.size >= this.#parallel + MAX_WAITING) await Promise.race(this.#pending)
  }

  async idle(): Promise<void> {
    await Promise.all(this.#pending)
  }

  async #after(before: Promise<void> | undefined, work: () => Promise<void>): Promise<void> {
    await before
    if (this.#running < this.#parallel) this.#running++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve)) // takes over the place
    try {
      await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running--
    }
  }
}
