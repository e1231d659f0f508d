import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { authenticateCredential, type Credential, credentialOf } from '../../auth/index.ts'
import { AppError } from '../../core/errors.ts'
import { drained } from '../../core/http/drained.ts'
import { noteRequester } from '../../core/http/http.ts'
import type { Slot } from '../../core/http/transfer-slots.ts'
import { costOfBody, countRequest, overQuota, readAttempt, type Viewer } from '../../workspace/index.ts'
import type { GraphqlContext } from '../context/context.ts'
import type { GraphqlDeps } from '../context/deps.ts'
import { newBudget } from '../context/limits.ts'
import { type FailedAnswer, failedAnswer } from '../execution/errors.ts'
import type { Results } from '../execution/execution.ts'
import { Pipeline } from '../execution/yoga.ts'
import { Changes } from '../feed/changes.ts'
import { WorkspaceFeed } from '../feed/workspace-feed.ts'
import { createSchema } from '../schema.ts'
import { type Answer, answerOf, answerOfAll, COMPLETE, frameOf, typeOf } from './answer.ts'
import { servePage, wantsPage } from './graphiql.ts'
import { queryOf } from './persisted.ts'
import { Readers } from './readers.ts'
import {
  checkForm,
  isLong,
  lengthOf,
  needsViewer,
  operationIdOf,
  type Params,
  pathOf,
  Refused,
  readOperations,
  readParams,
} from './request.ts'
import { SingleConnections } from './single.ts'
import { requestOf, runTogether } from './together.ts'
import { writeAnswer } from './write.ts'

export interface Graphql {
  /** How many subscriptions are open. */
  readonly size: number
  /** Serves `/graphql` and `/graphql/stream`. Throws for nothing that a client can do. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Returns the workspace of the reserved event stream whose token has this SHA-256, in hex. */
  workspaceOfStream(hash: string): string | undefined
  /** Ends what serves open subscriptions. They are ended themselves with the process's `Subscriptions`. */
  stop(): void
}

const takesStreams = (accept = '*/*'): boolean => /text\/event-stream|text\/\*|\*\/\*/.test(accept)

/**
 * A signal that aborts when the answer's reader is gone, or has it all; made when somebody wants it: most
 * answers end by themselves.
 */
const lifeOf = (response: ServerResponse): (() => AbortSignal) => {
  let life: AbortController | undefined
  return () => {
    if (life) return life.signal
    const made = new AbortController()
    life = made
    if (response.closed) made.abort()
    else response.once('close', () => made.abort())
    return made.signal
  }
}

const answerFailure = (response: ServerResponse, { status, headers, body }: FailedAnswer): void => {
  if (response.headersSent) response.destroy()
  else response.writeHead(status, headers).end(body)
}

/** Who sent a request, and the id under which it is logged. */
interface Asker {
  requestId: string
  credential: Credential
  /** Of the body, once it was read. */
  bytes: number
}

const notAcceptable = (): Refused =>
  new Refused(
    new AppError('invalid_input', 'The response is application/json: the Accept header must allow it.'),
    406,
  )

const isSeveral = (params: Params | readonly Params[]): params is readonly Params[] => Array.isArray(params)

const isStream = (result: object): result is Results => Symbol.asyncIterator in result

/** One result as a stream of its own, for a client of the protocol that takes nothing else. */
async function* only<Result>(result: Result): AsyncGenerator<Result, void, void> {
  yield result
}

class Server implements Graphql {
  readonly #deps: GraphqlDeps
  readonly #pipeline: Pipeline
  readonly #changes: Changes
  readonly #workspaces: WorkspaceFeed
  readonly #single: SingleConnections
  readonly #readers = new Readers()

  constructor(deps: GraphqlDeps) {
    this.#deps = deps
    this.#pipeline = new Pipeline(createSchema(), deps.log, deps.introspection)
    this.#changes = new Changes(deps)
    this.#workspaces = new WorkspaceFeed(deps)
    this.#single = new SingleConnections(deps, this.#pipeline)
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = String(response.getHeader('X-Request-Id') ?? randomUUID())
    try {
      if (this.#deps.introspection && wantsPage(request))
        return await servePage(this.#deps.rates, request, response)
      if (pathOf(request) === '/graphql/stream' && this.#single.opensReserved(request)) {
        return await this.#serveSingle(request, response, null, '')
      }
      await this.#serve(request, response, requestId)
    } catch (error) {
      const refused = error instanceof Refused ? error : null
      const answer = failedAnswer(refused?.failure ?? error, this.#deps.log, requestId, refused?.status)
      answerFailure(response, { ...answer, headers: { ...answer.headers, ...refused?.headers } })
    }
  }

  get size(): number {
    return this.#deps.subscriptions.count('graphql')
  }

  workspaceOfStream(hash: string): string | undefined {
    return this.#single.workspaceOf(hash)
  }

  stop(): void {
    this.#changes.stop()
    this.#workspaces.stop()
    this.#single.stop()
    this.#readers.stop()
  }

  /**
   * What is wrong with the form of a request is said before anybody looks into the database, also for who it
   * is.
   */
  async #serve(request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> {
    const credential = credentialOf(this.#deps, request)
    checkForm(request)
    const known = needsViewer(request) ? await this.#authenticate(credential, request) : null
    const asker = { requestId, credential, bytes: 0 }
    if (!known || !isLong(request)) return this.#run(request, response, asker)
    const slot = await this.#deps.largeBodies.enter(request, known.tokenId)
    await this.#run(request, response, asker, slot).finally(() => slot.leave())
  }

  /** `slot`: the place of a large request, left as soon as nothing of it is needed. */
  async #run(request: IncomingMessage, response: ServerResponse, asker: Asker, slot?: Slot): Promise<void> {
    if (pathOf(request) === '/graphql/stream') {
      const context = await this.#contextOf(request, response, asker)
      const body = request.method === 'POST' ? await this.#operationOf(request) : ''
      context.bytes = Buffer.byteLength(body)
      // It may have come slowly: a token that was revoked meanwhile counts for nothing.
      if (body !== '') context.viewer = await this.#authenticate(asker.credential, request)
      return this.#serveSingle(request, response, context, body)
    }
    const type = typeOf(request.headers.accept)
    if (type === null && !takesStreams(request.headers.accept)) throw notAcceptable()
    const { params, bytes } = await readOperations(request)
    asker.bytes = bytes
    if (isSeveral(params) && type === null) throw notAcceptable()
    if (isSeveral(params)) return this.#runTogether(request, response, { asker, params, slot })
    const query = queryOf(this.#deps.persisted, params)
    const context = await this.#contextOf(request, response, asker)
    const asked = requestOf(params, query, request.method)
    const key = request.headers['idempotency-key']
    if (typeof key === 'string')
      context.attempt = readAttempt(
        key,
        JSON.stringify(['/graphql', query, params.operationName, params.variables]),
      )
    const run = () => this.#pipeline.run(asked, context)
    const result = await this.#deps.requests.run(context.viewer.tokenId, run)
    if (context.attempt?.replayed) response.setHeader('Idempotency-Replayed', 'true')
    slot?.leave()
    if (isStream(result)) return this.#stream(response, result)
    if (type === null) return this.#stream(response, only(result))
    await this.#answer(request, response, { context, answer: answerOf(result, type) })
  }

  /** Several operations, which count and are limited like one document with all their fields. */
  async #runTogether(
    request: IncomingMessage,
    response: ServerResponse,
    { asker, params, slot }: { asker: Asker; params: readonly Params[]; slot: Slot | undefined },
  ): Promise<void> {
    const context = await this.#contextOf(request, response, asker)
    const by = { pipeline: this.#pipeline, persisted: this.#deps.persisted }
    const run = () => runTogether(params, context, by)
    const results = await this.#deps.requests.run(context.viewer.tokenId, run)
    slot?.leave()
    await this.#answer(request, response, { context, answer: answerOfAll(results) })
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    { context, answer }: { context: GraphqlContext; answer: Answer },
  ): Promise<void> {
    context.charge(costOfBody(answer.body.length))
    await writeAnswer(request, response, answer)
  }

  #authenticate(credential: Credential, request: IncomingMessage): Promise<Viewer> {
    return authenticateCredential(this.#deps, credential, request)
  }

  async #contextOf(
    request: IncomingMessage,
    response: ServerResponse,
    { requestId, credential, bytes }: Asker,
  ): Promise<GraphqlContext> {
    const viewer = noteRequester(response, await this.#authenticate(credential, request))
    const quota = countRequest(this.#deps, viewer, response, 1 + costOfBody(lengthOf(request)))
    if (!quota.allowed) throw overQuota(quota)
    return {
      charge: (amount) => {
        if (amount > 0) countRequest(this.#deps, viewer, response, amount)
      },
      deps: this.#deps,
      changes: this.#changes,
      workspaces: this.#workspaces,
      viewer,
      requestId,
      budget: newBudget(),
      bytes,
      life: lifeOf(response),
      streams: takesStreams(request.headers.accept),
    }
  }

  /** Writes the results at the reader's speed, until either side ends it. */
  async #stream(response: ServerResponse, results: Results): Promise<void> {
    this.#readers.open(response)
    response.once('close', () => void results.return())
    for await (const result of results) {
      if (response.write(frameOf(result))) continue
      await drained(response)
      if (response.closed) return
    }
    response.end(COMPLETE)
  }

  /** The body of the protocol's POST, checked as that of `/graphql` is, with the document that it names. */
  async #operationOf(request: IncomingMessage): Promise<string> {
    const params = await readParams(request)
    const extensions = { operationId: operationIdOf(params) }
    return JSON.stringify({ ...params, query: queryOf(this.#deps.persisted, params), extensions })
  }

  async #serveSingle(
    request: IncomingMessage,
    response: ServerResponse,
    context: GraphqlContext | null,
    body: string,
  ): Promise<void> {
    const open = (stream: ServerResponse) => this.#readers.open(stream)
    const failure = await this.#single.serve(request, response, { body, context, open })
    if (failure) answerFailure(response, failure)
  }
}

/**
 * Serves GraphQL: starts to watch over open subscriptions at once, and answers requests that a server hands
 * to it.
 */
export const createGraphql = (deps: GraphqlDeps): Graphql => new Server(deps)
