import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { AppError } from '../core/errors.ts'
import { httpFailure } from '../core/http/http.ts'
import { publicError } from '../db/failure.ts'

type Fetch = (request: Request, bindings: HttpBindings) => Response | Promise<Response>

/**
 * Responds to requests that the adapter cannot parse (an invalid Host, a backslash in the path), which never
 * reach the router.
 */
const answerError = (error: unknown): Response => {
  const unreadable = error instanceof RequestError
  const failure = httpFailure(
    unreadable ? new AppError('invalid_input', 'request: its URL or Host is not valid') : publicError(error),
  )
  return Response.json(failure.body, { status: failure.status, headers: failure.headers })
}

/** A request whose body arrived too slowly has already been answered when the router gives up on it. */
const unlessAnswered = (answer: Response, { outgoing }: HttpBindings): Response =>
  outgoing.headersSent ? RESPONSE_ALREADY_SENT : answer

/**
 * Adapts the router to Node's HTTP server. The adapter replaces the global `Request` and `Response` by its
 * own, which write a response to the socket without a stream: a saving of 40% for a small request.
 */
export const listenerOf = (fetch: Fetch) =>
  getRequestListener(
    async (request, bindings) =>
      unlessAnswered(await fetch(request, bindings as HttpBindings), bindings as HttpBindings),
    { errorHandler: answerError },
  )
