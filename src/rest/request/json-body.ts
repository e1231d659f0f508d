import type { MiddlewareHandler } from 'hono'
import { invalidInput } from '../../core/errors.ts'
import { checkShape } from '../../core/http/json.ts'
import type { RestEnv } from '../route/env.ts'
import { answerError, notJson } from '../route/errors.ts'
import { readViewer } from './viewer.ts'

/**
 * Accepts application/json, not related types (`…+json`), in UTF-8, the default. Other parameters are
 * ignored.
 */
const isJson = (contentType: string): boolean => {
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))
  return type === 'application/json' && (charset === undefined || /^charset="?utf-?8"?$/.test(charset))
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

const decode = (bytes: ArrayBuffer): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    throw invalidInput('body', 'must be UTF-8')
  }
}

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/**
 * Returns whether the request has a body to read (RFC 9112 6.3). Some clients send a Content-Type without
 * one.
 */
const hasBody = (method: string, headers: Headers): boolean =>
  METHODS_WITH_BODY.has(method) &&
  (headers.has('Transfer-Encoding') || Number(headers.get('Content-Length') ?? 0) > 0)

/** Throws `invalid_input` for bytes that are not UTF-8, and for JSON with too many levels or values. */
const readText = (bytes: ArrayBuffer): string => {
  const text = decode(bytes)
  checkShape(text, 'body')
  return text
}

/**
 * Reads bodies as text. Bytes that are not UTF-8 are rejected: decoding them leniently would store something
 * else. The viewer is authenticated again once the whole body has arrived.
 */
export const jsonBody: MiddlewareHandler<RestEnv> = async (c, next) => {
  if (!hasBody(c.req.method, c.req.raw.headers)) return next()
  const type = c.req.header('Content-Type')
  if (type !== undefined && !isJson(type)) return answerError(c, notJson(), 415)
  const bytes = await c.req.raw.arrayBuffer()
  c.set('bytes', bytes.byteLength)
  await readViewer(c)
  // hono stores promises in its cache, although its types say values.
  if (type === undefined) c.req.bodyCache.arrayBuffer = Promise.resolve(bytes) as never
  else c.req.bodyCache.text = Promise.resolve(readText(bytes)) as never
  // The validator recognizes fewer spellings.
  if (type !== undefined && type !== 'application/json')
    c.req.raw.headers.set('Content-Type', 'application/json')
  return next()
}
