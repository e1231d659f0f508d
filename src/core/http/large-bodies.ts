import { AppError } from '../errors.ts'
import { arrivalOf } from './http.ts'
import { type Slot, type SlotLimits, TransferSlots } from './transfer-slots.ts'

/** Requests with files to send: 16 MiB of JSON take several times as much memory until they are stored. */
const LARGE_BODIES: SlotLimits = { total: 4, perSource: 2, keepBytesPerSecond: 128 * 1024, reviewMs: 1_000 }
const WAIT_MS = 5_000

/** Imports take hours at most, and hold a few mails in memory. A slow one makes way for another token's. */
export const IMPORTS: SlotLimits = { total: 4, perSource: 1, keepBytesPerSecond: 64 * 1024, reviewMs: 1_000 }

/**
 * Limits the number of requests with files that are in memory, in total and for each token. Further ones wait
 * for a few seconds.
 */
export class LargeBodies {
  readonly #slots: TransferSlots
  readonly #waitMs: number

  constructor(limits: SlotLimits = LARGE_BODIES, waitMs = WAIT_MS) {
    this.#slots = new TransferSlots(limits)
    this.#waitMs = waitMs
  }

  /**
   * Waits for a place for a request, which must be released after the response. Throws `rate_limited` or
   * `unavailable` when there is none in time.
   */
  async enter(request: object, tokenId: string): Promise<Slot> {
    const slot = await this.#slots.enter(arrivalOf(request), tokenId, this.#waitMs)
    if (slot) return slot
    if (this.#slots.isFull(tokenId))
      throw new AppError('rate_limited', 'Too many large requests with this token at once.', {
        retryAfter: 5,
      })
    throw new AppError('unavailable', 'Too many large requests at once.', { retryAfter: 5 })
  }
}
