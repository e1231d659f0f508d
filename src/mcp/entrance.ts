import type { IncomingMessage, ServerResponse } from 'node:http'
import { readUpTo } from '../core/body.ts'

/** Who is let in at all, before anybody asks who it is. */

/** A failure before the protocol begins, as JSON-RPC has it. */
export const refuse = (
  response: ServerResponse,
  status: number,
  message: string,
  { headers = {}, code = -32000 }: { headers?: Record<string, string>; code?: number } = {},
): void => {
  const text = JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null })
  response
    .writeHead(status, {
      ...headers,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
    })
    .end(text)
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

const urlOf = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null)

/** A page of this service's own, or of this machine while the service is. */
const isOwnOrigin = (origin: string, own: URL): boolean => {
  const url = urlOf(origin)
  if (!url) return false
  return (
    url.origin === own.origin ||
    (LOOPBACK.has(own.hostname) && LOOPBACK.has(url.hostname) && url.port === own.port)
  )
}

/**
 * A name under which this service is known: its public one, one of this machine, an address, or a name
 * without a dot, as networks of containers have them. Whoever points a name of their own at this address is
 * none of these (DNS rebinding).
 */
const isOwnHost = (host: string, own: URL): boolean => {
  const url = urlOf(`http://${host}`)
  if (url?.pathname !== '/') return false
  const { hostname } = url
  return (
    hostname === own.hostname ||
    hostname.startsWith('[') ||
    /^[\d.]+$/.test(hostname) ||
    !hostname.includes('.')
  )
}

/** Whether a browser may have been led here from elsewhere; then it is answered 403 already. */
export const isForeign = (
  { headers }: IncomingMessage,
  response: ServerResponse,
  publicUrl: string,
): boolean => {
  const own = new URL(publicUrl)
  if (headers.origin !== undefined && !isOwnOrigin(headers.origin, own)) {
    refuse(response, 403, 'Origin: is not allowed by this service.')
    return true
  }
  if (isOwnHost(headers.host ?? '', own)) return false
  refuse(response, 403, `Host: must be ${own.host}, the host of PUBLIC_URL.`)
  return true
}

const REALM = 'Bearer realm="Agent Messaging Service"'

/** No `error` where no token was shown: clients take that for a broken one (RFC 6750 3.1). */
export const challenge = (response: ServerResponse, shown: boolean, message: string): void =>
  refuse(response, 401, message, {
    headers: { 'WWW-Authenticate': shown ? `${REALM}, error="invalid_token"` : REALM },
  })

const MAX_BODY_BYTES = 1024 * 1024

/** The request's JSON; null when it was none, and is answered already. */
export const readBody = async (
  request: IncomingMessage,
  response: ServerResponse,
): Promise<object | null> => {
  const body = await readUpTo(request, MAX_BODY_BYTES)
  if (body === null) {
    refuse(response, 413, `body: must be at most ${MAX_BODY_BYTES} bytes`, {
      headers: { Connection: 'close' },
    })
    return null
  }
  return parse(body.toString(), response)
}

/** Deeper than any message, and far from what overflows the stack of those who walk through it. */
const DEEPEST = 64

const isDeep = (value: unknown, depth = 0): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (depth > DEEPEST || Object.values(value).some((one) => isDeep(one, depth + 1)))

const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600

const parse = (text: string, response: ServerResponse): object | null => {
  const refused = (rule: string, code: number) => {
    refuse(response, 400, `body: ${rule}`, { code })
    return null
  }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return refused('must be valid JSON', PARSE_ERROR)
  }
  if (Array.isArray(body)) return refused('must be one message (2025-06-18 has no batches)', INVALID_REQUEST)
  if (typeof body !== 'object' || body === null) return refused('must be a JSON-RPC message', INVALID_REQUEST)
  return isDeep(body) ? refused(`must be nested at most ${DEEPEST} levels deep`, INVALID_REQUEST) : body
}
