import type { Clock } from './clock.ts'
import { messageOf } from './errors.ts'
import type { Logger } from './logger.ts'

/** Work that one of all processes does, if it can. */
export interface Led {
  /** Whether this process is to do it now. Left out, each does. */
  isOurs?: (() => boolean) | undefined
}

/** A process that is not to do it leaves out so many rounds, and then does one, in case the other hangs. */
const LEFT_OUT = 4

export interface RoutineOptions extends Led {
  /** Time from the end of a round to the next one, in milliseconds. */
  everyMs: number
  /** Log message for a failed round. The next round runs nevertheless. */
  failed: string
  clock: Clock
  log: Logger
}

/** A periodic background job of a process, one round at a time. */
export class Routine {
  readonly #round: (signal: AbortSignal) => Promise<unknown>
  readonly #options: RoutineOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(round: (signal: AbortSignal) => Promise<unknown>, options: RoutineOptions) {
    this.#round = round
    this.#options = options
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Starts no further round, aborts the signal of the one in progress, and resolves when that has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { everyMs, failed, clock, log, isOurs } = this.#options
    const { signal } = this.#stopping
    for (let leftOut = 0; !signal.aborted; await clock.sleep(everyMs, signal)) {
      leftOut = isOurs === undefined || isOurs() || leftOut === LEFT_OUT ? 0 : leftOut + 1
      if (leftOut > 0) continue
      try {
        await this.#round(signal)
      } catch (error) {
        log.warn({ error: messageOf(error) }, failed)
      }
    }
  }
}
