import type { ServerResponse } from 'node:http'
import { AppError } from '../../core/errors.ts'
import { Turns } from '../../core/turns.ts'
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

/** Requests of a token that run at once in a process. @limit Requests */
const MAX_RUNNING = 16
/** Requests of a token that wait for their turn; further ones are refused. @limit Requests */
const MAX_WAITING = 200

/**
 * Lets a token's requests run a few at a time, so that those of other tokens run between them. Streams, and calls
 * that wait for messages, have limits of their own.
 */
export const createTokenRequests = (): Turns =>
  new Turns({
    perKey: MAX_RUNNING,
    waiting: MAX_WAITING,
    tooMany: () =>
      new AppError(
        'rate_limited',
        `Too many requests with this token at once: ${MAX_RUNNING} run and ${MAX_WAITING} wait.`,
        { retryAfter: 1 },
      ),
  })
