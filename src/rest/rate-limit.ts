import type { MiddlewareHandler } from 'hono'
import { AppError } from '../core/errors.ts'
import { WINDOW_MS } from '../workspace/rate-limits.ts'
import type { RestEnv } from './env.ts'

/** Requests per token and minute, told in the headers of draft-ietf-httpapi-ratelimit-headers. */
export const limitRate: MiddlewareHandler<RestEnv> = async (c, next) => {
  const { rates, rateLimit } = c.var.deps
  const quota = rates.take(`token:${c.var.viewer.tokenId}`, rateLimit)
  c.header('RateLimit-Policy', `"token";q=${quota.limit};w=${WINDOW_MS / 1000}`)
  c.header('RateLimit', `"token";r=${quota.remaining};t=${quota.resetSeconds}`)
  if (!quota.allowed) {
    throw new AppError('rate_limited', `At most ${quota.limit} requests a minute for each token.`, { retryAfter: quota.resetSeconds })
  }
  await next()
}
