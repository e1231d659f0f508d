import { isatty } from 'node:tty'

/** Requests to end this process. */
export interface StopRequests {
  /** Resolves with the reason of the first request: finish the work in progress. */
  readonly first: Promise<string>
  /** Resolves with the reason of the next one: end at once. */
  readonly second: Promise<string>
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/**
 * Requests within this time after the first, in milliseconds, are the same one: Ctrl-C and service managers
 * signal all processes of a group, and npm passes on what it gets, so that one request arrives twice.
 */
const SAME_MS = 1_000
const PARENT_CHECK_MS = 500

/** Calls back once when npm, which started this process, has ended without passing on a signal (kill -9). */
const followParent = (onLost: () => void): void => {
  // Otherwise the parent may end on purpose: a daemon's does.
  if (!process.env.npm_lifecycle_event) return
  const parent = process.ppid
  const check = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(check)
    onLost()
  }, PARENT_CHECK_MS).unref()
}

class Requests implements StopRequests {
  readonly first: Promise<string>
  readonly second: Promise<string>
  #onFirst: (reason: string) => void = () => undefined
  #onSecond: (reason: string) => void = () => undefined
  #since: number | undefined

  constructor() {
    this.first = new Promise((resolve) => {
      this.#onFirst = resolve
    })
    this.second = new Promise((resolve) => {
      this.#onSecond = resolve
    })
  }

  add(reason: string): void {
    const now = performance.now()
    if (this.#since === undefined) {
      this.#since = now
      this.#onFirst(reason)
    } else if (now - this.#since > SAME_MS) this.#onSecond(reason)
  }
}

const hasTerminal = (): boolean => [0, 1, 2].some((stream) => isatty(stream))
/** On Windows it is the only meaning of SIGHUP. */
const wasClosed = (): boolean => process.platform === 'win32' || !hasTerminal()

/**
 * Starts to follow signals and the parent process. From then on no signal alone ends the process: what it
 * has started would live on. SIGHUP means that the terminal was closed, if there was one that is gone; otherwise it
 * asks for `reload`, and stops what has nothing to reload.
 */
export const followStopRequests = (reload?: () => void): StopRequests => {
  const requests = new Requests()
  const hadTerminal = hasTerminal()
  process.on('SIGHUP', () => {
    if (!reload || (hadTerminal && wasClosed())) requests.add('SIGHUP')
    else reload()
  })
  for (const signal of SIGNALS) process.on(signal, () => requests.add(signal))
  followParent(() => requests.add('npm has ended'))
  // Nor does a closed terminal or pipe end it.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined)
  return requests
}
