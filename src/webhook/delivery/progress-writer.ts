import { systemClock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import { type DayCounter, DELIVERY_ACCEPTED, DELIVERY_FAILED } from '../../workspace/index.ts'
import type { Lease } from './lane/lease.ts'
import { type Progress, type Settled, settle, type WriteResult } from './lane/progress.ts'

/**
 * Time in milliseconds for which progress is gathered before each write: one commit for hundreds of deliveries, and one
 * change of a webhook's row for several of its own (docs/decisions.md#gathered-outcomes). After a crash, deliveries
 * whose progress was not written are repeated.
 */
const GATHER_MS = 40
const BACKOFF_MS = { first: 50, max: 2000 }

export interface ProgressWriterDeps extends Db {
  lease: Lease
  log: Logger
  /** Counts the attempts that were recorded. */
  counter: Pick<DayCounter, 'add'>
  /**
   * Called for each lane whose progress was written, with the result. `writtenFrom` is when the write began
   * (`performance.now()`).
   */
  written(progress: Progress, result: WriteResult, writtenFrom: number): void
}

/** The data to write: a lane's current progress, and the result of one of its jobs. */
export interface LaneProgress {
  progress: Progress
  settled: Settled | null
}

/**
 * Merges a lane's earlier, unwritten progress into its latest: the time of the last delivery, the times of
 * the first failure and the first event given up since the last recovery, and whether it recovered.
 */
const mergeInto = (progress: Progress, earlier: Progress): void => {
  progress.lastDeliveredAt ??= earlier.lastDeliveredAt
  if (progress.recovered) return
  const { failedAt, givenUpAt, recovered } = earlier
  Object.assign(progress, failedAt && { failedAt }, givenUpAt && { givenUpAt }, recovered && { recovered })
}

/**
 * Writes the progress of all lanes in batches. While the database is unavailable, progress is kept in memory
 * and the write is retried.
 */
export class ProgressWriter {
  readonly #deps: ProgressWriterDeps
  readonly #stopping = new AbortController()
  #progress = new Map<string, Progress>()
  #jobs: Settled[] = []
  #gathering: NodeJS.Timeout | null = null
  #writing: Promise<void> | null = null

  constructor(deps: ProgressWriterDeps) {
    this.#deps = deps
  }

  /** Queues a lane's progress and the result of a job to be written. */
  note({ progress, settled }: LaneProgress): void {
    const before = this.#progress.get(progress.lane)
    if (before) mergeInto(progress, before)
    this.#progress.set(progress.lane, progress)
    if (settled) this.#jobs.push(settled)
    if (!this.#writing) this.#gather()
  }

  #gather(): void {
    this.#gathering ??= setTimeout(() => this.#begin(), GATHER_MS)
  }

  /** Writes everything queued so far. Stops retrying after `ms` milliseconds. */
  async stop(ms: number): Promise<void> {
    const limit = setTimeout(() => this.#stopping.abort(), ms)
    for (;;) {
      if (this.#gathering) this.#begin()
      if (!this.#writing) break
      await this.#writing
    }
    clearTimeout(limit)
  }

  #begin(): void {
    if (this.#gathering) clearTimeout(this.#gathering)
    this.#gathering = null
    this.#writing = this.#write().then(() => {
      this.#writing = null
      if (this.#progress.size > 0 && !this.#stopping.signal.aborted) this.#gather()
    })
  }

  async #write(): Promise<void> {
    const { lease, log, written } = this.#deps
    const progress = [...this.#progress.values()]
    const jobs = this.#jobs
    this.#progress = new Map()
    this.#jobs = []
    for (
      let wait = BACKOFF_MS.first;
      !this.#stopping.signal.aborted;
      wait = Math.min(wait * 2, BACKOFF_MS.max)
    ) {
      const from = performance.now()
      try {
        const results = await settle(this.#deps, lease, progress, jobs)
        this.#count(progress, jobs, results)
        for (const one of progress) written(one, results.get(one.lane) ?? 'lost', from)
        return
      } catch (error) {
        log.warn(
          { error: messageOf(error), lanes: progress.length, jobs: jobs.length },
          'could not write webhook progress; retrying',
        )
        await systemClock.sleep(wait, this.#stopping.signal)
      }
    }
  }

  #count(
    progress: readonly Progress[],
    jobs: readonly Settled[],
    results: ReadonlyMap<string, WriteResult>,
  ): void {
    const lanes = new Map(progress.map((one) => [one.lane, one]))
    for (const { lane, entry, state } of jobs) {
      if (!entry || results.get(lane) !== 'mine') continue
      const { agentId, workspaceId } = lanes.get(lane)!
      const metric = state === 'delivered' ? DELIVERY_ACCEPTED : DELIVERY_FAILED
      this.#deps.counter.add({ agentId, workspaceId, metric, at: entry.at })
    }
  }
}
