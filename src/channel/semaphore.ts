/** Room for so many large things in memory at once; the others wait in line. */
export class Semaphore {
  #free: number
  readonly #waiting: ((granted: boolean) => void)[] = []

  constructor(places: number) {
    this.#free = places
  }

  /** Resolves with whether a place was given within `ms` milliseconds; a place must be left again. */
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
