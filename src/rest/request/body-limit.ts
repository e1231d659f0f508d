import type { Context, MiddlewareHandler } from 'hono'
import { AppError } from '../../core/errors.ts'
import { encodedBody, isEncoded, readUpTo } from '../../core/http/body.ts'
import type { RestEnv } from '../route/env.ts'
import { answerError } from '../route/errors.ts'

/** A body larger than this waits for a place among the large bodies in memory. */
const SMALL_BYTES = 1024 * 1024

/**
 * Reads a body of unknown length, up to `max` bytes: its length is known only then. hono's own limit copies a
 * request with the global `Request`, which cannot read the Node server's kind, and its stream would keep the rest from being read.
 */
const readWhole = async (c: Context<RestEnv>, max: number): Promise<boolean> => {
  const { raw } = c.req
  if (raw.method === 'GET' || raw.method === 'HEAD') return true
  const body = await readUpTo(c.env.incoming.iterator({ destroyOnReturn: false }), max)
  if (body !== null) c.req.raw = new Request(raw.url, { method: raw.method, headers: raw.headers, body })
  return body !== null
}

/**
 * Rejects a body that exceeds the maximum for its request with 413, and limits the number of large bodies in
 * memory. Only a chunked body must be read for that: without a Content-Length and a Transfer-Encoding there
 * is none (RFC 9112 6.3). The body of an unauthenticated request is never read.
 */
export const bodyLimit =
  (maxBytesOf: (method: string, path: string) => number): MiddlewareHandler<RestEnv> =>
  async (c, next) => {
    const max = maxBytesOf(c.req.method, c.req.path)
    const chunked = c.req.raw.headers.has('Transfer-Encoding')
    const length = chunked ? max : Number(c.req.raw.headers.get('Content-Length') ?? 0)
    const tooLarge = () =>
      answerError(c, new AppError('invalid_input', `body: must be at most ${max} bytes`), 413)
    if (length > max) return tooLarge()
    if (!c.get('viewer')) return next()
    const large = length > SMALL_BYTES && c.env?.incoming
    const slot = large ? await c.get('deps').largeBodies.enter(c.env.incoming, c.get('viewer').tokenId) : null
    try {
      if (chunked && !(await readWhole(c, max))) return tooLarge()
      return await next()
    } finally {
      slot?.leave()
    }
  }

/** Rejects a compressed body with 415 (RFC 9110, 15.5.16). */
export const refuseEncoded: MiddlewareHandler<RestEnv> = (c, next) => {
  if (!isEncoded(c.req.header('Content-Encoding'))) return next()
  c.header('Accept-Encoding', 'identity')
  return Promise.resolve(answerError(c, encodedBody(), 415))
}
