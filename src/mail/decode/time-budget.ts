import vm from 'node:vm'

const context = vm.createContext({ work: (): unknown => undefined })
const script = new vm.Script('work()')

/**
 * Runs synchronous work, which untrusted input may drive into its worst case, for at most `ms` milliseconds,
 * then throws `ERR_SCRIPT_EXECUTION_TIMEOUT`. V8 can interrupt even a regular expression. Not reentrant.
 */
function bounded<T>(ms: number, work: () => T): T {
  context.work = work
  return script.runInContext(context, { timeout: ms }) as T
}

/**
 * The time in milliseconds that one message may take, in total, for everything its sender can make slow:
 * HTML, RTF, calendars and the detection of quoted text. Parts that exceed the budget are converted in a
 * simpler way or left out; the rest of the message is still read.
 */
export class Budget {
  #left: number
  /** Whether what runs now is already limited as a whole. */
  #isTogether = false

  constructor(ms: number) {
    this.#left = ms
  }

  /**
   * Returns the result of the work, or null if it throws or takes more than this share of the remaining
   * budget.
   */
  spend<T>(share: number, work: () => T): T | null {
    if (this.#isTogether) return resultOf(work)
    const started = performance.now()
    try {
      return this.#left < 1 ? null : bounded(Math.ceil(this.#left * share), work)
    } catch {
      return null
    } finally {
      this.#left -= performance.now() - started
    }
  }

  /**
   * Returns the result of work that spends several times, under one limit: most mail takes less time than limits for
   * its parts would (docs/decisions.md#time-to-read-mail). Work that is not done by then is begun again, with a limit
   * for each part. `isQuick`: whatever its sender made of it takes less than that limit, which is then not set.
   */
  together<T>(work: () => T, isQuick = false): T {
    if (this.#isTogether || this.#left < 2 * TOGETHER_MS) return work()
    const started = performance.now()
    this.#isTogether = true
    try {
      return isQuick ? work() : bounded(TOGETHER_MS, work)
    } catch {
      // It is begun again below.
    } finally {
      this.#isTogether = false
      this.#left -= performance.now() - started
    }
    return work()
  }
}

/** Twice what mail written by people takes at most. */
const TOGETHER_MS = 100

const resultOf = <T>(work: () => T): T | null => {
  try {
    return work()
  } catch {
    return null
  }
}

/**
 * Returns the budget of one message, which is many times what ordinary mail takes (docs/decisions.md#time-to-read-mail),
 * and smaller than the 3 s after which the worker is killed, so that the rest of the message is read.
 */
export const budgetOfMessage = (): Budget => new Budget(2_000)
