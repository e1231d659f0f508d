import { AppError } from '../../core/errors.ts'
import type { RateLimits } from '../../workspace/index.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

interface Limit {
  /** Maximum for each address in a window. */
  each: number
  /** Maximum for all addresses together, beyond the first `own` of each; unlimited if omitted. */
  all?: number
  /** What nobody else can use up: a member who connects a client needs one or two. */
  own?: number
  windowMs: number
}

/**
 * Requests that need no token: `each`, for an address in a window; `all`, for all addresses together beyond the first `own` of
 * each, which nobody else can use up.
 * @limit OAuth
 */
const LIMITS = {
  /** Authorization requests. */
  authorize: { each: 60, windowMs: MINUTE_MS },
  /** Authorization requests that nobody has answered: each is stored for an hour. */
  pending: { each: 300, windowMs: HOUR_MS },
  /** Requests for tokens: a hosted client renews those of all its users from a few addresses. */
  token: { each: 600, windowMs: MINUTE_MS },
  /** Registrations of clients: each is stored. */
  register: { each: 20, own: 3, all: 1_000, windowMs: HOUR_MS },
  /** Documents of clients that are fetched from their servers. */
  document: { each: 30, own: 5, all: 300, windowMs: MINUTE_MS },
} satisfies Record<string, Limit>

export type Limited = keyof typeof LIMITS

/**
 * Counts a request; returns whether it is within its limits. `source` is its address, '' for one that stands
 * for many clients.
 */
export const isWithin = (rates: Pick<RateLimits, 'takeAll'>, what: Limited, source: string): boolean => {
  const { each, own = 0, all, windowMs }: Limit = LIMITS[what]
  const key = `oauth-${what}`
  const ofSource = source === '' ? [] : [{ key: `${key}:${source}`, limit: each, windowMs }]
  if (ofSource.length > 0 && own > 0)
    if (!rates.takeAll([...ofSource, { key: `${key}-own:${source}`, limit: own, windowMs }])) return true
  return !rates.takeAll([...ofSource, ...(all === undefined ? [] : [{ key, limit: all, windowMs }])])
}

/** Throws `rate_limited` for a request over its limits. */
export const ensureWithin = (rates: Pick<RateLimits, 'takeAll'>, what: Limited, source: string): void => {
  if (isWithin(rates, what, source)) return
  throw new AppError('rate_limited', 'Too many requests from your address.', {
    retryAfter: Math.ceil(LIMITS[what].windowMs / 1000),
  })
}
