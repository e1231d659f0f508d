import { generateKeyPairSync } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type Library from 'oidc-provider'
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider'
import { AppError } from '../../core/errors.ts'
import { httpFailure } from '../../core/http/http.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import { logUnavailable, publicError } from '../../db/failure.ts'
import { COMMAND_LINE, newToken } from '../../workspace/index.ts'
import { identifyBrowser, REQUEST_S } from './authorization.ts'
import { type ClientDocumentDeps, ClientDocuments } from './client-documents.ts'
import { newClientId } from './client-id.ts'
import { registeredMetadata } from './client-metadata.ts'
import { CONSENT_S, type ConnectedAppDeps, endApp } from './connected-app.ts'
import { errors, interactionPolicy, Provider } from './library.ts'
import { NoRecords, Records } from './records.ts'
import { OAUTH_SCOPES, resourceFor } from './resource.ts'
import { RESUME, ROUTES } from './routes.ts'
import { UnitOfWork } from './unit-of-work.ts'

export interface ProviderDeps extends ConnectedAppDeps, Omit<ClientDocumentDeps, 'mayFetch'> {
  pool: Db['pool']
  log: Logger
  /** Authenticates ids of registered clients; null if clients are stored instead. */
  clientIdKey: Uint8Array | null
  publicUrl(): string
  /** Whether a document of a client may be fetched now, for this request; undefined for one of the service's pages. */
  mayFetch(request: IncomingMessage | undefined): boolean
  /** Path of the page where a member consents, for the id of an authorization request. */
  consentPath(id: string): string
  /** Returns the page of an error that cannot be reported to the client. */
  errorPage(code: string, description: string): { text: string; headers: Record<string, string> }
}

const ACCESS_TOKEN_S = 3600
/**
 * The command line gets one access token for as long as the member's consent lasts. Refresh tokens would have to be
 * replaced by several programs at once that share one file of credentials, and a lost race ends the connection.
 */
const COMMAND_LINE_TOKEN_S = CONSENT_S
/** A refresh token that is not used for this long expires; a used one is replaced. */
const REFRESH_TOKEN_S = 30 * 24 * 3600
/** RFC 6749, 4.1.2, allows ten minutes; clients need a second. */
const CODE_S = 60

/** Members consent to each request, whatever they consented to before. What is detailed is stored with it. */
const policy = (deps: ProviderDeps) => [
  new interactionPolicy.Prompt(
    { name: 'consent', requestable: true },
    (ctx) => {
      const { browser, cookie } = identifyBrowser(deps, ctx.req)
      ctx.state.cookie = cookie
      return { browser }
    },
    new interactionPolicy.Check('consent_required', 'the user must consent', (ctx) => {
      const { Check } = interactionPolicy
      return ctx.oidc.result?.consent ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT
    }),
  ),
]

/**
 * The library insists on a key for ID tokens. The service issues none, and its other tokens are random strings,
 * so that there is no signing key to keep secret: nothing is ever signed with this one.
 */
const unusedKey = (): Record<string, unknown> => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
})

/** `ams login`: a program on the member's computer, which listens on any port of it (RFC 8252, 7.3). */
const COMMAND_LINE_CLIENT = {
  client_id: COMMAND_LINE,
  client_name: 'ams, the command line',
  redirect_uris: ['http://127.0.0.1/callback'],
  grant_types: ['authorization_code'],
}

/** The library's only hook between parsing a registration and checking it. */
const acceptRegistration = (ctx: KoaContextWithOIDC, clientIdKey: Uint8Array | null): string => {
  const body = ctx.oidc.body as Record<string, unknown>
  const accepted = registeredMetadata(body)
  for (const name of Object.keys(body)) delete body[name]
  Object.assign(body, accepted)
  return clientIdKey === null ? newToken('access').slice('aot_'.length) : newClientId(clientIdKey, accepted)
}

const features = (
  publicUrl: string,
  { clientIdKey }: ProviderDeps,
): NonNullable<Configuration['features']> => ({
  devInteractions: { enabled: false },
  dPoP: { enabled: false },
  userinfo: { enabled: false },
  rpInitiatedLogout: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  registration: {
    enabled: true,
    idFactory: (ctx) => acceptRegistration(ctx, clientIdKey),
    issueRegistrationAccessToken: false,
  },
  revocation: {
    enabled: true,
    allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
  },
  clientIdMetadataDocument: {
    enabled: true,
    ack: 'draft-02',
    cacheDuration: { min: 60, max: 60 },
  },
  resourceIndicators: {
    enabled: true,
    defaultResource: (_ctx, client) => resourceFor(client.clientId, publicUrl),
    useGrantedResource: () => true,
    getResourceServerInfo: (_ctx, indicator, { clientId }) => {
      const resource = resourceFor(clientId, publicUrl)
      if (indicator.replace(/\/$/, '') !== resource)
        throw new errors.InvalidTarget(`the only resource is ${resource}`)
      const accessTokenTTL = clientId === COMMAND_LINE ? COMMAND_LINE_TOKEN_S : ACCESS_TOKEN_S
      return {
        scope: OAUTH_SCOPES.join(' '),
        audience: resource,
        accessTokenFormat: 'opaque',
        accessTokenTTL,
      }
    },
  },
})

const configurationOf = (deps: ProviderDeps, publicUrl: string, unit: UnitOfWork): Configuration => {
  const mayFetch = () => deps.mayFetch(Provider.ctx?.req)
  const documents = new ClientDocuments({ ...deps, mayFetch })
  const end = (appId: string) => {
    const revoked = Provider.ctx?.oidc.route === 'revocation'
    return endApp(deps, appId, revoked ? 'revoked by the app' : 'a code or refresh token was used twice')
  }
  const records = { ...deps, unit, endApp: end }
  return {
    adapter: (kind: string) => (kind === 'Session' ? new NoRecords() : new Records(kind, records)),
    features: features(publicUrl, deps),
    routes: ROUTES,
    scopes: [...OAUTH_SCOPES],
    claims: {},
    responseTypes: ['code'],
    pkce: { required: () => true },
    jwks: { keys: [unusedKey()] },
    clients: [COMMAND_LINE_CLIENT],
    clientAuthMethods: ['none', 'private_key_jwt'],
    clientDefaults: {
      application_type: 'native',
      id_token_signed_response_alg: 'ES256',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    clientBasedCORS: () => false,
    cookies: { names: { resume: RESUME }, long: { signed: false }, short: { signed: false } },
    fetch: documents.fetch,
    findAccount: async (_ctx, memberId) => {
      const found = await deps.prisma.member.count({ where: { id: memberId } })
      return found === 0 ? undefined : { accountId: memberId, claims: async () => ({ sub: memberId }) }
    },
    loadExistingGrant: async (ctx) => {
      const id = ctx.oidc.result?.consent?.grantId
      return id === undefined ? undefined : ctx.oidc.provider.Grant.find(id)
    },
    interactions: { policy: policy(deps), url: (_ctx, { uid }) => deps.consentPath(uid) },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    expiresWithSession: () => false,
    revokeGrantPolicy: () => true,
    ttl: {
      AccessToken: ACCESS_TOKEN_S,
      AuthorizationCode: CODE_S,
      Grant: CONSENT_S,
      Interaction: REQUEST_S,
      RefreshToken: REFRESH_TOKEN_S,
      Session: REQUEST_S,
    },
    renderError: (ctx, { error, error_description: description = '' }) => {
      const { text, headers } = deps.errorPage(error, description)
      ctx.set(headers)
      ctx.body = text
    },
  }
}

/**
 * Sends the cookie of the browser in place of the library's own, which any other port of the host could set: the
 * id of a request is in its path.
 */
const withOwnCookie: Parameters<Library['use']>[0] = async (ctx, next) => {
  await next()
  ctx.remove('set-cookie')
  if (typeof ctx.state.cookie === 'string') ctx.set('set-cookie', ctx.state.cookie)
}

/**
 * Makes the library spell tokens as the service spells its own: the prefix tells log filters, and scanners for
 * leaked secrets, what they are.
 */
const spellTokens = (prototype: object, kind: 'access' | 'refresh'): void => {
  const model = prototype as { generateTokenId(): string }
  const { generateTokenId } = model
  model.generateTokenId = function () {
    generateTokenId.call(this) // it also settles the token's format
    return newToken(kind)
  }
}

/** What the service supports, of what the library always lists in the metadata (RFC 8414). */
const SUPPORTED = {
  claims_parameter_supported: undefined,
  claims_supported: undefined,
  id_token_signing_alg_values_supported: [],
  response_modes_supported: ['query'],
  scopes_supported: OAUTH_SCOPES,
}

const describeItself: Parameters<Library['use']>[0] = async (ctx, next) => {
  await next()
  if (ctx.method !== 'GET' || ctx.status !== 200) return
  if (ctx.path.startsWith('/.well-known/')) ctx.body = { ...(ctx.body as object), ...SUPPORTED }
  if (ctx.path === ROUTES.jwks) ctx.body = { keys: [] }
}

/**
 * Creates the authorization server of OAuth 2.1 for PUBLIC_URL. It keeps everything in the database, so any
 * process can answer any request.
 */
export const createProvider = (deps: ProviderDeps, publicUrl: string): Library => {
  const unit = new UnitOfWork(deps)
  const configuration = configurationOf(deps, publicUrl, unit)
  const provider = new Provider(publicUrl, configuration)
  provider.proxy = true // the server in front of it sets the headers: see `prepare`
  spellTokens(provider.AccessToken.prototype, 'access')
  spellTokens(provider.RefreshToken.prototype, 'refresh')
  provider.use((_ctx, next) => unit.run(next))
  provider.use(describeItself)
  provider.use(withOwnCookie)
  const failed = (error: Error) => {
    const failure = publicError(error)
    logUnavailable(deps.log, failure)
    if (failure.code !== 'unavailable' && !(error instanceof AppError))
      deps.log.error({ err: error }, 'OAuth request failed')
  }
  provider.on('server_error', (ctx, error) => {
    failed(error)
    const { status, headers } = httpFailure(publicError(error))
    if (status !== 503) return
    // The library answers 500, after which neither clients nor fronts try again.
    ctx.status = status
    ctx.set(headers)
  })
  provider.on('error' as 'server_error', (error: unknown) => failed(error as Error))
  return provider
}
