import { randomUUID } from 'node:crypto'
import {
  type IncomingMessage,
  maxHeaderSize,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError, invalidInput } from '../core/errors.ts'
import { httpFailure } from '../core/http.ts'
import type { Logger } from '../core/logger.ts'

/** Every method that some path takes: for requests whose own path nobody looked at. */
export const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'

/** What is answered with the error body. `status` where the code alone doesn't tell it. */
export interface Refusal {
  error: AppError
  status?: number
  headers?: Record<string, string>
}

export const notAllowed = (method: string, allow: string): Refusal => ({
  status: 405,
  error: new AppError('invalid_input', `${method} is not allowed here.`),
  headers: { Allow: allow },
})

export const EXPECTATION_FAILED: Refusal = {
  status: 417,
  error: invalidInput('Expect', 'must be 100-continue'),
  headers: { Connection: 'close' }, // the body that it announces may never come
}

const BAD: Refusal = { status: 400, error: invalidInput('request', 'is not valid HTTP') }

/** By what Node's server says about it. */
const REFUSALS: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    error: invalidInput(
      'request',
      `its first line and headers must be at most ${maxHeaderSize} bytes together`,
    ),
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    error: invalidInput('body', 'its chunk extensions are too long'),
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, error: invalidInput('request', 'took too long to arrive') },
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}) \S+ HTTP\/1\.[01]\r?\n/

/** The parser knows a list of methods; one that isn't on it is a method all the same. */
const refusalOf = ({ code = '', rawPacket }: NodeJS.ErrnoException & { rawPacket?: Buffer }): Refusal => {
  const method =
    code === 'HPE_INVALID_METHOD' ? REQUEST_LINE.exec(rawPacket?.toString('latin1') ?? '')?.[1] : undefined
  return method ? notAllowed(method, METHODS) : (REFUSALS[code] ?? BAD)
}

/** Writes an answer where Node made none: on the socket itself, which it then closes. */
const answerOn = (socket: Duplex, { error, status: asked, headers = {} }: Refusal, log: Logger): void => {
  const requestId = randomUUID()
  const { status, body: failure } = httpFailure(error, asked)
  const body = JSON.stringify(failure)
  const fields = {
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': requestId,
    Date: new Date().toUTCString(),
    Connection: 'close',
  }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  log.info({ requestId, status, error: error.message }, 'request')
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`)
}

/**
 * What never becomes a request (no HTTP, a method that Node doesn't know, CONNECT) still gets the error body,
 * as far as anybody reads it.
 */
export const refuseUnreadable = (server: Server, log: Logger): void => {
  const answers = new WeakMap<Duplex, ServerResponse>()
  server.prependListener(
    'request',
    ({ socket }: IncomingMessage, response: ServerResponse) => void answers.set(socket, response),
  )
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const begun = answers.get(socket)
    const inTheMiddle = begun?.headersSent && !begun.writableEnded
    if (!socket.writable || error.code === 'ECONNRESET' || inTheMiddle) socket.destroy()
    else answerOn(socket, refusalOf(error), log)
  })
  server.on('connect', (_request, socket) => {
    socket.on('error', () => undefined)
    answerOn(socket, notAllowed('CONNECT', METHODS), log)
  })
}
