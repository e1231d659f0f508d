import type { Context, MiddlewareHandler } from 'hono'
import { costOfBody, countRequest, overQuota } from '../../workspace/index.ts'
import type { RestEnv } from '../route/env.ts'

/** Counts a long answer in JSON by its length, which is known at its end. */
const countAnswer = (c: Context<RestEnv>): void => {
  const { deps, viewer } = c.var
  const { outgoing } = c.env
  const { socket } = outgoing
  const before = socket?.bytesWritten ?? 0
  outgoing.once('finish', () => {
    const cost = costOfBody((socket?.bytesWritten ?? 0) - before)
    const isJson = String(outgoing.getHeader('Content-Type')).startsWith('application/json')
    if (cost > 0 && isJson) countRequest(deps, viewer, outgoing, cost)
  })
}

/**
 * Limits the requests per token and minute. The headers are set on Node's response: the router would create a
 * `Headers` object for them and copy it twice. See docs/decisions.md#quota-headers.
 */
export const limitRate =
  (maxBytesOf: (method: string, path: string) => number): MiddlewareHandler<RestEnv> =>
  async (c, next) => {
    const length = Number(c.req.raw.headers.get('Content-Length') ?? 0)
    // A body that is longer than allowed is refused unread.
    const cost = length > maxBytesOf(c.req.method, c.req.path) ? 0 : costOfBody(length)
    const quota = countRequest(c.get('deps'), c.get('viewer'), c.env.outgoing, 1 + cost)
    if (!quota.allowed) throw overQuota(quota)
    countAnswer(c)
    await next()
  }

/** Runs the token's requests a few at a time, once their bodies have arrived. */
export const inTurn: MiddlewareHandler<RestEnv> = (c, next) =>
  c.get('deps').requests.run(c.get('viewer').tokenId, next)
