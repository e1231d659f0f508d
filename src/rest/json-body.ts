import type { MiddlewareHandler } from 'hono'
import { invalidInput } from '../core/errors.ts'
import type { RestEnv } from './env.ts'
import { answerError, notJson } from './errors.ts'

/** application/json and no relative of it (`…+json`), in UTF-8, which needs no saying. Other parameters mean nothing. */
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

const TAKES_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** Whether there are bytes to be read (RFC 9112 6.3). Clients name types of bodies that they don't send. */
const hasBody = (method: string, headers: Headers): boolean =>
  TAKES_BODY.has(method) && (headers.has('Transfer-Encoding') || Number(headers.get('Content-Length') ?? 0) > 0)

/** Reads bodies as the text that they are. Bytes that are no UTF-8 are refused: read all the same, they would be stored as something else. */
export const jsonBody: MiddlewareHandler<RestEnv> = async (c, next) => {
  const type = c.req.header('Content-Type')
  if (type === undefined || !hasBody(c.req.method, c.req.raw.headers)) return next()
  if (!isJson(type)) return answerError(c, notJson(), 415)
  if (type !== 'application/json') c.req.raw.headers.set('Content-Type', 'application/json') // the validator knows fewer spellings
  const text = decode(await c.req.raw.arrayBuffer())
  c.req.bodyCache.text = Promise.resolve(text) as never // hono keeps promises there; its types say values
  return next()
}
