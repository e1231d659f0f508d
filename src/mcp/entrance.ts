import type { IncomingMessage, ServerResponse } from 'node:http'
import { RESOURCE_METADATA } from '../auth/index.ts'
import { messageOf } from '../core/errors.ts'
import { MAX_HELD_BYTES, readUpTo } from '../core/http/body.ts'
import { checkShape } from '../core/http/json.ts'

/** The checks before a request is handled: where it comes from, how large it is, whether it is JSON-RPC. */

/** Answers with an HTTP error status and a JSON-RPC error without an id. */
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

/** Whether an origin is the service's own. If the service is on loopback, any loopback name is. */
const isOwnOrigin = (origin: string, own: URL): boolean => {
  const url = urlOf(origin)
  if (!url) return false
  return (
    url.origin === own.origin ||
    (LOOPBACK.has(own.hostname) && LOOPBACK.has(url.hostname) && url.port === own.port)
  )
}

/**
 * Whether a Host header can be this service's: its public name, an IP address, or a name without a dot, such
 * as localhost or a container's. In DNS rebinding, an attacker points a domain of their own at this address;
 * such a domain has a dot.
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

/** Whether a request may come from another site's page in a browser. If so, it is answered with 403. */
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

/**
 * Says where clients learn how to get a token (RFC 9728, 5.1). Without a token there is no `error` (RFC 6750,
 * 3.1): clients would take it for a rejected token.
 */
export const challenge = (
  response: ServerResponse,
  { hasToken, publicUrl }: { hasToken: boolean; publicUrl: string },
  message: string,
): void => {
  const metadata = `resource_metadata="${publicUrl}${RESOURCE_METADATA}"`
  const parts = ['realm="Agent Messaging Service"', ...(hasToken ? ['error="invalid_token"'] : []), metadata]
  refuse(response, 401, message, { headers: { 'WWW-Authenticate': `Bearer ${parts.join(', ')}` } })
}

/**
 * Body of a request. The longest text of a tool, 32,000 characters, takes 384,000 bytes when all of it is escaped.
 * @limit MCP
 */
const MAX_BODY_BYTES = 512 * 1024
/** A message has at most some 60 recipients, or 100 resources to subscribe to. */
const MAX_VALUES = 1_000

const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600

/** What is wrong with a body, and JSON-RPC's code for it. */
class Unreadable extends Error {
  readonly code: number

  constructor(message: string, code: number, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Returns what `read` returns. Whatever it throws is a fault of the body. */
const readable = <Result>(read: () => Result, code: number, message?: string): Result => {
  try {
    return read()
  } catch (error) {
    throw new Unreadable(message ?? messageOf(error), code, error)
  }
}

/** Some clients write what they leave out as null: https://github.com/modelcontextprotocol/typescript-sdk/issues/2012. */
const withoutNullArguments = (message: object): object => {
  const { method, params } = message as { method?: unknown; params?: { arguments?: unknown } | null }
  if (method === 'tools/call' && params?.arguments === null) delete params.arguments
  return message
}

const parse = (body: Uint8Array): object => {
  const text = readable(() => utf8.decode(body), PARSE_ERROR, 'body: must be UTF-8')
  readable(() => checkShape(text, 'body', { maxValues: MAX_VALUES, maxNames: MAX_VALUES }), INVALID_REQUEST)
  const message = readable((): unknown => JSON.parse(text), PARSE_ERROR, 'body: must be valid JSON')
  if (Array.isArray(message))
    throw new Unreadable('body: must be a single message, not a batch', INVALID_REQUEST)
  if (typeof message !== 'object' || message === null)
    throw new Unreadable('body: must be a JSON-RPC message', INVALID_REQUEST)
  return withoutNullArguments(message)
}

/** Tools whose calls wait. */
const WAITING = ['wait_for_messages', 'wait_for_code', 'ask_member']

/** Whether the response to a message may stay open for long: it waits for events. */
export const isHeld = (message: object): boolean => {
  const { method, params } = message as { method?: unknown; params?: { name?: unknown } | null }
  if (method === 'tools/call') return WAITING.some((name) => name === params?.name)
  return method === 'events/stream' || method === 'subscriptions/listen'
}

const refuseTooLong = (response: ServerResponse, max: number): void =>
  refuse(response, 413, `body: must be at most ${max} bytes`, {
    headers: { Connection: 'close' },
    code: INVALID_REQUEST,
  })

/** Reads the JSON-RPC message of a request. Returns null if it is refused; then the request is answered. */
export const readMessage = async (
  request: IncomingMessage,
  response: ServerResponse,
): Promise<object | null> => {
  const body = await readUpTo(request, MAX_BODY_BYTES)
  try {
    const message = body && parse(body)
    const max = message && isHeld(message) ? MAX_HELD_BYTES : MAX_BODY_BYTES
    if (message && body.byteLength <= max) return message
    refuseTooLong(response, max)
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    refuse(response, 400, error.message, { code: error.code })
  }
  return null
}
