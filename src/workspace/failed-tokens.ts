import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { WindowCounts } from '../core/window-counts.ts'

const WINDOW_MS = 60_000
/** Tokens that don't count, from one address within a minute, before it is told to wait. */
const MAX_FAILURES = 30

/**
 * Tokens that turned out not to count, by the address that they came from. An address with too many of them
 * is answered `rate_limited` for each further one, and its tokens are looked up one after the other, so that
 * guesses take no more than one connection to the database. A good token works all the same: others may share
 * the address. '' is nobody in particular, and is not counted.
 */
export class FailedTokens {
  readonly #failures: WindowCounts
  readonly #turns = new Map<string, Promise<unknown>>()

  constructor(clock: Clock) {
    this.#failures = new WindowCounts(clock, WINDOW_MS)
  }

  /** Looks a token up: at once, or in its turn. */
  async lookUp<Found>(source: string, look: () => Promise<Found>): Promise<Found> {
    if (!this.#isOver(source)) return look()
    const turn = (this.#turns.get(source) ?? Promise.resolve()).then(look, look)
    this.#turns.set(source, turn)
    try {
      return await turn
    } finally {
      if (this.#turns.get(source) === turn) this.#turns.delete(source)
    }
  }

  /** Notes that a token does not count; returns what is said of it. */
  fail(source: string): AppError {
    const over = this.#isOver(source)
    if (source !== '') this.#failures.note(source)
    if (!over) return new AppError('unauthorized', 'This token is not valid.')
    return new AppError('rate_limited', 'Too many requests with invalid tokens from your address.', {
      retryAfter: this.#failures.resetSeconds,
    })
  }

  #isOver(source: string): boolean {
    return this.#failures.of(source) >= MAX_FAILURES
  }
}
