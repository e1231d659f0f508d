import type { MiddlewareHandler } from 'hono'
import { AppError } from '../core/errors.ts'
import type { RestEnv } from './env.ts'
import { answerError } from './errors.ts'

/** The whole body, or null as soon as it is longer than `most` bytes. */
const readUpTo = async (body: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array<ArrayBuffer> | null> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > most) return null
    chunks.push(chunk)
  }
  return Uint8Array.from(Buffer.concat(chunks))
}

/**
 * Refuses a body of more than `mostOf` the request bytes with 413. Only a chunked one must be read to know: without a Content-Length and a
 * Transfer-Encoding there is none (RFC 9112 6.3). hono's own limit copies a request with the global `Request`, which can't read the
 * Node server's kind.
 */
export const bodyLimit =
  (mostOf: (method: string, path: string) => number): MiddlewareHandler<RestEnv> =>
  async (c, next) => {
    const { raw } = c.req
    const most = mostOf(c.req.method, c.req.path)
    const tooLarge = () => answerError(c, new AppError('invalid_input', `body: must be at most ${most} bytes`), 413)
    if (!raw.headers.has('Transfer-Encoding')) return Number(raw.headers.get('Content-Length') ?? 0) > most ? tooLarge() : next()
    if (!raw.body) return next()
    const body = await readUpTo(raw.body, most)
    if (body === null) return tooLarge()
    c.req.raw = new Request(raw.url, { method: raw.method, headers: raw.headers, body })
    return next()
  }
