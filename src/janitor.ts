import { pruneConnections } from './agent/connection.ts'
import { messageOf } from './core/errors.ts'
import { type RecheckDeps, recheckDomains } from './domain/recheck.ts'
import { pruneEvents } from './event/log.ts'
import { pruneJobs } from './job/send.ts'
import { askForReports, type OverdueDeps } from './message/overdue.ts'
import { type IncidentDeps, tellOwners } from './webhook/incident.ts'
import { pruneIdempotencyKeys } from './workspace/idempotency.ts'
import { pruneRates } from './workspace/rate-limits.ts'

const EVERY_MS = 10 * 60_000

type JanitorDeps = IncidentDeps & RecheckDeps & OverdueDeps

/** Deletes what is past its time, looks again at what may have changed, and tells owners what they could not be told at once. Every process with the worker's role has one; what one deletes, the others don't find. */
export class Janitor {
  readonly #deps: JanitorDeps
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(deps: JanitorDeps) {
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
      await this.#recheckDomains(signal)
      await this.#askForReports(signal)
      await tellOwners(this.#deps)
      await clock.sleep(EVERY_MS, signal)
    }
  }

  async #askForReports(signal: AbortSignal): Promise<void> {
    const { log } = this.#deps
    try {
      const messages = await askForReports(this.#deps, signal)
      if (messages > 0) log.info({ messages }, 'asked what became of messages')
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'could not ask what became of messages')
    }
  }

  async #recheckDomains(signal: AbortSignal): Promise<void> {
    const { log } = this.#deps
    try {
      const domains = await recheckDomains(this.#deps, signal)
      if (domains > 0) log.debug({ domains }, 'rechecked')
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'could not recheck domains')
    }
  }
}
