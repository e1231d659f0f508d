/**
 * The delay before retry number `attempt` (from 0), in milliseconds: a random part of a limit that doubles each
 * time, so that clients that lost the service together do not come back together. Never less than the service
 * asked for.
 */
export const backoff = (
  attempt: number,
  { baseMs, maxMs, atLeastMs = 0 }: { baseMs: number; maxMs: number; atLeastMs?: number },
): number => atLeastMs + Math.random() * Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 20))

/** Resolves after `ms`; rejects with the signal's reason when it is aborted earlier. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const aborted = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted)
      resolve()
    }, ms)
    signal?.addEventListener('abort', aborted, { once: true })
  })

/**
 * A signal that is aborted by `outer`, or `ms` after the last `restart`. (`AbortSignal.any` keeps the signals
 * that it made until a long-lived outer one is gone.)
 */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #outer: AbortSignal | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #expired = false

  constructor(outer?: AbortSignal) {
    this.#outer = outer
    if (outer?.aborted) this.abort()
    else outer?.addEventListener('abort', this.abort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Whether time ran out. */
  get expired(): boolean {
    return this.#expired
  }

  readonly abort = (): void => this.#controller.abort(this.#outer?.reason)

  restart(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#expired = true
      this.#controller.abort()
    }, ms)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** Lets go of the outer signal as well. */
  release(): void {
    this.stop()
    this.#outer?.removeEventListener('abort', this.abort)
  }
}
