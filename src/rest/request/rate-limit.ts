import type { MiddlewareHandler } from 'hono'
import { overQuota } from '../../workspace/rate-limits.ts'
import { costOfBody, countRequest } from '../../workspace/token-requests.ts'
import type { RestEnv } from '../env.ts'

/**
 * Limits the requests per token and minute. The headers are set on Node's response: the router would create a
 * `Headers` object for them and copy it twice, which costs more than reading the rest of the request.
 */
export const limitRate: MiddlewareHandler<RestEnv> = async (c, next) => {
  const quota = countRequest(
    c.get('deps'),
    c.get('viewer'),
    c.env.outgoing,
    1 + costOfBody(Number(c.req.raw.headers.get('Content-Length') ?? 0)),
  )
  if (!quota.allowed) throw overQuota(quota)
  await next()
}

/** Runs the token's requests a few at a time, once their bodies have arrived. */
export const inTurn: MiddlewareHandler<RestEnv> = (c, next) =>
  c.get('deps').requests.run(c.get('viewer').tokenId, next)
