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

/**
 * Keys without work that are remembered; with more, all of these are forgotten at once. A `Map` whose entries came and
 * went with each piece of work would cost V8's garbage collector more than the work's turns: docs/decisions.md#sets-of-requests.
 */
const MAX_IDLE = 1_000

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
  #mostLines = MAX_IDLE
  #running = 0
  #waiting = 0
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
    const line = this.#lines.get(key) ?? this.#open(key)
    if (this.#mayStart(line)) this.#count(line)
    else if (line.waiting.length >= (waiting ?? Number.POSITIVE_INFINITY)) throw this.#limits.tooMany()
    else await this.#wait(line, waitMs)
  }

  #open(key: string): Line {
    if (this.#lines.size >= this.#mostLines) this.#forgetIdle()
    const line: Line = { running: 0, waiting: [] }
    this.#lines.set(key, line)
    return line
  }

  #wait(line: Line, waitMs: number | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        line.waiting.splice(line.waiting.indexOf(waiter), 1)
        this.#waiting--
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
      this.#waiting++
    })
  }

  #leave(key: string): void {
    const line = this.#lines.get(key)!
    line.running--
    this.#running--
    if (this.#waiting === 0) return
    const next = this.#limits.total === undefined ? line : this.#longestWaiting()
    if (next && next.waiting.length > 0 && this.#mayStart(next)) {
      this.#count(next)
      this.#waiting--
      next.waiting.shift()!.start()
    }
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

  #forgetIdle(): void {
    for (const [key, { running, waiting }] of this.#lines)
      if (running === 0 && waiting.length === 0) this.#lines.delete(key)
    this.#mostLines = this.#lines.size + MAX_IDLE
  }
}
