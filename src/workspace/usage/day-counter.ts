import { randomUUID } from 'node:crypto'
import { systemClock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import type { Metric } from './day-counts.ts'
import { countForDays, type DayCount } from './usage.ts'

/** Time in milliseconds for which counts are gathered, and after which a failed write is retried. */
const GATHER_MS = 1000

/** Maximum number of rows in one statement. */
const MAX_ROWS = 5_000

/** Something that happened to an agent. */
export interface CountedEvent {
  agentId: string
  workspaceId: string
  metric: Metric
  at: Date
}

/**
 * Counts what happens thousands of times a second, for the day's figures: at most one row a second for each agent,
 * day and metric (docs/decisions.md#figures-of-the-day). A process that is killed loses the counts of its last
 * second, and nothing else.
 */
export class DayCounter {
  readonly #deps: Pick<Db, 'pool'> & { log: Logger }
  readonly #stopping = new AbortController()
  #counts = new Map<string, DayCount>()
  #writing: Promise<void> | null = null

  constructor(deps: Pick<Db, 'pool'> & { log: Logger }) {
    this.#deps = deps
  }

  add({ agentId, workspaceId, metric, at }: CountedEvent): void {
    const day = at.toISOString().slice(0, 10)
    const key = `${agentId} ${metric} ${day}`
    const known = this.#counts.get(key)
    if (known) known.count++
    else this.#counts.set(key, { id: randomUUID(), agentId, workspaceId, day, metric, count: 1 })
    if (!this.#writing) this.#begin()
  }

  /** Writes what was counted so far, and tries that once. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    while (this.#writing) await this.#writing
  }

  #begin(): void {
    this.#writing = this.#gatherAndWrite().then(() => {
      this.#writing = null
      if (this.#counts.size > 0) this.#begin()
    })
  }

  async #gatherAndWrite(): Promise<void> {
    await systemClock.sleep(GATHER_MS, this.#stopping.signal)
    const counts = [...this.#counts.values()]
    this.#counts = new Map()
    for (let n = 0; n < counts.length; n += MAX_ROWS) await this.#write(counts.slice(n, n + MAX_ROWS))
  }

  /** Writes the same rows until they are written: a retry does not count twice. */
  async #write(counts: readonly DayCount[]): Promise<void> {
    const { signal } = this.#stopping
    for (;;) {
      try {
        return await countForDays(this.#deps, counts)
      } catch (error) {
        this.#deps.log.warn({ error: messageOf(error) }, 'could not count deliveries; retrying')
        if (signal.aborted) return
        await systemClock.sleep(GATHER_MS, signal)
      }
    }
  }
}
