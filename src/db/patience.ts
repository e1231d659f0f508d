import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { isUnavailable } from './unavailable.ts'

/** Time in milliseconds for which a start waits for a database that is starting too, or on a busy machine. */
const PATIENCE_MS = 60_000
const RETRY_MS = 500
const LOG_MS = 10_000

/** The database did not become available in time. */
export class DatabaseTooSlowError extends Error {
  constructor(what: string, cause: unknown) {
    super(
      `gave up after ${PATIENCE_MS / 1000} s of waiting for the database to ${what}: ${messageOf(cause)}`,
      {
        cause,
      },
    )
    this.name = 'DatabaseTooSlowError'
  }
}

/**
 * Repeats `work` while the database is unavailable, for up to a minute, and logs what it waits for. `work` must be
 * safe to repeat. Throws `DatabaseTooSlowError` at the end, and other errors at once.
 */
export const untilAvailable = async <Result>(
  log: Logger,
  what: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  const began = performance.now()
  for (let loggedAt = Number.NEGATIVE_INFINITY; ; ) {
    try {
      return await work()
    } catch (error) {
      if (!isUnavailable(error)) throw error
      const now = performance.now()
      if (now - began >= PATIENCE_MS) throw new DatabaseTooSlowError(what, error)
      if (now - loggedAt >= LOG_MS) {
        loggedAt = now
        const left = Math.ceil((PATIENCE_MS - (now - began)) / 1000)
        log.warn({ error: messageOf(error) }, `waiting for the database to ${what}, for up to ${left} s more`)
      }
      await sleep(RETRY_MS)
    }
  }
}
