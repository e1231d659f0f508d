import { AppError } from './errors.ts'

export interface TurnLimits {
  /** Maximum number of pieces of work at once, in total and for each source. */
  total: number
  perSource: number
  /** Maximum number of waiting pieces of work of one source. */
  waiting: number
}

interface Waiting {
  source: string
  start(): void
}

/** Limits how much memory-hungry work runs at once. What exceeds the limits waits, with none of its data loaded. */
export class Turns {
  readonly #limits: TurnLimits
  readonly #running = new Map<string, number>()
  readonly #waiting: Waiting[] = []
  #total = 0

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /** Runs the work when it is its turn. Throws `unavailable` when too much of this source is waiting already. */
  async run<Result>(source: string, work: () => Promise<Result>): Promise<Result> {
    if (!this.#mayStart(source)) await this.#wait(source)
    else this.#count(source, 1)
    try {
      return await work()
    } finally {
      this.#count(source, -1)
      this.#startNext()
    }
  }

  #wait(source: string): Promise<void> {
    if (this.#waiting.filter((one) => one.source === source).length >= this.#limits.waiting)
      throw new AppError('unavailable', 'Too many messages are being opened at once.', { retryAfter: 5 })
    return new Promise((start) => this.#waiting.push({ source, start }))
  }

  /** Starts the work that has waited for longest and whose source has a place. */
  #startNext(): void {
    const at = this.#waiting.findIndex(({ source }) => this.#mayStart(source))
    const [next] = at < 0 ? [] : this.#waiting.splice(at, 1)
    if (!next) return
    this.#count(next.source, 1)
    next.start()
  }

  #mayStart(source: string): boolean {
    return this.#total < this.#limits.total && (this.#running.get(source) ?? 0) < this.#limits.perSource
  }

  #count(source: string, change: 1 | -1): void {
    this.#total += change
    const running = (this.#running.get(source) ?? 0) + change
    if (running > 0) this.#running.set(source, running)
    else this.#running.delete(source)
  }
}
