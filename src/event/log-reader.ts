import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { type Batch, createBatch } from '../db/batch.ts'
import { type Db, isUnavailable } from '../db/client.ts'
import { type LogPosition, type LogRead, readLogs } from './log.ts'

/** Maximum number of logs that one statement reads. */
const MAX_LOGS = 512
/**
 * Maximum number of events that one statement returns, shared by its logs: a log has at most `MAX_EVENTS`,
 * and at least `MIN_EVENTS`. A log with more events is read again.
 */
const MAX_EVENTS_IN_ALL = 8_192
const MAX_EVENTS = 500
const MIN_EVENTS = 16

/** Time in milliseconds before a retry while the database is unavailable. */
const RETRY_MS = 500

const limitFor = (logs: number): number =>
  Math.min(MAX_EVENTS, Math.max(MIN_EVENTS, Math.floor(MAX_EVENTS_IN_ALL / logs)))

export interface LogReaderDeps extends Db {
  clock: Clock
  log: Logger
}

/**
 * Reads logs for many followers at a time, with one statement for all: one notification names hundreds of
 * agents (docs/decisions.md#shared-log-reads). Followers of the same log at the same position share one read.
 * While the database is unavailable, reads wait for it.
 */
export class LogReader {
  readonly #deps: LogReaderDeps
  readonly #batch: Batch<LogPosition, LogRead>
  /** Reads that have not started yet. One in progress could miss an event that was announced since. */
  readonly #waiting = new Map<string, Promise<LogRead>>()
  readonly #stopping = new AbortController()

  constructor(deps: LogReaderDeps) {
    this.#deps = deps
    this.#batch = createBatch((positions) => this.#start(positions), {
      most: MAX_LOGS,
      parallel: 2,
      isUnavailable,
    })
  }

  /** Returns the next events after a position. */
  read(position: LogPosition): Promise<LogRead> {
    const key = keyOf(position)
    const waiting = this.#waiting.get(key)
    if (waiting) return waiting
    const read = this.#batch.add(position)
    this.#waiting.set(key, read)
    return read
  }

  /** Waits for the database no longer. */
  stop(): void {
    this.#stopping.abort()
  }

  async #start(positions: LogPosition[]): Promise<LogRead[]> {
    for (const position of positions) this.#waiting.delete(keyOf(position))
    const { clock, log } = this.#deps
    const { signal } = this.#stopping
    for (;;) {
      try {
        return await readLogs(this.#deps, positions, limitFor(positions.length))
      } catch (error) {
        if (signal.aborted || !isUnavailable(error)) throw error
        log.warn({ error: messageOf(error), logs: positions.length }, 'event readers wait for the database')
        await clock.sleep(RETRY_MS, signal)
      }
    }
  }
}

const keyOf = ({ agentId, after }: LogPosition): string => `${agentId}/${after}`
