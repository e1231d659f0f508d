/** Limits the number of large objects in memory; further callers wait in a queue. */
export class Semaphore {
  #free: number
  readonly #waiting: ((granted: boolean) => void)[] = []

  constructor(places: number) {
    this.#free = places
  }

  /**
   * Waits for a place for at most `ms` milliseconds, and resolves with whether there was one. A place must be
   * released with `leave`.
   */
  enter(ms: number): Promise<boolean> {
    if (this.#free > 0) {
      this.#free--
      return Promise.resolve(true)
    }
    return new Promise((resolve) => {
      const grant = (granted: boolean) => {
        clearTimeout(timer)
        resolve(granted)
      }
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(grant), 1)
        resolve(false)
      }, ms)
      this.#waiting.push(grant)
    })
  }

  leave(): void {
    const next = this.#waiting.shift()
    if (next) next(true)
    else this.#free++
  }
}
