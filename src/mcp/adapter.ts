import type { IncomingMessage, ServerResponse } from 'node:http'
import { EventStreamWriter } from '../core/event-stream.ts'

/**
 * Node's requests as the SDK's handler takes them, and its answers as Node writes them. The SDK's own adapter
 * spells the body anew and reads every answer as a stream, which costs as much as the rest of a call; and its
 * queue has no bound for a slow reader.
 */

const READ = [
  'content-type',
  'accept',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'mcp-session-id',
  'last-event-id',
] as const

/**
 * A request without its body, which goes beside it. Whether somebody still waits for the answer tells
 * `goneOf`.
 */
export const webRequestOf = ({ headers }: IncomingMessage): Request => {
  const read = READ.flatMap((name): [string, string][] => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value]] : []
  })
  return new Request('http://localhost/mcp', { method: 'POST', headers: read })
}

/**
 * Makes a signal that aborts when nobody waits for the answer any more; only when it is asked for: most calls
 * never wait.
 */
export const goneOf = (response: ServerResponse) => (): AbortSignal => {
  const gone = new AbortController()
  if (response.closed) gone.abort()
  else response.once('close', () => gone.abort())
  return gone.signal
}

const isStream = (answer: Response): boolean =>
  answer.headers.get('content-type')?.startsWith('text/event-stream') ?? false

/** Writes a stream at its reader's speed, until it ends, its reader leaves, or `end` aborts. */
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

/** Writes the SDK's answer. A stream ends when `end` aborts. */
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
