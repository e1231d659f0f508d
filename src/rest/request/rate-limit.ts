import type { MiddlewareHandler } from 'hono'
import { overQuota, quotaHeaders } from '../../workspace/rate-limits.ts'
import type { RestEnv } from '../env.ts'

/** Limits the requests per token and minute. */
export const limitRate: MiddlewareHandler<RestEnv> = async (c, next) => {
  const { rates, rateLimit } = c.var.deps
  const quota = rates.take(`token:${c.var.viewer.tokenId}`, rateLimit)
  for (const [name, value] of Object.entries(quotaHeaders(quota))) c.header(name, value)
  if (!quota.allowed) throw overQuota(quota)
  await next()
}
