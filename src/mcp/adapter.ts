import type { IncomingMessage, ServerResponse } from 'node:http'
import { EventStreamWriter } from '../core/http/event-stream.ts'

/**
 * Converts Node's requests for the SDK's handler, and writes the handler's responses. The SDK's own adapter
 * serializes the body again and reads every response as a stream, which doubles the cost of a call, and it
 * queues without limit for a slow reader.
 */

const HEADERS = [
  'content-type',
  'accept',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'mcp-session-id',
  'last-event-id',
] as const

/** A request without its body, which the handler gets already parsed, and without a signal: see `goneOf`. */
export const webRequestOf = ({ headers }: IncomingMessage): Request => {
  const sent = HEADERS.flatMap((name): [string, string][] => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value]] : []
  })
  return new Request('http://localhost/mcp', { method: 'POST', headers: sent })
}

/**
 * Returns a function that makes a signal, which aborts when the client is gone. A function, because most
 * calls never wait and need no signal.
 */
export const goneOf = (response: ServerResponse) => (): AbortSignal => {
  const gone = new AbortController()
  if (response.closed) gone.abort()
  else response.once('close', () => gone.abort())
  return gone.signal
}

const isStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false

/** Writes a stream at its reader's speed until it ends, its reader leaves or `end` aborts. */
const passOn = async (answer: Response, response: ServerResponse, end?: AbortSignal): Promise<void> => {
  const writer = new EventStreamWriter(response)
  const reader = answer.body!.getReader()
  const ends = end ? AbortSignal.any([writer.signal, end]) : writer.signal
  ends.addEventListener('abort', () => void reader.cancel().catch(() => undefined), { once: true })
  try {
    writer.open('')
    for (let chunk = await reader.read(); !chunk.done && !ends.aborted; chunk = await reader.read()) {
      if (!writer.write(chunk.value)) await writer.drained()
    }
  } finally {
    writer.end()
  }
}

/** Writes the SDK's response. A stream ends when `end` aborts. */
export const writeAnswer = async (
  answer: Response,
  response: ServerResponse,
  end?: AbortSignal,
): Promise<void> => {
  if (isStream(answer)) return passOn(answer, response, end)
  const text = answer.body === null ? '' : await answer.text()
  const headers = Object.fromEntries(answer.headers)
  response.writeHead(answer.status, { ...headers, 'Content-Length': Buffer.byteLength(text) }).end(text)
}
