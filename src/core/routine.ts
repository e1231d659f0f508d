import type { Clock } from './clock.ts'
import { messageOf } from './errors.ts'
import type { Logger } from './logger.ts'

/** What a round resolves with when there is nothing left to come again for. */
export const DONE = Symbol('done')

export interface RoutineOptions {
  /** From the end of a round to the next one, in milliseconds. */
  everyMs: number
  /** What the log says of a round that failed. The next one comes all the same. */
  failed: string
  clock: Clock
  log: Logger
}

/** What a process does again and again in the background, one round at a time. */
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

  /**
   * No round begins after it; resolves when the one under way, which hears of it by its signal, has ended.
   */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { everyMs, failed, clock, log } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        if ((await this.#round(signal)) === DONE) return
      } catch (error) {
        log.warn({ error: messageOf(error) }, failed)
      }
      await clock.sleep(everyMs, signal)
    }
  }
}
