import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Asks until the answer is not undefined, null or false, and returns it. Throws after `ms` milliseconds, with
 * the last error if there was one.
 */
export async function until<T>(
  ask: () => T | Promise<T>,
  ms = 20_000,
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
    if (performance.now() > deadline) throw new Error(`not so after ${ms} ms: ${ask}`, { cause: failure })
    await sleep(5)
  }
}
