import { setTimeout as sleep } from 'node:timers/promises'

/** Pauses in milliseconds between polls: short at first, then longer, since polling takes time from the service. */
const FIRST_PAUSE = 5
const LONGEST_PAUSE = 25

/**
 * Polls `ask` until its result is not undefined, null or false, and returns that result. Throws after `ms`
 * milliseconds, with the last error as the cause if there was one.
 */
export async function until<T>(
  ask: () => T | Promise<T>,
  ms = 20_000,
): Promise<NonNullable<Exclude<T, false>>> {
  const deadline = performance.now() + ms
  let failure: unknown
  for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 1.3, LONGEST_PAUSE)) {
    try {
      const answer = await ask()
      if (answer !== undefined && answer !== null && answer !== false)
        return answer as NonNullable<Exclude<T, false>>
      failure = undefined
    } catch (error) {
      failure = error
    }
    if (performance.now() > deadline)
      throw new Error(`condition not met after ${ms} ms: ${ask}`, { cause: failure })
    await sleep(pause)
  }
}
