const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** How long to wait after the first failure, the second … ; the last one repeats. */
const DELAYS_MS = [10 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR] as const

/** Jitter only lengthens a delay, so that no more than 17 attempts fit into an event's three days. */
const JITTER = 0.1

const GIVE_UP_MS = 72 * HOUR

const delayAfter = (failures: number): number => DELAYS_MS[Math.min(failures, DELAYS_MS.length) - 1]!

/** When an event that happened at `createdAt` is given up, attempted or not. */
export const givenUpAt = (createdAt: Date): Date => new Date(createdAt.getTime() + GIVE_UP_MS)

export interface Failure {
  /** How often the event has failed now, 1 or more. */
  failures: number
  /** When the event happened. */
  createdAt: Date
  now: Date
  /** The receiver's `Retry-After` in milliseconds; 0 without one. */
  retryAfterMs: number
  /** From 0 to below 1. */
  random: number
}

/**
 * When to look at the event again: for the next attempt, or to give it up when that comes first. A receiver's
 * `Retry-After` may lengthen the delay up to the schedule's next one, and never shortens it.
 */
export const nextAttemptAt = ({ failures, createdAt, now, retryAfterMs, random }: Failure): Date => {
  const planned = delayAfter(failures) * (1 + JITTER * random)
  const requested = Math.min(retryAfterMs, delayAfter(failures + 1))
  const due = now.getTime() + Math.round(Math.max(planned, requested))
  return new Date(Math.min(due, givenUpAt(createdAt).getTime()))
}
