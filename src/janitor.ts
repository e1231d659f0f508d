import { pruneConnections } from './agent/connection.ts'
import { messageOf } from './core/errors.ts'
import { pruneEvents } from './event/log.ts'
import { pruneJobs } from './job/send.ts'
import { type IncidentDeps, tellOwners } from './webhook/incident.ts'
import { pruneIdempotencyKeys } from './workspace/idempotency.ts'
import { pruneRates } from './workspace/rate-limits.ts'

const EVERY_MS = 10 * 60_000

/** Deletes what is past its time, and tells owners what they could not be told at once. Every process with the worker's role has one; what one deletes, the others don't find. */
export class Janitor {
  readonly #deps: IncidentDeps
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(deps: IncidentDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const { clock, log } = this.#deps
    while (!signal.aborted) {
      const now = clock.now()
      try {
        const gone = {
          events: await pruneEvents(this.#deps, now),
          jobs: await pruneJobs(this.#deps, now),
          idempotencyKeys: await pruneIdempotencyKeys(this.#deps, now),
          rates: await pruneRates(this.#deps, now),
          connections: await pruneConnections(this.#deps, now),
        }
        log.debug(gone, 'pruned')
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'could not prune')
      }
      await tellOwners(this.#deps)
      await clock.sleep(EVERY_MS, signal)
    }
  }
}
