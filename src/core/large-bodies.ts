import { AppError } from './errors.ts'
import { arrivalOf } from './http.ts'
import { type Slot, type SlotLimits, TransferSlots } from './transfer-slots.ts'

/** Files to send: 16 MiB of JSON take several times as much until they are stored. */
const LARGE_BODIES: SlotLimits = { total: 4, perSource: 2, keepBytesPerSecond: 128 * 1024, reviewMs: 1_000 }
const WAIT_MS = 5_000

/**
 * Places for requests with files: so many in memory at a time, and of one token. The others wait for some
 * seconds.
 */
export class LargeBodies {
  readonly #slots: TransferSlots
  readonly #waitMs: number

  constructor(limits: SlotLimits = LARGE_BODIES, waitMs = WAIT_MS) {
    this.#slots = new TransferSlots(limits)
    this.#waitMs = waitMs
  }

  /**
   * A place for a request, to be left when it is answered. Throws `rate_limited` or `unavailable` when there
   * is none in time.
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
