import type { ServerResponse } from 'node:http'
import { AppError } from '../core/errors.ts'
import { type Quota, quotaHeaders, type RateLimits } from './rate-limits.ts'

export interface QuotaDeps {
  rates: Pick<RateLimits, 'take'>
  /** Maximum number of requests per token and minute. */
  rateLimit: number
}

/**
 * Counts a request towards its token's quota and sets the quota's headers. `amount` is how many usual requests
 * it costs. The last request within the quota may cost more than is left.
 */
export const countRequest = (
  { rates, rateLimit }: QuotaDeps,
  { tokenId }: { tokenId: string },
  response: Pick<ServerResponse, 'headersSent' | 'setHeader'>,
  amount = 1,
): Quota => {
  const quota = rates.take(`token:${tokenId}`, rateLimit, amount)
  if (!response.headersSent)
    for (const [name, value] of Object.entries(quotaHeaders(quota))) response.setHeader(name, value)
  return quota
}

const BODY_UNIT_BYTES = 1024 * 1024

/** Returns how many usual requests a body or an answer of this length costs beyond one. */
export const costOfBody = (bytes: number): number => Math.floor(bytes / BODY_UNIT_BYTES)

/** How many requests of a token run at once in a process, and how many more wait for their turn. */
const MAX_RUNNING = 16
const MAX_WAITING = 200

interface Line {
  running: number
  waiting: (() => void)[]
}

/**
 * Lets a token's requests run a few at a time, so that those of other tokens run between them. Streams, and calls
 * that wait for messages, have limits of their own.
 */
export class TokenRequests {
  readonly #lines = new Map<string, Line>()

  /** Runs the work when it is its turn. Throws `rate_limited` when too many of this token wait already. */
  async run<Result>(tokenId: string, work: () => Promise<Result>): Promise<Result> {
    await this.#enter(tokenId, MAX_WAITING)
    try {
      return await work()
    } finally {
      this.#leave(tokenId)
    }
  }

  /** Within `run`: gives the place to others while the work only waits, and takes a turn afterwards. */
  async aside<Result>(tokenId: string, work: () => Promise<Result>): Promise<Result> {
    this.#leave(tokenId)
    try {
      return await work()
    } finally {
      await this.#enter(tokenId, Number.POSITIVE_INFINITY)
    }
  }

  async #enter(tokenId: string, maxWaiting: number): Promise<void> {
    const line = this.#lines.get(tokenId) ?? { running: 0, waiting: [] }
    this.#lines.set(tokenId, line)
    if (line.running < MAX_RUNNING) line.running++
    else await this.#wait(line, maxWaiting)
  }

  #wait({ waiting }: Line, max: number): Promise<void> {
    if (waiting.length >= max)
      throw new AppError(
        'rate_limited',
        `Too many requests with this token at once: ${MAX_RUNNING} run and ${MAX_WAITING} wait.`,
        { retryAfter: 1 },
      )
    return new Promise((resolve) => waiting.push(resolve))
  }

  /** A request that waits takes over the place. It starts after what other tokens' requests have ready. */
  #leave(tokenId: string): void {
    const line = this.#lines.get(tokenId)!
    const next = line.waiting.shift()
    if (next) setImmediate(next)
    else if (--line.running === 0) this.#lines.delete(tokenId)
  }
}
