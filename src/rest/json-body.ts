import type { MiddlewareHandler } from 'hono'
import { invalidInput } from '../core/errors.ts'
import { checkShape } from '../core/json.ts'
import type { RestEnv } from './env.ts'
import { answerError, notJson } from './errors.ts'
import { readViewer } from './viewer.ts'

/**
 * application/json and no relative of it (`…+json`), in UTF-8, which needs no saying. Other parameters mean
 * nothing.
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

const TAKES_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** Whether there are bytes to be read (RFC 9112 6.3). Clients name types of bodies that they don't send. */
const hasBody = (method: string, headers: Headers): boolean =>
  TAKES_BODY.has(method) &&
  (headers.has('Transfer-Encoding') || Number(headers.get('Content-Length') ?? 0) > 0)

/** Throws `invalid_input` for bytes that are no UTF-8, and for JSON of too many levels or values. */
const readText = (bytes: ArrayBuffer): string => {
  const text = decode(bytes)
  checkShape(text, 'body')
  return text
}

/**
 * Reads bodies as the text that they are. Bytes that are no UTF-8 are refused: read all the same, they would
 * be stored as something else. Who asks is looked up anew once all of a body is here.
 */
export const jsonBody: MiddlewareHandler<RestEnv> = async (c, next) => {
  if (!hasBody(c.req.method, c.req.raw.headers)) return next()
  const type = c.req.header('Content-Type')
  if (type !== undefined && !isJson(type)) return answerError(c, notJson(), 415)
  const bytes = await c.req.raw.arrayBuffer()
  await readViewer(c)
  // hono keeps promises in its cache; its types say values.
  if (type === undefined) c.req.bodyCache.arrayBuffer = Promise.resolve(bytes) as never
  else c.req.bodyCache.text = Promise.resolve(readText(bytes)) as never
  // The validator knows fewer spellings.
  if (type !== undefined && type !== 'application/json')
    c.req.raw.headers.set('Content-Type', 'application/json')
  return next()
}
