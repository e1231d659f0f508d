import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type DocumentNode, type ExecutionResult, getOperationAST, OperationTypeNode } from 'graphql'
import {
  createHandler,
  type Handler,
  type OperationArgs,
  type Request,
  type RequestParams,
  type Response,
} from 'graphql-sse'
import { AppError, type ErrorCode } from '../../core/errors.ts'
import { streamTokenOf } from '../../core/http/stream-token.ts'
import { hashToken, watchTokens } from '../../workspace/index.ts'
import type { GraphqlContext, Operation } from '../context/context.ts'
import type { GraphqlDeps } from '../context/deps.ts'
import { type FailedAnswer, failedAnswer, presentError, withoutHttp } from '../execution/errors.ts'
import { execute, subscribe } from '../execution/execution.ts'
import type { Pipeline } from '../execution/yoga.ts'
import { EventStream } from './event-stream.ts'
import { ensureAllowed } from './persisted.ts'
import { checkOperation } from './request.ts'

/** How long a reservation waits for its reader, and maximum number of streams per token. */
const RESERVED_MS = 30_000
/** Maximum number of reserved event streams of a token. @limit GraphQL */
const MAX_RESERVED = 20
/** Time for a stream's operations to send their final errors after its token has become invalid. */
const CLOSE_GRACE_MS = 200
const EXPIRY_CHECK_MS = 1_000

/**
 * Passed with a request through the graphql-sse library. `streamToken` is the token of the stream, not of the
 * viewer.
 */
interface SseRequestContext {
  streamToken: string
  stream: EventStream
  context: GraphqlContext
  /** The id under which the library has an operation of the stream, once it asks to prepare it. */
  operationId?: unknown
}

type SseRequest = Request<IncomingMessage, SseRequestContext>
type SseContext = Record<PropertyKey, unknown>

const CODES: Record<number, ErrorCode> = { 404: 'not_found', 409: 'conflict', 429: 'rate_limited' }

/** Converts errors of the library to the service's format. */
const refusalOf = ([body, { status, statusText }]: Response): AppError => {
  const message =
    typeof body === 'string' && body.startsWith('{')
      ? (JSON.parse(body) as ExecutionResult).errors?.[0]?.message
      : undefined
  return new AppError(CODES[status] ?? 'invalid_input', message ?? statusText)
}

const hashOf = (streamToken: string): string => hashToken(streamToken).toString('hex')

const wantsStream = (request: IncomingMessage) => request.headers.accept === 'text/event-stream'

/**
 * Serves `/graphql/stream`, the graphql-sse protocol. In its single connection mode PUT reserves a stream,
 * GET opens it (authorized by the stream token alone, because a browser's EventSource cannot set headers),
 * POST runs operations whose results it carries, and DELETE ends one. Without a reservation it is the
 * distinct connections mode, as on `/graphql`.
 */
export class SingleConnections {
  readonly #deps: GraphqlDeps
  readonly #pipeline: Pipeline
  readonly #streams = new Map<string, EventStream>()
  /** Its workspace by the hash of its token, in hex. */
  readonly #workspaces = new Map<string, string>()
  /** The stream of each operation, by its context. */
  readonly #streamOf = new WeakMap<GraphqlContext, EventStream>()
  readonly #handle: Handler<IncomingMessage, SseRequestContext>
  readonly #unsubscribe: (() => void)[]

  constructor(deps: GraphqlDeps, pipeline: Pipeline) {
    this.#deps = deps
    this.#pipeline = pipeline
    const expiry = setInterval(() => this.#endExpired(), EXPIRY_CHECK_MS)
    this.#unsubscribe = [
      watchTokens(
        deps,
        () => [...this.#streams.values()].map(({ tokenId }) => tokenId),
        (gone) => this.#endOf(gone),
      ),
      () => clearInterval(expiry),
    ]
    this.#handle = createHandler<IncomingMessage, SseRequestContext, SseContext>({
      authenticate: (request) => request.context.streamToken,
      validate: () => [], // done by `#prepare`
      onSubscribe: (request, params) => this.#prepare(request, params),
      execute: (args) => this.#execute(args as unknown as Operation),
      subscribe: (args) => subscribe(args as unknown as Operation),
      onNext: async (_context, request, result) => {
        await request.context.stream.ready()
        const { errors } = result as ExecutionResult
        return errors ? { ...result, errors: errors.map(withoutHttp) } : undefined
      },
    })
  }

  /**
   * Returns whether the request opens a reserved stream: the stream token then stands in for authentication.
   */
  opensReserved(request: IncomingMessage): boolean {
    const streamToken = streamTokenOf(request)
    return (
      request.method === 'GET' &&
      wantsStream(request) &&
      streamToken !== null &&
      this.#streams.has(streamToken)
    )
  }

  /** Returns the workspace of the reserved stream whose token has this SHA-256, in hex. */
  workspaceOf(hash: string): string | undefined {
    return this.#workspaces.get(hash)
  }

  /**
   * Serves one request. `context` is null for a request that opens a reserved stream. `body` is the request
   * body; `open` starts the event stream.
   */
  async serve(
    request: IncomingMessage,
    response: ServerResponse,
    {
      body,
      context,
      open,
    }: { body: string; context: GraphqlContext | null; open: (response: ServerResponse) => void },
  ): Promise<FailedAnswer | null> {
    const ticket = this.#ticketOf(request, context)
    const answer = await this.#handle({
      method: request.method ?? 'GET',
      url: request.url ?? '/',
      headers: { get: (name) => request.headers[name.toLowerCase()] as string | undefined },
      body,
      raw: request,
      context: ticket,
    })
    const [frames, { status, headers }] = answer
    if (status >= 400) {
      await this.#drop(ticket)
      return this.#refuse(answer, context)
    }
    if (frames === null || typeof frames === 'string') {
      if (status === 201) this.#reserve(ticket)
      response.writeHead(status, headers).end(frames ?? undefined)
      return null
    }
    open(response)
    await ticket.stream.send(response, frames)
    this.#forget(ticket.streamToken)
    return null
  }

  /** Ends all streams, after their operations have sent the reason. */
  stop(): void {
    for (const end of this.#unsubscribe) end()
    this.#endWhere(() => true)
  }

  #ticketOf(request: IncomingMessage, context: GraphqlContext | null): SseRequestContext {
    const streamToken = streamTokenOf(request)
    const stream = streamToken === null ? undefined : this.#streams.get(streamToken)
    const own = stream && (context === null || context.viewer.tokenId === stream.tokenId)
    // Another token's stream is treated as if it did not exist.
    if (own && streamToken !== null) return { streamToken, stream, context: context as GraphqlContext }
    if (request.method === 'PUT') this.#checkLimit(context!)
    return { streamToken: randomUUID(), stream: new EventStream(context!.viewer), context: context! }
  }

  #checkLimit({ viewer }: GraphqlContext): void {
    const held = [...this.#streams.values()].filter(({ tokenId }) => tokenId === viewer.tokenId).length
    if (held >= MAX_RESERVED)
      throw new AppError(
        'rate_limited',
        `A token can have ${MAX_RESERVED} event streams open. Close one first.`,
      )
  }

  #forget(streamToken: string): void {
    this.#streams.delete(streamToken)
    this.#workspaces.delete(hashOf(streamToken))
  }

  #reserve({ streamToken, stream, context }: SseRequestContext): void {
    this.#streams.set(streamToken, stream)
    this.#workspaces.set(hashOf(streamToken), context.viewer.workspaceId)
    setTimeout(() => {
      if (!stream.connected) void this.#discard(streamToken, stream)
    }, RESERVED_MS).unref()
  }

  /**
   * Cancels a reservation. The library has no function for this: the stream is opened and closed immediately.
   */
  async #discard(streamToken: string, stream: EventStream): Promise<void> {
    stream.end()
    this.#forget(streamToken)
    const context = { streamToken, stream, context: null as unknown as GraphqlContext }
    const [frames] = await this.#ask('GET', '/', context)
    if (frames !== null && typeof frames !== 'string') await frames.return()
  }

  /** Ends an operation that was refused: the library would keep its id for as long as the stream is open. */
  async #drop(context: SseRequestContext): Promise<void> {
    const { operationId } = context
    if (operationId !== undefined)
      await this.#ask('DELETE', `/?${new URLSearchParams({ operationId: String(operationId) })}`, context)
  }

  /** Gives the library a request of the service's own. */
  #ask(method: 'GET' | 'DELETE', url: string, context: SseRequestContext): Promise<Response> {
    const accept = method === 'GET' ? 'text/event-stream' : undefined
    const headers = { get: (name: string) => (name === 'accept' ? accept : undefined) }
    return this.#handle({ method, url, headers, body: null, raw: null as never, context })
  }

  #endExpired(): void {
    const now = this.#deps.clock.now()
    const expired = [...this.#streams.values()].filter(
      ({ expiresAt }) => expiresAt !== null && expiresAt <= now,
    )
    if (expired.length > 0) this.#endOf(new Set(expired.map(({ tokenId }) => tokenId)))
  }

  /** Ends the subscriptions first, which may not have noticed yet: their final errors go through the streams. */
  #endOf(tokenIds: ReadonlySet<string>): void {
    this.#deps.subscriptions.endOf(tokenIds)
    this.#endWhere(({ tokenId }) => tokenIds.has(tokenId))
  }

  #endWhere(applies: (stream: EventStream) => boolean): void {
    for (const [streamToken, stream] of this.#streams) {
      if (!applies(stream)) continue
      if (stream.connected) setTimeout(() => stream.end(), CLOSE_GRACE_MS)
      else void this.#discard(streamToken, stream)
    }
  }

  #refuse(answer: Response, context: GraphqlContext | null): FailedAnswer {
    const [body, { status, headers }] = answer
    const own = typeof body === 'string' && body.includes('"extensions"')
    if (own) return { status, headers: { ...headers }, body }
    return failedAnswer(refusalOf(answer), this.#deps.log, context?.requestId ?? '', status)
  }

  /** A query waits until its stream can accept the result; a mutation runs immediately. */
  #execute(operation: Operation) {
    const stream = this.#streamOf.get(operation.contextValue)
    const kind = getOperationAST(operation.document, operation.operationName)?.operation
    const run = () => this.#deps.requests.run(operation.contextValue.viewer.tokenId, () => execute(operation))
    return stream && kind === OperationTypeNode.QUERY ? stream.inTurn(run) : run()
  }

  /**
   * Parses and validates with the pipeline's caches. Errors are sent in the stream when it belongs to this
   * operation alone, otherwise in the response.
   */
  #prepare(
    request: SseRequest,
    { query, operationName, variables, extensions }: RequestParams,
  ): OperationArgs<SseContext> | Response | ExecutionResult {
    const { stream, context } = request.context
    request.context.operationId = extensions?.operationId
    const contextValue: GraphqlContext = { ...context, life: () => stream.signal, streams: true }
    this.#streamOf.set(contextValue, stream)
    const { schema, parse, validate } = this.#pipeline.enveloped(contextValue)
    const errors = (failures: readonly unknown[]): Response | ExecutionResult => {
      const shown = failures.map((error) =>
        withoutHttp(presentError(error, this.#deps.log, context.requestId)),
      )
      if (request.headers.get('accept') === 'text/event-stream') return { data: null, errors: shown }
      return [
        JSON.stringify({ errors: shown }),
        { status: 400, statusText: 'Bad Request', headers: JSON_HEADERS },
      ]
    }
    let document: DocumentNode
    try {
      ensureAllowed(this.#deps.persisted, query)
      document = parse(query)
      const failures = validate(schema, document)
      if (failures.length > 0) return errors(failures)
      checkOperation(document, operationName, context.bytes)
    } catch (error) {
      return errors([error])
    }
    const args = { schema, document, operationName, variableValues: variables, contextValue }
    return args as unknown as OperationArgs<SseContext>
  }
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' }
