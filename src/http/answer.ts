import type { ServerResponse } from 'node:http'
import { hasBody } from '../core/http/body.ts'
import { httpFailure } from '../core/http/http.ts'
import type { Refusal } from './unreadable.ts'

/** How long the rest of a request is read after its answer, in milliseconds. */
const LINGER_MS = 2_000

/**
 * Ends the response once the rest of the request has been read, for a moment: a connection that is closed with unread data is
 * reset, and the client may lose the answer (RFC 9112, 9.6).
 */
const endLate = (response: ServerResponse): void => {
  const { req: request } = response
  if (!hasBody(request) || request.complete) return void response.end()
  const end = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, LINGER_MS)
  request.once('end', end).once('close', end).resume()
}

/** Answers with a body of JSON. */
export const answer = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void => {
  const text = JSON.stringify(body)
  response
    .writeHead(status, {
      ...headers,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
    })
    .write(text)
  endLate(response)
}

/** A year. Without includeSubDomains: other names of the domain are not the service's. */
const HSTS = 'max-age=31536000'

/** Tells browsers to use nothing but https for this host (RFC 6797). */
export const requireHttps = (response: ServerResponse): void =>
  void response.setHeader('Strict-Transport-Security', HSTS)

/** Answers with the service's error body. */
export const refuse = (response: ServerResponse, { status, error, headers = {} }: Refusal): void => {
  const failure = httpFailure(error, status)
  answer(response, failure.status, failure.body, { ...failure.headers, ...headers })
}
