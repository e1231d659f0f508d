import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AuthInfo, createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import { findAgent } from '../agent/index.ts'
import { resourceOf } from '../auth/index.ts'
import type { Context } from '../context.ts'
import { AppError } from '../core/errors.ts'
import { bearerOf } from '../core/http/bearer.ts'
import { clientOf, httpFailure, noteRequester } from '../core/http/http.ts'
import { Places } from '../core/places.ts'
import { publicError } from '../db/failure.ts'
import { authenticate, countRequest, overQuota, type Viewer } from '../workspace/index.ts'
import { goneOf, webRequestOf, writeAnswer } from './adapter.ts'
import { answerDirectly, answerList, directCallOf, directListOf } from './direct.ts'
import { challenge, isForeign, isHeld, readMessage, refuse } from './entrance.ts'
import { holdOpen, letGo, permitted } from './listen.ts'
import { showPage, wantsPage } from './page.ts'
import { callFor, type Exchange, serverFor } from './protocol.ts'
import { Pushes } from './push.ts'
import { InboxChanges } from './resources.ts'

export interface Mcp {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Open event streams. */
  readonly size: number
  stop(): Promise<void>
}

const ALLOWED = 'GET, POST'

/** The SDK passes this to `serverFor` unchanged. */
const authOf = (exchange: Exchange): AuthInfo => ({
  token: '',
  clientId: exchange.call.viewer.id,
  scopes: [],
  extra: { exchange },
})

const exchangeOf = (authInfo: AuthInfo | undefined): Exchange =>
  (authInfo!.extra as { exchange: Exchange }).exchange

/** Calls of a token that wait for messages, in a process. @limit MCP */
const MAX_WAITS_PER_TOKEN = 50
/** Open requests of a token that listen for changes, in a process. @limit MCP */
const MAX_LISTENS_PER_TOKEN = 20

/** Methods whose result contains the instructions. */
const GREETINGS = new Set(['initialize', 'server/discover'])

class McpServer implements Mcp {
  readonly #deps: Context
  readonly #pushes: Pushes
  readonly #changes: InboxChanges
  readonly #waits = new Places(MAX_WAITS_PER_TOKEN)
  readonly #listens = new Places(MAX_LISTENS_PER_TOKEN)
  readonly #handler: McpHttpHandler

  constructor(deps: Context) {
    this.#deps = deps
    this.#pushes = new Pushes(deps)
    this.#changes = new InboxChanges(deps.feed)
    const onerror = (error: Error) => deps.log.debug({ error: error.message }, 'MCP')
    this.#handler = createMcpHandler(({ era, authInfo }) => serverFor(era, exchangeOf(authInfo)), {
      bus: this.#changes,
      // `#listens` limits them for each token.
      maxSubscriptions: Number.MAX_SAFE_INTEGER,
      onerror,
    })
  }

  get size(): number {
    return this.#pushes.size
  }

  async stop(): Promise<void> {
    this.#changes.stop()
    this.#pushes.stop()
    await this.#handler.close()
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#handle(request, response)
    } catch (error) {
      const failure = publicError(error)
      if (failure.code === 'internal' || response.headersSent) throw error
      const { status, headers } = httpFailure(failure)
      refuse(response, status, failure.message, headers)
    }
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (isForeign(request, response, this.#deps.publicUrl())) return
    if (wantsPage(request)) return showPage(response, this.#deps.publicUrl())
    if (request.method !== 'POST')
      return refuse(response, 405, `${request.method} is not allowed here.`, {
        headers: { Allow: ALLOWED },
      })
    const viewer = await this.#viewerOf(request, response)
    if (!viewer || !this.#countRequest(viewer, response)) return
    const message = await readMessage(request, response)
    // The body may have taken minutes to arrive; the token may be revoked by now.
    const asker = message && (await this.#viewerOf(request, response))
    if (!asker) return
    const serve = () => this.#serve(request, response, asker, message)
    await (isHeld(message) ? serve() : this.#deps.requests.run(asker.tokenId, serve))
  }

  async #viewerOf(request: IncomingMessage, response: ServerResponse): Promise<Viewer | null> {
    const token = bearerOf(request.headers.authorization)
    try {
      const viewer = await authenticate(
        this.#deps,
        token,
        clientOf(request),
        resourceOf(this.#deps.publicUrl()),
      )
      return noteRequester(response, viewer)
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'unauthorized') throw error
      challenge(response, { hasToken: token !== null, publicUrl: this.#deps.publicUrl() }, error.message)
      return null
    }
  }

  /** Counts the request towards the limit that REST shares. Returns whether it is within the limit. */
  #countRequest(viewer: Viewer, response: ServerResponse): boolean {
    const quota = countRequest(this.#deps, viewer, response)
    if (quota.allowed) return true
    const headers = { 'Retry-After': String(quota.resetSeconds), Connection: 'close' }
    refuse(response, 429, overQuota(quota).message, { headers })
    return false
  }

  async #serve(
    request: IncomingMessage,
    response: ServerResponse,
    viewer: Viewer,
    body: object,
  ): Promise<void> {
    const requestId = String(response.getHeader('X-Request-Id') ?? '')
    const method = 'method' in body ? String(body.method) : ''
    const shared = { deps: this.#deps, viewer, waits: this.#waits }
    const exchange: Exchange = {
      call: { ...shared, gone: goneOf(response) },
      pushes: this.#pushes,
      requestId,
      method,
    }
    if (GREETINGS.has(method) && viewer.kind === 'agent')
      exchange.instructors = (await findAgent(this.#deps, viewer, viewer.id)).instructors
    if (method === 'subscriptions/listen') return this.#listen(request, response, exchange, body)
    const list = method === 'tools/list' ? directListOf(request, body) : null
    if (list) return answerList(response, list, viewer)
    const direct = method === 'tools/call' ? directCallOf(request, body) : null
    const result = direct && (await callFor(exchange, direct.name, direct.given))
    if (direct && result) return answerDirectly(response, direct, result)
    const answer = await this.#answerOf(request, exchange, body)
    // The SDK's handler only opens an event stream; its answer is not used.
    if (exchange.push) return exchange.push.serve(response)
    await writeAnswer(answer, response)
  }

  async #listen(
    request: IncomingMessage,
    response: ServerResponse,
    exchange: Exchange,
    body: object,
  ): Promise<void> {
    const leave = this.#listens.take(exchange.call.viewer.tokenId)
    if (!leave)
      return refuse(
        response,
        429,
        `A token can have ${this.#listens.max} of these streams open at a time. Close one first.`,
        { headers: { 'Retry-After': '5' } },
      )
    try {
      await this.#writeNotices(request, response, exchange, body)
    } finally {
      leave()
    }
  }

  async #writeNotices(
    request: IncomingMessage,
    response: ServerResponse,
    exchange: Exchange,
    body: object,
  ): Promise<void> {
    const { body: allowed, agentIds } = await permitted(exchange.call, body)
    const held = await holdOpen(exchange.call, agentIds)
    try {
      const answer = await this.#answerOf(request, exchange, allowed)
      await writeAnswer(answer, response, AbortSignal.any(held.map(({ signal }) => signal)))
    } finally {
      await letGo(this.#deps.subscriptions, held)
    }
  }

  #answerOf(request: IncomingMessage, exchange: Exchange, body: object): Promise<Response> {
    return this.#handler.fetch(webRequestOf(request), { authInfo: authOf(exchange), parsedBody: body })
  }
}

/** The MCP server at `/mcp`. It keeps nothing between requests, so any process can answer any request. */
export const createMcp = (deps: Context): Mcp => new McpServer(deps)
