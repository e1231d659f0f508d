import vm from 'node:vm'

const context = vm.createContext({ work: (): unknown => undefined })
const script = new vm.Script('work()')

/**
 * Runs synchronous work that a stranger's text may drive into its worst case, for at most `ms` milliseconds;
 * then throws `ERR_SCRIPT_EXECUTION_TIMEOUT`. V8 can be interrupted inside a regular expression too. Costs
 * 0.08 ms. Not reentrant.
 */
function bounded<T>(ms: number, work: () => T): T {
  context.work = work
  return script.runInContext(context, { timeout: ms }) as T
}

/**
 * The milliseconds that one message may take for what its sender can make slow: HTML, RTF, calendars and the
 * search for what it quotes, all its parts together. What they don't suffice for is read more plainly or left
 * out; the rest of the message is read all the same.
 */
export class Budget {
  #left: number

  constructor(ms: number) {
    this.#left = ms
  }

  /** The work's result, or null when it throws or would take more than this share of what is left. */
  spend<T>(share: number, work: () => T): T | null {
    const started = performance.now()
    try {
      return this.#left < 1 ? null : bounded(Math.ceil(this.#left * share), work)
    } catch {
      return null
    } finally {
      this.#left -= performance.now() - started
    }
  }
}

/**
 * Mail by people takes under 50 ms. Less than the 3 s after which the thread that reads it is ended, so that
 * the rest of it is read.
 */
export const budgetOfMessage = (): Budget => new Budget(2_000)
