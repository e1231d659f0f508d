const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Delays after the first failure, the second and so on; the last one repeats. */
const DELAYS_MS = [10 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR] as const

/** Jitter only lengthens a delay, so that at most 17 attempts fit into an event's three days. */
const JITTER = 0.1

/** Time after which an event that was not delivered is given up. @limit Webhooks */
const GIVE_UP_MS = 72 * HOUR

const delayAfter = (failures: number): number => DELAYS_MS[Math.min(failures, DELAYS_MS.length) - 1]!

/** Returns when an event that happened at `createdAt` is given up, attempted or not. */
export const givenUpAt = (createdAt: Date): Date => new Date(createdAt.getTime() + GIVE_UP_MS)

export interface Failure {
  /** Number of failed attempts, including this one. */
  failures: number
  /** Time when the event happened, or was replayed. */
  createdAt: Date
  now: Date
  /** The receiver's `Retry-After` in milliseconds; 0 without one. */
  retryAfterMs: number
  /** Jitter, from 0 to below 1. */
  random: number
}

/**
 * Returns when the event is due again: for the next attempt, or to be given up when that comes first. A
 * receiver's `Retry-After` may lengthen the delay up to the schedule's next one, and never shortens it.
 */
export const nextAttemptAt = ({ failures, createdAt, now, retryAfterMs, random }: Failure): Date => {
  const planned = delayAfter(failures) * (1 + JITTER * random)
  const requested = Math.min(retryAfterMs, delayAfter(failures + 1))
  const due = now.getTime() + Math.round(Math.max(planned, requested))
  return new Date(Math.min(due, givenUpAt(createdAt).getTime()))
}
