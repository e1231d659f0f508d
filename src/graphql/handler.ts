import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { AppError, notFound } from '../core/errors.ts'
import { WINDOW_MS } from '../workspace/rate-limits.ts'
import { authenticate, bearerOf, type Viewer } from '../workspace/viewer.ts'
import type { GraphqlContext, GraphqlDeps } from './context.ts'
import { type FailedAnswer, failedAnswer } from './errors.ts'
import { Readers } from './readers.ts'
import { createSchema } from './schema.ts'
import { SingleConnections } from './single.ts'
import { Subscriptions } from './subscriptions.ts'
import { createPipeline, MOST_BODY_BYTES, type Pipeline } from './yoga.ts'

export interface Graphql {
  /** How many subscriptions are open. */
  readonly size: number
  /** Serves `/graphql` and `/graphql/stream`. Throws for nothing that a client can do. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Ends what is open: each subscription is told why. */
  stop(): void
}

const METHODS: Record<string, readonly string[]> = { '/graphql': ['GET', 'POST'], '/graphql/stream': ['GET', 'POST', 'PUT', 'DELETE'] }

/** A refusal that the code alone doesn't tell the status of. */
class Refused extends Error {
  readonly failure: AppError
  readonly status: number
  readonly headers: Record<string, string>

  constructor(failure: AppError, status: number, headers: Record<string, string> = {}) {
    super(failure.message)
    this.failure = failure
    this.status = status
    this.headers = headers
  }
}

const pathOf = (request: IncomingMessage): string => (request.url ?? '/').split('?', 1)[0]!.replace(/\/$/, '')

/**
 * What is no request of this service. Only application/json makes a browser ask first whether another site may send it, and nobody
 * says yes here.
 */
const checkForm = (request: IncomingMessage): void => {
  const methods = METHODS[pathOf(request)]
  if (!methods) throw notFound('resource')
  const method = request.method ?? ''
  if (!methods.includes(method))
    throw new Refused(new AppError('invalid_input', `${method} is not allowed here.`), 405, { Allow: methods.join(', ') })
  if (method === 'POST' && !/^application\/json *(;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new Refused(new AppError('invalid_input', 'body: the Content-Type must be application/json'), 415)
  if (Number(request.headers['content-length'] ?? 0) > MOST_BODY_BYTES) throw tooLarge()
}

const tooLarge = () => new Refused(new AppError('invalid_input', `body: must be at most ${MOST_BODY_BYTES} bytes`), 413)

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.byteLength
    if (size > MOST_BODY_BYTES) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

const takesStreams = (request: IncomingMessage): boolean => /text\/event-stream|text\/\*|\*\/\*/.test(request.headers.accept ?? '*/*')

/** One request of the token's, told in the headers that REST has (draft-ietf-httpapi-ratelimit-headers). */
const countRequest = ({ rates, rateLimit }: GraphqlDeps, viewer: Viewer, response: ServerResponse): void => {
  const { allowed, limit, remaining, resetSeconds } = rates.take(`token:${viewer.tokenId}`, rateLimit)
  response.setHeader('RateLimit-Policy', `"token";q=${limit};w=${WINDOW_MS / 1000}`)
  response.setHeader('RateLimit', `"token";r=${remaining};t=${resetSeconds}`)
  if (!allowed) throw new AppError('rate_limited', `At most ${limit} requests a minute for each token.`, { retryAfter: resetSeconds })
}

/** A signal that aborts when the answer's reader is gone, or has it all. */
const lifeOf = (response: ServerResponse): AbortSignal => {
  const life = new AbortController()
  response.once('close', () => life.abort())
  return life.signal
}

const answerFailure = (response: ServerResponse, { status, headers, body }: FailedAnswer): void => {
  if (response.headersSent) response.destroy()
  else response.writeHead(status, headers).end(body)
}

class Server implements Graphql {
  readonly #deps: GraphqlDeps
  readonly #pipeline: Pipeline
  readonly #subscriptions: Subscriptions
  readonly #single: SingleConnections
  readonly #readers = new Readers()

  constructor(deps: GraphqlDeps) {
    this.#deps = deps
    this.#pipeline = createPipeline(createSchema(), deps.log)
    this.#subscriptions = new Subscriptions(deps)
    this.#single = new SingleConnections(deps, this.#pipeline)
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = String(response.getHeader('X-Request-Id') ?? randomUUID())
    try {
      if (pathOf(request) === '/graphql/stream' && this.#single.opensReserved(request)) {
        return await this.#serveSingle(request, response, null)
      }
      const context = await this.#contextOf(request, response, requestId)
      checkForm(request)
      if (pathOf(request) === '/graphql') await this.#serve(request, response, context)
      else await this.#serveSingle(request, response, context)
    } catch (error) {
      const refused = error instanceof Refused ? error : null
      const answer = failedAnswer(refused?.failure ?? error, this.#deps.log, requestId, refused?.status)
      answerFailure(response, { ...answer, headers: { ...answer.headers, ...refused?.headers } })
    }
  }

  get size(): number {
    return this.#subscriptions.size
  }

  stop(): void {
    this.#subscriptions.stop()
    this.#single.stop()
    this.#readers.stop()
  }

  async #contextOf(request: IncomingMessage, response: ServerResponse, requestId: string): Promise<GraphqlContext> {
    const signal = lifeOf(response)
    const viewer = await authenticate(this.#deps, bearerOf(request.headers.authorization))
    countRequest(this.#deps, viewer, response)
    return { deps: this.#deps, subscriptions: this.#subscriptions, viewer, requestId, signal, streams: takesStreams(request) }
  }

  async #serve(request: IncomingMessage, response: ServerResponse, context: GraphqlContext): Promise<void> {
    const answer = await this.#pipeline.handleNodeRequestAndResponse(request, response, context)
    const type = answer.headers.get('content-type')
    response.statusCode = answer.status
    if (type?.startsWith('text/event-stream')) return this.#stream(response, answer.body as unknown as Readable)
    for (const [name, value] of answer.headers) response.setHeader(name, value)
    response.end(await answer.text())
  }

  #stream(response: ServerResponse, frames: Readable): void {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' })
    this.#readers.watch(response)
    response.once('close', () => frames.destroy())
    frames.once('error', () => response.destroy())
    frames.pipe(response)
  }

  async #serveSingle(request: IncomingMessage, response: ServerResponse, context: GraphqlContext | null): Promise<void> {
    const body = request.method === 'POST' ? await readBody(request) : ''
    const failure = await this.#single.serve(request, response, body, context, (stream) => this.#readers.watch(stream))
    if (failure) answerFailure(response, failure)
  }
}

/** The GraphQL skin: starts to watch over open subscriptions at once, and answers requests that a server hands to it. */
export const createGraphql = (deps: GraphqlDeps): Graphql => new Server(deps)
