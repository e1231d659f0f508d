import type { Clock } from './core/clock.ts'
import { messageOf } from './core/errors.ts'
import type { Logger } from './core/logger.ts'

/** Sees to what is elsewhere. Resolves with whether all is where it should be; rejects when it could not look. */
export type Round = (signal: AbortSignal) => Promise<boolean>

export interface KeeperOptions {
  rounds: readonly Round[]
  clock: Clock
  log: Logger
}

/** After rounds in which something failed. */
const AGAIN_MS = 5 * 60_000

/** Sees to it that providers call where `PUBLIC_URL` is: at the start, and again until each of its rounds is through. */
export class Keeper {
  readonly #options: KeeperOptions
  readonly #stopping = new AbortController()
  #running: Promise<unknown> = Promise.resolve()

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  start(): void {
    this.#running = Promise.all(this.#options.rounds.map((round) => this.#untilDone(round)))
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #untilDone(round: Round): Promise<void> {
    const { clock, log } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        if (await round(signal)) return
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'could not look for webhooks that are elsewhere')
      }
      await clock.sleep(AGAIN_MS, signal)
    }
  }
}
