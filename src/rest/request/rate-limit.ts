import type { MiddlewareHandler } from 'hono'
import { overQuota, quotaHeaders } from '../../workspace/rate-limits.ts'
import type { RestEnv } from '../env.ts'

/**
 * Limits the requests per token and minute. The headers are set on Node's response: the router would create a
 * `Headers` object for them and copy it twice, which costs more than reading the rest of the request.
 */
export const limitRate: MiddlewareHandler<RestEnv> = async (c, next) => {
  const { rates, rateLimit } = c.get('deps')
  const quota = rates.take(`token:${c.get('viewer').tokenId}`, rateLimit)
  for (const [name, value] of Object.entries(quotaHeaders(quota))) c.env.outgoing.setHeader(name, value)
  if (!quota.allowed) throw overQuota(quota)
  await next()
}
