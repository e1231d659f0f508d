/**
 * Source of time. Everything that waits or records a time is given one, so that tests advance it instead of
 * waiting.
 */
export interface Clock {
  now(): Date
  /** Resolves after `ms` milliseconds (at once if negative), or as soon as `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => new Date(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, Math.max(0, ms))
      signal?.addEventListener('abort', done, { once: true })
    }),
}

/** Resolves with what the work does, or with undefined if that takes longer than `ms` milliseconds. */
export const inTime = async <Result>(
  work: Promise<Result>,
  ms: number,
  clock: Clock = systemClock,
): Promise<Result | undefined> => {
  const over = new AbortController()
  const late = clock.sleep(ms, over.signal).then(() => undefined)
  return Promise.race([work, late]).finally(() => over.abort())
}
