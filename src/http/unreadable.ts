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
import { httpFailure } from '../core/http/http.ts'
import type { Logger } from '../core/logger.ts'

/** All methods that some path accepts, for requests whose own path is not known. */
export const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'

/** A response with the error body. `status` overrides the status of the error code. */
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
  headers: { Connection: 'close' }, // the announced body may never arrive
}

const BAD: Refusal = { status: 400, error: invalidInput('request', 'is not valid HTTP') }

/** By the error code of Node's server. */
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

/** Node's parser accepts a fixed list of methods; other syntactically valid methods get 405. */
const refusalOf = ({ code = '', rawPacket }: NodeJS.ErrnoException & { rawPacket?: Buffer }): Refusal => {
  const method =
    code === 'HPE_INVALID_METHOD' ? REQUEST_LINE.exec(rawPacket?.toString('latin1') ?? '')?.[1] : undefined
  return method ? notAllowed(method, METHODS) : (REFUSALS[code] ?? BAD)
}

/** Writes a response directly to the socket, because Node has created none, and closes it. */
const answerOn = (socket: Duplex, { error, status: override, headers = {} }: Refusal, log: Logger): void => {
  const requestId = randomUUID()
  const { status, body: failure } = httpFailure(error, override)
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

/** The response to the last request of a connection. */
const ANSWER = Symbol('answer')

interface Answered {
  socket: Duplex & { [ANSWER]?: ServerResponse }
}

/**
 * Requests that Node cannot parse (not HTTP, an unknown method) and CONNECT get the error body too, if the
 * client still reads it.
 */
export const refuseUnreadable = (server: Server, log: Logger): void => {
  server.prependListener('request', ({ socket }: IncomingMessage & Answered, response: ServerResponse) => {
    socket[ANSWER] = response
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Answered['socket']) => {
    const begun = socket[ANSWER]
    const inTheMiddle = begun?.headersSent && !begun.writableEnded
    if (!socket.writable || error.code === 'ECONNRESET' || inTheMiddle) socket.destroy()
    else answerOn(socket, refusalOf(error), log)
  })
  server.on('connect', (_request, socket) => {
    socket.on('error', () => undefined)
    answerOn(socket, notAllowed('CONNECT', METHODS), log)
  })
}
