import type { ServerResponse } from 'node:http'
import { hasBody } from './body.ts'

/** How long the rest of a request is read after its answer, in milliseconds. */
const LINGER_MS = 2_000

/**
 * Ends the response, with `last` if it is given, once the rest of the request has been read, for a moment: a connection that is closed
 * with unread data is reset, and the client may lose the answer (RFC 9112, 9.6).
 */
export const endLate = (response: ServerResponse, last?: string | Uint8Array): void => {
  const { req: request } = response
  if (!hasBody(request) || request.complete) return void response.end(last)
  if (last !== undefined) response.write(last)
  const end = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, LINGER_MS)
  // With a listener, it flows on once an iterator that still waits for more has ended.
  request
    .once('end', end)
    .once('close', end)
    .on('data', () => undefined)
    .resume()
}
