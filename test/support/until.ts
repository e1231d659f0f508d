import { setTimeout as sleep } from 'node:timers/promises'

/**
 * What must happen within a second or two takes less than this on a busy machine too. When nothing tells of it, it
 * happens at the next check, which is after 15 seconds or more, or never.
 */
export const SOON_MS = 8_000

/**
 * Polls `ask` until its result is not undefined, null or false, and returns that result. Throws after `ms`
 * milliseconds, with the last error as the cause if there was one.
 */
export async function until<T>(
  ask: () => T | Promise<T>,
  ms = 180_000,
): Promise<NonNullable<Exclude<T, false>>> {
  const deadline = performance.now() + ms
  let failure: unknown
  for (;;) {
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
    await sleep(5)
  }
}
