import type { AppError } from './errors.ts'

export interface TurnLimits {
  /** Maximum number of pieces of work at once, in total and for each key; unlimited by default. */
  total?: number
  perKey?: number
  /** Maximum number of pieces of work of one key that wait; unlimited by default. */
  waiting?: number
  /** Maximum time in milliseconds that one waits; unlimited by default. */
  waitMs?: number
  /** The error when too many wait, or one has waited for too long. */
  tooMany(): AppError
}

interface Waiter {
  /** Its place in the order of arrival over all keys. */
  order: number
  start(): void
}

/** The work of one key: an agent, a token, an address. */
interface Line {
  running: number
  waiting: Waiter[]
}

/**
 * Limits how much work runs at once in this process, so that one key's work cannot delay that of all others. Further
 * work waits in a queue, with none of its data loaded; what has waited longest, and may run, starts first.
 */
export class Turns {
  readonly #limits: TurnLimits
  readonly #lines = new Map<string, Line>()
  #running = 0
  #arrived = 0

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /** Runs the work when it is its turn. Throws the limits' error when too much of this key is waiting already. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    await this.#enter(key, this.#limits)
    try {
      return await work()
    } finally {
      this.#leave(key)
    }
  }

  /** Within `run`: gives the turn to others while the work only waits, and takes a new one afterwards. */
  async aside<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    this.#leave(key)
    try {
      return await work()
    } finally {
      await this.#enter(key, {})
    }
  }

  async #enter(key: string, { waiting, waitMs }: Pick<TurnLimits, 'waiting' | 'waitMs'>): Promise<void> {
    const line = this.#lines.get(key) ?? { running: 0, waiting: [] }
    this.#lines.set(key, line)
    if (this.#mayStart(line)) this.#count(line)
    else if (line.waiting.length >= (waiting ?? Number.POSITIVE_INFINITY)) throw this.#limits.tooMany()
    else await this.#wait(key, line, waitMs)
  }

  #wait(key: string, line: Line, waitMs: number | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        line.waiting.splice(line.waiting.indexOf(waiter), 1)
        this.#forget(key, line)
        reject(this.#limits.tooMany())
      }
      const timer = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs)
      const start = () => {
        clearTimeout(timer)
        // It starts after what other keys have ready.
        setImmediate(resolve)
      }
      const waiter = { order: ++this.#arrived, start }
      line.waiting.push(waiter)
    })
  }

  #leave(key: string): void {
    const line = this.#lines.get(key)!
    line.running--
    this.#running--
    const next = this.#limits.total === undefined ? line : this.#longestWaiting()
    if (next && next.waiting.length > 0 && this.#mayStart(next)) {
      this.#count(next)
      next.waiting.shift()!.start()
    }
    this.#forget(key, line)
  }

  /** The line whose first waiter has waited longest, of those that may run. */
  #longestWaiting(): Line | undefined {
    let found: Line | undefined
    for (const line of this.#lines.values()) {
      const order = line.waiting[0]?.order
      if (order === undefined || !this.#mayStart(line)) continue
      if (!found || order < found.waiting[0]!.order) found = line
    }
    return found
  }

  #mayStart({ running }: Line): boolean {
    const { total = Number.POSITIVE_INFINITY, perKey = Number.POSITIVE_INFINITY } = this.#limits
    return this.#running < total && running < perKey
  }

  #count(line: Line): void {
    line.running++
    this.#running++
  }

  #forget(key: string, { running, waiting }: Line): void {
    if (running === 0 && waiting.length === 0) this.#lines.delete(key)
  }
}
