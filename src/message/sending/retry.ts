const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Delays after the first, second … temporary failure; the last one repeats. */
const STEPS = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR]
const JITTER = 0.1

/** A message is given up when it could not be sent within this time, in milliseconds. */
export const SEND_HORIZON_MS = 24 * HOUR

/**
 * Returns the milliseconds until the next attempt, after `failures` earlier ones. `random` (0 to 1) adds up
 * to 10%, to spread attempts that failed together.
 */
export const retryDelay = (failures: number, random: number): number => {
  const step = STEPS[Math.min(failures, STEPS.length - 1)]!
  return Math.round(step * (1 + JITTER * random))
}
