import { AppError } from '../../core/errors.ts'
import type { RateLimits } from '../../workspace/rate-limits.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

interface Limit {
  /** Maximum for each address in a window. */
  each: number
  /** Maximum for all addresses together; unlimited if omitted. */
  all?: number
  windowMs: number
}

/**
 * Requests that need no token, by what they cost: each authorization request and each registration is stored,
 * and a client's document is fetched from its server. A hosted client renews the tokens of all its users from
 * a few addresses.
 */
const LIMITS = {
  authorize: { each: 60, windowMs: MINUTE_MS },
  token: { each: 600, windowMs: MINUTE_MS },
  register: { each: 20, all: 1_000, windowMs: HOUR_MS },
  document: { each: 30, all: 300, windowMs: MINUTE_MS },
} satisfies Record<string, Limit>

export type Limited = keyof typeof LIMITS

/**
 * Counts a request; returns whether it is within its limits. `source` is its address, '' for one that stands
 * for many clients.
 */
export const isWithin = (rates: Pick<RateLimits, 'takeAll'>, what: Limited, source: string): boolean => {
  const { each, all, windowMs }: Limit = LIMITS[what]
  const uses = [
    ...(source === '' ? [] : [{ key: `oauth-${what}:${source}`, limit: each, windowMs }]),
    ...(all === undefined ? [] : [{ key: `oauth-${what}`, limit: all, windowMs }]),
  ]
  return rates.takeAll(uses) === null
}

/** Throws `rate_limited` for a request over its limits. */
export const ensureWithin = (rates: Pick<RateLimits, 'takeAll'>, what: Limited, source: string): void => {
  if (isWithin(rates, what, source)) return
  throw new AppError('rate_limited', 'Too many requests from your address.', {
    retryAfter: Math.ceil(LIMITS[what].windowMs / 1000),
  })
}
