import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Key } from '../core/cell.ts'
import { AppError, invalidInput, messageOf } from '../core/errors.ts'
import { hasBody, readUpTo } from '../core/http/body.ts'
import { endLate } from '../core/http/end-late.ts'
import { arrivalOf, noteRequester } from '../core/http/http.ts'
import { splitBody } from '../core/http/split-body.ts'
import type { Logger } from '../core/logger.ts'
import type { Metrics } from '../core/metrics.ts'
import { type Cell, unavailable } from './cells.ts'
import type { Directory } from './directory.ts'
import { requestHeaders, responseHeaders } from './headers.ts'
import { type CellAnswer, type HandedMail, type MailOverHttp, partsOf } from './mail-over-http.ts'
import type { Route, Routes } from './route.ts'

export interface ForwardDeps {
  routes: Routes
  directory: Directory
  mail: MailOverHttp
  /** The address of a request's client; '' if it is not known. */
  clientOf(request: IncomingMessage): string
  metrics: Metrics
  log: Logger
}

/** Requests and streams at a time: each takes a connection to an installation. @limit Fronts */
const MAX_OPEN = 20_000

/** More than the answer to a mail with 100 recipients has. */
const MAX_ANSWER_BYTES = 256 * 1024

/** Errors after which nothing was sent. */
const UNREACHED = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '')

type Answer = Dispatcher.ResponseData

/** Whether what the front found at an installation may be elsewhere now: the installation does not know it, or says that it moves. */
const mayHaveMoved = (key: Key, { statusCode }: Answer): boolean =>
  [421, 503, key.startsWith('id:') ? 404 : 401].includes(statusCode)

/** A request that is passed on, and the response to it. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly signal: AbortSignal
}

/** Closes the connection after the answer if the rest of the request's body is not read. */
const closeIfUnread = ({ request, response }: Exchange): void => {
  if (hasBody(request) && !request.complete) response.shouldKeepAlive = false
}

/**
 * Forwards requests to their installation, and its answers to the client, while they arrive and as fast as they are read. A request
 * without an answer may have been carried out, so only GET and HEAD are sent again.
 */
export class Forward {
  readonly #deps: ForwardDeps
  /** Event streams, with the bodies that they are read from. */
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
    // The installation limits how long a body may take; the minimum rate is the same.
    arrivalOf(request).allow(Number.POSITIVE_INFINITY)
    const exchange = { request, response, signal: gone.signal }
    try {
      const route = await this.#deps.routes.of(request)
      if (route.mail) await this.#passOn(exchange, route, route.mail)
      else this.#answer(exchange, await this.#follow(exchange, route), route)
    } catch (error) {
      closeIfUnread(exchange)
      if (!response.destroyed) throw error
    }
  }

  /** Sends a request, and sends it again if its workspace has moved to another installation. */
  async #follow(exchange: Exchange, route: Route): Promise<Answer> {
    const { cell, answer } = await this.#sendToFirst(exchange, route)
    if (route.key === null || !mayHaveMoved(route.key, answer)) return answer
    this.#deps.directory.forget(route.key)
    const [current] = await this.#deps.directory.find(route.key).catch(() => [])
    if (current === undefined || current.cell === cell) return answer
    await answer.body.dump().catch(() => undefined)
    if (route.body === null && hasBody(exchange.request)) throw unavailable()
    return (await this.#sendToFirst(exchange, { ...route, cells: [current.cell], copies: [] })).answer
  }

  /** Returns the answer of the first installation that can be reached. */
  async #sendToFirst(exchange: Exchange, route: Route): Promise<{ cell: Cell; answer: Answer }> {
    let unreached: unknown
    for (const cell of route.cells) {
      try {
        const answer = await this.#send(exchange, cell, route)
        this.#deps.metrics.count('forwards', 'answered')
        for (const other of route.copies) void this.#copy(exchange, other, route)
        return { cell, answer }
      } catch (error) {
        if (exchange.signal.aborted) throw error
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
      { event: 'front.forward', cell: cell.address.http, error: messageOf(error) },
      'installation did not answer a request',
    )
  }

  /** Sends a mail to all installations with recipients, and answers once each of them has. */
  async #passOn(exchange: Exchange, route: Route, mail: HandedMail): Promise<void> {
    const { request, response } = exchange
    const parts = [...partsOf(mail, route.cells[0]!)]
    const streams = route.body === null && hasBody(request)
    const bodies = streams ? splitBody(request.iterator({ destroyOnReturn: false }), parts.length) : []
    const answers = parts.map(async ([cell, added], n): Promise<[Cell, CellAnswer | null]> => {
      try {
        const { statusCode, headers, body } = await this.#send(exchange, cell, { ...route, added }, bodies[n])
        const read = await readUpTo(body, MAX_ANSWER_BYTES)
        if (read === null) throw new Error('its answer is too long')
        this.#deps.metrics.count('forwards', 'answered')
        return [cell, { status: statusCode, headers: headers as unknown as string[], body: read }]
      } catch (error) {
        if (!exchange.signal.aborted) this.#failed(cell, error)
        return [cell, null]
      } finally {
        bodies[n]?.destroy()
      }
    })
    const answered = new Map(await Promise.all(answers))
    if (exchange.signal.aborted) return this.#deps.mail.noteUnproven(mail)
    const { status, headers, body } = await this.#deps.mail.conclude(mail, answered)
    const passed = responseHeaders(headers).set('content-length', [String(body.length)])
    this.#writeHead(exchange, status, passed)
    endLate(response, body)
  }

  async #send(exchange: Exchange, cell: Cell, route: Route, part?: Readable): Promise<Answer> {
    const { request, signal } = exchange
    const method = request.method as Dispatcher.HttpMethod
    const streams = route.body === null && hasBody(request)
    const send = (): Promise<Answer> =>
      cell.pool.request({
        method,
        path: route.url,
        headers: requestHeaders(request, route, this.#deps.clientOf(request)),
        // An iterator: undici destroys a stream when it fails, and the client would get no answer.
        body: streams
          ? (part ?? (request.iterator({ destroyOnReturn: false }) as unknown as Readable))
          : route.body,
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

  /** Sends a copy of a form, without the session, and ignores the answer. */
  async #copy(exchange: Exchange, cell: Cell, route: Route): Promise<void> {
    const signal = AbortSignal.timeout(30_000)
    const answer = await this.#send({ ...exchange, signal }, cell, { ...route, cookie: undefined }).catch(
      () => null,
    )
    await answer?.body.dump().catch(() => undefined)
  }

  #answer(exchange: Exchange, answer: Answer, { workspaceId }: Route): void {
    const { response } = exchange
    const { statusCode, headers, body } = answer
    if (workspaceId !== null && statusCode !== 401) noteRequester(response, { workspaceId })
    const passed = responseHeaders(headers as unknown as string[])
    this.#writeHead(exchange, statusCode, passed)
    // The first event of a stream may come much later.
    if (!passed.has('content-length')) response.flushHeaders()
    if (passed.get('content-type')?.[0]?.startsWith('text/event-stream')) this.#streams.set(response, body)
    body.on('error', () => response.destroy())
    body.once('end', () => endLate(response)).pipe(response, { end: false })
  }

  #writeHead(exchange: Exchange, status: number, headers: ReadonlyMap<string, string[]>): void {
    const { response } = exchange
    closeIfUnread(exchange)
    for (const [name, values] of headers) response.setHeader(name, values.length > 1 ? values : values[0]!)
    response.writeHead(status)
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
