import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import { Turns } from '../../core/turns.ts'
import { WindowCounts } from '../../core/window-counts.ts'

const WINDOW_MS = 60_000
/** Maximum number of invalid tokens from one address within a minute. @limit Tokens */
const MAX_FAILURES = 30

/**
 * Counts invalid tokens by the address that they came from. An address with too many of them receives
 * `rate_limited` for each further one, and its tokens are looked up one after the other, so that guessing
 * uses no more than one database connection. A valid token still works, because others may share the address: none is
 * refused for those that wait before it, of which an address has no more than connections. The address '' is not counted.
 */
export class FailedTokens {
  readonly #failures: WindowCounts
  readonly #turns = new Turns({ perKey: 1, tooMany: () => this.#tooMany() })

  constructor(clock: Clock) {
    this.#failures = new WindowCounts(clock, WINDOW_MS)
  }

  /** Looks up a token: immediately, or in its turn. */
  lookUp<Found>(source: string, look: () => Promise<Found>): Promise<Found> {
    return this.#isOver(source) ? this.#turns.run(source, look) : look()
  }

  /** Counts an invalid token; returns the error for it. */
  fail(source: string, message = 'This token is not valid.'): AppError {
    const over = this.#isOver(source)
    if (source !== '') this.#failures.note(source)
    if (!over) return new AppError('unauthorized', message)
    return this.#tooMany()
  }

  #tooMany(): AppError {
    return new AppError('rate_limited', 'Too many requests with invalid tokens from your address.', {
      retryAfter: this.#failures.resetSeconds,
    })
  }

  #isOver(source: string): boolean {
    return this.#failures.of(source) >= MAX_FAILURES
  }
}
