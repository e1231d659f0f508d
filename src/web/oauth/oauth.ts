import type { IncomingMessage, ServerResponse } from 'node:http'
import type Library from 'oidc-provider'
import { MCP_SCOPES, type ProviderDeps, RESUME, ROUTES, resourceOf } from '../../auth/index.ts'
import { AppError, noSuchPath } from '../../core/errors.ts'
import { clientOf, httpFailure } from '../../core/http/http.ts'
import type { RateLimits } from '../../workspace/index.ts'
import { pageOf, showPage } from '../page/page.ts'
import { showFailure } from '../web.ts'
import type { Asking, ConsentDeps } from './consent.ts'
import { refusedPage } from './consent-page.ts'
import { ensureWithin, isWithin, type Limited } from './limits.ts'
import { prepare } from './request.ts'

export type OauthDeps = Omit<ProviderDeps, 'mayFetch' | 'consentPath' | 'errorPage'> &
  ConsentDeps & { rates: Pick<RateLimits, 'takeAll'> }

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** Paths of the library, with the methods that they accept and the limit that they count for. */
const ENDPOINTS: readonly { path: RegExp; methods: readonly string[]; limit?: Limited }[] = [
  {
    path: /^\/\.well-known\/(?:oauth-authorization-server|openid-configuration)$/,
    methods: ['GET', 'HEAD', 'OPTIONS'],
  },
  {
    path: new RegExp(`^${ROUTES.authorization}(?:/(?<id>[\\w-]{1,100}))?$`),
    methods: ['GET', 'HEAD'],
    limit: 'authorize',
  },
  { path: new RegExp(`^${ROUTES.token}$`), methods: ['POST'], limit: 'token' },
  { path: new RegExp(`^${ROUTES.registration}$`), methods: ['POST'], limit: 'register' },
  { path: new RegExp(`^${ROUTES.revocation}$`), methods: ['POST'], limit: 'token' },
  { path: new RegExp(`^${ROUTES.jwks}$`), methods: ['GET', 'HEAD', 'OPTIONS'] },
]
const CONSENT = /^\/oauth\/(?<page>consent|again)\/(?<id>[\w-]{1,100})$/
/** RFC 9728, 3.1: the path of the resource after the well-known one; some clients ask without it. */
const RESOURCE = /^\/\.well-known\/oauth-protected-resource(?:\/mcp)?$/

/** Whether a method is allowed; answers the request otherwise. */
const isAllowed = (
  request: IncomingMessage,
  response: ServerResponse,
  methods: readonly string[],
): boolean => {
  const { method = '' } = request
  if (methods.includes(method)) return true
  const { headers, body } = httpFailure(new AppError('invalid_input', `${method} is not allowed here.`))
  response
    .writeHead(405, { ...headers, Allow: methods.join(', '), 'Content-Type': 'application/json' })
    .end(JSON.stringify(body))
  return false
}

/** The parameters are stored for an hour, with a `state` of the client's choice. */
const MAX_AUTHORIZATION = 8 * 1024
const TOO_LONG = { ...refusedPage('invalid_request', 'the parameters are longer than 8 KiB'), status: 414 }

interface Server {
  publicUrl: string
  provider: Library
  handle: Handle
}

class OauthServer {
  readonly #deps: OauthDeps
  #current: { publicUrl: string; server: Promise<Server> } | undefined

  constructor(deps: OauthDeps) {
    this.#deps = deps
  }

  /** Serves /oauth/* and the well-known documents; `path` has no query. */
  async handle(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const asked = CONSENT.exec(path)?.groups
    if (asked) return this.#consent({ request, response, id: asked.id! }, asked.page === 'again')
    if (RESOURCE.test(path)) return this.#describeResource(request, response)
    const endpoint = ENDPOINTS.find((each) => each.path.test(path))
    if (!endpoint) throw noSuchPath()
    if (!isAllowed(request, response, endpoint.methods)) return
    if (endpoint.limit) ensureWithin(this.#deps.rates, endpoint.limit, clientOf(request))
    const id = endpoint.path.exec(path)?.groups?.id
    if (endpoint.limit === 'authorize' && id === undefined) {
      if ((request.url ?? '').length > MAX_AUTHORIZATION) return showPage(response, TOO_LONG)
      ensureWithin(this.#deps.rates, 'pending', clientOf(request))
    }
    const { publicUrl, provider, handle } = await this.#server()
    if (id !== undefined) {
      const { mayGoOn } = await import('./consent.ts')
      if (!(await mayGoOn({ ...this.#deps, provider }, { request, response, id }))) return
      request.headers.cookie = `${RESUME}=${id}`
    }
    prepare(request, publicUrl, path)
    await handle(request, response)
  }

  /** PUBLIC_URL is known once the port is. */
  #server(): Promise<Server> {
    const publicUrl = this.#deps.publicUrl()
    if (this.#current?.publicUrl !== publicUrl) this.#current = { publicUrl, server: this.#create(publicUrl) }
    return this.#current.server
  }

  /** Loads the library on demand: few services use OAuth. See docs/decisions.md#loaded-on-demand. */
  async #create(publicUrl: string): Promise<Server> {
    const { createProvider } = await import('../../auth/oauth/provider.ts')
    const provider = createProvider(
      {
        ...this.#deps,
        mayFetch: (asking) => isWithin(this.#deps.rates, 'document', asking ? clientOf(asking) : ''),
        consentPath: (id) => `/oauth/consent/${id}`,
        errorPage: (code, description) => pageOf(refusedPage(code, description)),
      },
      publicUrl,
    )
    return { publicUrl, provider, handle: provider.callback() }
  }

  async #consent(asking: Asking, isAgain: boolean): Promise<void> {
    const { request, response } = asking
    try {
      if (!isAllowed(request, response, isAgain ? ['GET', 'HEAD'] : ['GET', 'HEAD', 'POST'])) return
      const { provider } = await this.#server()
      const { serveAgain, serveConsent } = await import('./consent.ts')
      await (isAgain ? serveAgain : serveConsent)({ ...this.#deps, provider }, asking)
    } catch (error) {
      if (response.headersSent || request.destroyed) throw error
      showFailure(this.#deps, response, error)
    }
  }

  #describeResource(request: IncomingMessage, response: ServerResponse): void {
    if (!isAllowed(request, response, ['GET', 'HEAD'])) return
    const publicUrl = this.#deps.publicUrl()
    const body = JSON.stringify({
      resource: resourceOf(publicUrl),
      authorization_servers: [publicUrl],
      scopes_supported: MCP_SCOPES,
      bearer_methods_supported: ['header'],
      resource_name: 'Agent Messaging Service',
    })
    const headers = { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*' }
    response.writeHead(200, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body)
  }
}

/** The authorization server for hosted clients of MCP, with the page on which members consent. */
export const createOauth = (deps: OauthDeps): OauthServer => new OauthServer(deps)
