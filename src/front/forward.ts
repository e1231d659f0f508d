import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Key } from '../core/cell.ts'
import { AppError, invalidInput, messageOf } from '../core/errors.ts'
import { arrivalOf, noteRequester } from '../core/http/http.ts'
import type { Logger } from '../core/logger.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Cell } from './cells.ts'
import type { Directory } from './directory.ts'
import { requestHeaders, responseHeaders } from './headers.ts'
import type { Route, Routes } from './route.ts'

export interface ForwardDeps {
  routes: Routes
  directory: Directory
  /** The address of a request's client; '' if it is not known. */
  clientOf(request: IncomingMessage): string
  metrics: Metrics
  log: Logger
}

/** Requests and streams at a time: each takes a connection to an installation. @limit Fronts */
const MAX_OPEN = 20_000

/** Nothing was sent. */
const UNREACHED = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '')

const unavailable = (cause?: unknown) =>
  new AppError('unavailable', 'This part of the service does not answer. Try again shortly.', {
    cause,
    retryAfter: 2,
  })

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

type Answer = Dispatcher.ResponseData

/** Whether an installation may not have what the front knew it to have: it does not know it, or says that it moves. */
const isMisplaced = (key: Key, { statusCode }: Answer): boolean =>
  [421, 503, key.startsWith('id:') ? 404 : 401].includes(statusCode)

/** A request that is passed on. */
interface Passing {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly signal: AbortSignal
}

/** Closes the connection after the answer to a request whose body is not read to its end: nobody reads the rest. */
const closeIfUnread = ({ request, response }: Passing): void => {
  if (hasBody(request) && !request.complete) response.shouldKeepAlive = false
}

/**
 * Passes requests on to the installation that they are for, and answers back, as they arrive and as fast as they are read. A
 * request that is not answered may have been carried out: only what changes nothing is sent again.
 */
export class Forward {
  readonly #deps: ForwardDeps
  /** Answers that go on until somebody ends them, with where they come from. */
  readonly #streams = new Map<ServerResponse, Readable>()
  #open = 0

  constructor(deps: ForwardDeps) {
    this.#deps = deps
  }

  /** Requests and streams that are being passed on. */
  get size(): number {
    return this.#open
  }

  /** Ends event streams, whose clients then connect to another front. */
  endStreams(): void {
    for (const [response, body] of this.#streams) {
      body.unpipe(response)
      response.end()
    }
  }

  handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (response.destroyed) return
    if (this.#open >= MAX_OPEN)
      throw new AppError('unavailable', 'Too many requests at once.', { retryAfter: 5 })
    const gone = new AbortController()
    this.#open++
    response.once('close', () => {
      this.#open--
      this.#streams.delete(response)
      gone.abort()
    })
    // How long a body may take is for the installation to say; its least rate is the same.
    arrivalOf(request).allow(Number.POSITIVE_INFINITY)
    const passing = { request, response, signal: gone.signal }
    try {
      this.#answer(passing, await this.#settled(passing, await this.#deps.routes.of(request)))
    } catch (error) {
      closeIfUnread(passing)
      if (!response.destroyed) throw error
    }
  }

  /** Sends a request, and once more to where it belongs by now if its workspace has moved. */
  async #settled(passing: Passing, route: Route): Promise<{ answer: Answer; route: Route }> {
    const { cell, answer } = await this.#first(passing, route)
    if (route.key === null || !isMisplaced(route.key, answer)) return { answer, route }
    this.#deps.directory.forget(route.key)
    const [now] = await this.#deps.directory.find(route.key).catch(() => [])
    if (now === undefined || now.cell === cell) return { answer, route }
    await answer.body.dump().catch(() => undefined)
    if (route.body === null && hasBody(passing.request)) throw unavailable()
    const moved = { ...route, cells: [now.cell], also: [] }
    return { answer: (await this.#first(passing, moved)).answer, route: moved }
  }

  /** Returns the answer of the first installation that can be reached. */
  async #first(passing: Passing, route: Route): Promise<{ cell: Cell; answer: Answer }> {
    let unreached: unknown
    for (const cell of route.cells) {
      try {
        const answer = await this.#send(passing, cell, route)
        this.#deps.metrics.count('forwards', 'answered')
        for (const other of route.also) void this.#tell(passing, other, route)
        return { cell, answer }
      } catch (error) {
        if (passing.signal.aborted) throw error
        this.#failed(cell, error)
        if (!UNREACHED.has(codeOf(error))) throw lost(error)
        unreached = error
      }
    }
    throw unavailable(unreached)
  }

  #failed(cell: Cell, error: unknown): void {
    this.#deps.metrics.count('forwards', UNREACHED.has(codeOf(error)) ? 'unreached' : 'lost')
    this.#deps.log.warn(
      { event: 'front.forward', cell: cell.place.http, error: messageOf(error) },
      'installation did not answer a request',
    )
  }

  async #send(passing: Passing, cell: Cell, route: Route): Promise<Answer> {
    const { request, signal } = passing
    const method = request.method as Dispatcher.HttpMethod
    const streams = route.body === null && hasBody(request)
    const send = (): Promise<Answer> =>
      cell.pool.request({
        method,
        path: route.url,
        headers: requestHeaders(request, route, this.#deps.clientOf(request)),
        // An iterator: undici destroys a stream when it fails, and the client would get no answer.
        body: streams ? (request.iterator({ destroyOnReturn: false }) as unknown as Readable) : route.body,
        signal,
        responseHeaders: 'raw',
      })
    try {
      return await send()
    } catch (error) {
      const isAgain =
        codeOf(error) === 'UND_ERR_SOCKET' && !streams && (method === 'GET' || method === 'HEAD')
      if (!isAgain || signal.aborted) throw error
      return send()
    }
  }

  /** Sends it without waiting for an answer: the form with which somebody asks for links to sign in. */
  async #tell(passing: Passing, cell: Cell, route: Route): Promise<void> {
    const signal = AbortSignal.timeout(30_000)
    const answer = await this.#send({ ...passing, signal }, cell, { ...route, cookie: undefined }).catch(
      () => null,
    )
    await answer?.body.dump().catch(() => undefined)
  }

  #answer(passing: Passing, { answer, route }: { answer: Answer; route: Route }): void {
    const { response } = passing
    const { statusCode, headers, body } = answer
    closeIfUnread(passing)
    if (route.workspaceId !== null && statusCode !== 401)
      noteRequester(response, { workspaceId: route.workspaceId })
    const passed = responseHeaders(headers as unknown as string[])
    for (const [name, values] of passed) response.setHeader(name, values.length > 1 ? values : values[0]!)
    response.writeHead(statusCode)
    // The first event of a stream may come much later.
    if (!passed.has('content-length')) response.flushHeaders()
    if (passed.get('content-type')?.[0]?.startsWith('text/event-stream')) this.#streams.set(response, body)
    body.on('error', () => response.destroy())
    body.pipe(response)
  }
}

/** The error for a request that may or may not have been carried out. */
const lost = (error: unknown): unknown =>
  codeOf(error) === 'UND_ERR_INVALID_ARG'
    ? invalidInput('request', 'cannot be passed on')
    : new AppError('unavailable', 'The connection to this part of the service was lost.', {
        cause: error,
        retryAfter: 2,
      })
