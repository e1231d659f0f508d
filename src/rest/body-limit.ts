import type { Context, MiddlewareHandler } from 'hono'
import { readUpTo } from '../core/body.ts'
import { AppError } from '../core/errors.ts'
import type { RestEnv } from './env.ts'
import { answerError } from './errors.ts'

/** A body of which more is to be kept than this waits for a place among those that are in memory. */
const SMALL_BYTES = 1024 * 1024

/**
 * Reads a body whose length is not told, as far as `most` bytes: only so can be known how long it is. hono's
 * own limit copies a request with the global `Request`, which can't read the Node server's kind.
 */
const readWhole = async (c: Context<RestEnv>, most: number): Promise<boolean> => {
  const { raw } = c.req
  if (!raw.body) return true
  const body = await readUpTo(raw.body as unknown as AsyncIterable<Uint8Array>, most)
  if (body !== null) c.req.raw = new Request(raw.url, { method: raw.method, headers: raw.headers, body })
  return body !== null
}

/**
 * Refuses a body of more than `mostOf` the request bytes with 413, and lets only so many large ones in at a
 * time. Only a chunked one must be read to know: without a Content-Length and a Transfer-Encoding there is
 * none (RFC 9112 6.3). Of somebody without a token none is read.
 */
export const bodyLimit =
  (mostOf: (method: string, path: string) => number): MiddlewareHandler<RestEnv> =>
  async (c, next) => {
    const most = mostOf(c.req.method, c.req.path)
    const chunked = c.req.raw.headers.has('Transfer-Encoding')
    const length = chunked ? most : Number(c.req.raw.headers.get('Content-Length') ?? 0)
    const tooLarge = () =>
      answerError(c, new AppError('invalid_input', `body: must be at most ${most} bytes`), 413)
    if (length > most) return tooLarge()
    if (!c.var.viewer) return next()
    const large = length > SMALL_BYTES && c.env?.incoming
    const slot = large ? await c.var.deps.largeBodies.enter(c.env.incoming, c.var.viewer.tokenId) : null
    try {
      if (chunked && !(await readWhole(c, most))) return tooLarge()
      return await next()
    } finally {
      slot?.leave()
    }
  }
