import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError, invalidInput } from '../core/errors.ts'
import { type Arrival, type Arrivals, NO_BODY } from '../core/http/arrivals.ts'
import { hasBody } from '../core/http/body.ts'
import { httpFailure, noteOrigin } from '../core/http/http.ts'
import type { Refusal } from './unreadable.ts'

const REFUSALS: Record<'slow' | 'displaced', Refusal> = {
  slow: { status: 408, error: invalidInput('request', 'took too long to arrive') },
  displaced: {
    error: new AppError('unavailable', 'This request arrived too slowly, and its slot was needed.', {
      retryAfter: 10,
    }),
  },
}

/** Aborts a request in the middle of its body, with a response if there was none yet. */
const cutOff = (
  request: IncomingMessage,
  response: ServerResponse,
  { error, status: override }: Refusal,
): void => {
  if (response.headersSent) return void request.socket.destroy()
  const { status, headers, body } = httpFailure(error, override)
  const text = JSON.stringify(body)
  const length = Buffer.byteLength(text)
  response.writeHead(status, {
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': length,
    Connection: 'close',
  })
  response.end(text, () => request.destroy())
}

/** Records where a request comes from, and monitors the arrival of its body, if it has one. */
export const receiveRequest = (
  arrivals: Arrivals,
  request: IncomingMessage,
  response: ServerResponse,
  source: string,
): void => {
  const { socket } = request
  if (!hasBody(request)) {
    noteOrigin(request, { source, arrival: NO_BODY })
    return
  }
  const arrival: Arrival = arrivals.watch({
    received: () => socket.bytesRead,
    starved: () => !request.complete && request.readableLength === 0,
    cut: (why) => cutOff(request, response, REFUSALS[why]),
  })
  noteOrigin(request, { source, arrival })
  request.once('end', () => arrival.end()).once('close', () => arrival.end())
}
