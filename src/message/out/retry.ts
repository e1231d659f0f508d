const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Waits after the first, second … temporary failure; the last one repeats. */
const STEPS = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR]
const JITTER = 0.1

/** A message that is not out this long after it was sent is given up. */
export const SEND_HORIZON_MS = 24 * HOUR

/**
 * Milliseconds until the next attempt, after `failures` earlier ones. `random` (0 to 1) spreads what failed
 * together by up to 10%.
 */
export const retryDelay = (failures: number, random: number): number => {
  const step = STEPS[Math.min(failures, STEPS.length - 1)]!
  return Math.round(step * (1 + JITTER * random))
}
