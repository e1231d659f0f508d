import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AuthInfo, createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import { AppError } from '../core/errors.ts'
import { clientOf, noteRequester } from '../core/http.ts'
import { Places } from '../core/places.ts'
import { overQuota, quotaHeaders } from '../workspace/rate-limits.ts'
import { authenticate, bearerOf, type Viewer } from '../workspace/viewer.ts'
import { goneOf, webRequestOf, writeAnswer } from './adapter.ts'
import type { McpDeps } from './deps.ts'
import { answerDirectly, directCallOf } from './direct.ts'
import { challenge, isForeign, readBody, refuse } from './entrance.ts'
import { holdOpen, permitted } from './listen.ts'
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

/** The SDK passes it on untouched: what it carries is ours. */
const authOf = (exchange: Exchange): AuthInfo => ({
  token: '',
  clientId: exchange.call.viewer.id,
  scopes: [],
  extra: { exchange },
})

const exchangeOf = (authInfo: AuthInfo | undefined): Exchange =>
  (authInfo!.extra as { exchange: Exchange }).exchange

class McpSkin implements Mcp {
  readonly #deps: McpDeps
  readonly #pushes: Pushes
  readonly #changes: InboxChanges
  readonly #waits = new Places(50)
  readonly #listens = new Places(20)
  readonly #handler: McpHttpHandler

  constructor(deps: McpDeps) {
    this.#deps = deps
    this.#pushes = new Pushes(deps)
    this.#changes = new InboxChanges(deps.feed)
    const onerror = (error: Error) => deps.log.debug({ error: error.message }, 'MCP')
    this.#handler = createMcpHandler(({ era, authInfo }) => serverFor(era, exchangeOf(authInfo)), {
      bus: this.#changes,
      // Of one token there are few: see `#listens`.
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
    if (isForeign(request, response, this.#deps.publicUrl())) return
    if (wantsPage(request)) return showPage(response, this.#deps.publicUrl())
    if (request.method !== 'POST')
      return refuse(response, 405, `${request.method} is not allowed here.`, {
        headers: { Allow: ALLOWED },
      })
    const viewer = await this.#viewerOf(request, response)
    if (!viewer || !this.#countRequest(viewer, response)) return
    const body = await readBody(request, response)
    // A body may take minutes to come, and the token may be revoked meanwhile.
    const asker = body && (await this.#viewerOf(request, response))
    if (asker) await this.#serve(request, response, asker, body)
  }

  async #viewerOf(request: IncomingMessage, response: ServerResponse): Promise<Viewer | null> {
    const token = bearerOf(request.headers.authorization)
    try {
      const viewer = await authenticate(this.#deps, token, clientOf(request))
      noteRequester(response, viewer)
      return viewer
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'unauthorized') throw error
      challenge(response, token !== null, error.message)
      return null
    }
  }

  /** The same limit and headers as on REST. Returns whether it is within it. */
  #countRequest({ tokenId }: Viewer, response: ServerResponse): boolean {
    const quota = this.#deps.rates.take(`token:${tokenId}`, this.#deps.rateLimit)
    for (const [name, value] of Object.entries(quotaHeaders(quota))) response.setHeader(name, value)
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
    if (method === 'subscriptions/listen') return this.#listen(request, response, exchange, body)
    const direct = method === 'tools/call' ? directCallOf(request, body) : null
    const result = direct && (await callFor(exchange, direct.name, direct.given))
    if (direct && result) return answerDirectly(response, direct, result)
    const answer = await this.#answerOf(request, exchange, body)
    // The SDK has checked the request of a stream; from then on the stream is ours.
    if (exchange.push) return exchange.push.serve(response)
    await writeAnswer(answer, response)
  }

  async #listen(
    request: IncomingMessage,
    response: ServerResponse,
    exchange: Exchange,
    body: object,
  ): Promise<void> {
    const { call } = exchange
    const leave = this.#listens.take(call.viewer.tokenId)
    if (!leave)
      return refuse(response, 429, `A token can have ${this.#listens.max} streams open at once.`, {
        headers: { 'Retry-After': '5' },
      })
    response.once('close', leave)
    const { body: cut, agentIds } = await permitted(call, body)
    const answer = await this.#answerOf(request, exchange, cut)
    const held = await holdOpen(call, agentIds)
    try {
      await writeAnswer(answer, response, AbortSignal.any(held.map(({ signal }) => signal)))
    } finally {
      await Promise.all(held.map((one) => this.#deps.subscriptions.close(one)))
    }
  }

  #answerOf(request: IncomingMessage, exchange: Exchange, body: object): Promise<Response> {
    return this.#handler.fetch(webRequestOf(request), { authInfo: authOf(exchange), parsedBody: body })
  }
}

/** The MCP skin at `/mcp`. Any process answers any request: nothing is kept between two of them. */
export const createMcp = (deps: McpDeps): Mcp => new McpSkin(deps)
