import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type Library from 'oidc-provider'
import { invalidInput } from '../../core/errors.ts'
import { readCookie, writeCookie } from '../../core/http/cookie.ts'
import type { Scope } from '../../core/scopes.ts'
import { hashToken, type Viewer } from '../../workspace/index.ts'
import { type ClientIdentity, identityOf } from './client-metadata.ts'
import { type ConnectedAppDeps, connectApp } from './connected-app.ts'
import { askedScopes, resourceFor, SCOPE, scopesFor } from './resource.ts'
import { ROUTES } from './routes.ts'

/** A member has this long, in seconds, to sign in and consent. */
export const REQUEST_S = 3600

interface PublicUrl {
  publicUrl(): string
}

const browserHash = (value: string): string => hashToken(value).toString('base64url')

/**
 * Returns what an authorization request keeps of the browser that began it, and the Set-Cookie header by which the
 * browser is recognized.
 */
export const identifyBrowser = (
  { publicUrl }: PublicUrl,
  request: IncomingMessage,
): { browser: string; cookie: string } => {
  const value = readCookie(publicUrl(), request, 'oauth') ?? randomBytes(32).toString('base64url')
  const cookie = writeCookie(publicUrl(), request, 'oauth', { value, seconds: REQUEST_S })
  return { browser: browserHash(value), cookie }
}

type Stored = InstanceType<Library['Interaction']>

/** An authorization request that waits for a member's decision, in the browser that made it. */
export interface AuthorizationRequest {
  client: ClientIdentity
  clientId: string
  /** What the client has registered or published. */
  metadata: object
  redirectUri: string
  /** What a member can let it do, and the OAuth scope for all of it. */
  scopes: readonly Scope[]
  whole: string
  /** Where the browser goes on once it is decided; null while it is not. */
  decided: string | null
  /** The session in which it was decided: the only one that goes on. */
  decidedIn: string | null
  stored: Stored
}

/** What a decision is made with. */
export interface Exchange extends PublicUrl {
  provider: Library
}

/** What a member can let a client do: what it asks for, of what clients like it can do. */
const offeredScopes = (clientId: string, asked: unknown) => {
  const wanted = askedScopes(typeof asked === 'string' ? asked : null)
  const scopes = scopesFor(clientId).filter((scope) => wanted?.includes(scope) ?? true)
  return { scopes, whole: wanted === null ? SCOPE : scopes.join(' ') }
}

/** What a member lets a client do; null for everything that clients like it can do. */
const grantedScopes = ({ clientId, scopes }: AuthorizationRequest, chosen: readonly string[] | null) => {
  const granted = chosen === null ? scopes : scopes.filter((scope) => chosen.includes(scope))
  if (granted.length === 0) throw invalidInput('scopes', 'choose at least one thing that it may do')
  return granted.length === scopesFor(clientId).length ? null : granted
}

/** Returns the request with this id if this browser began it; null when there is none or it has expired. */
export const findRequest = async (
  { provider, publicUrl }: Exchange,
  request: IncomingMessage,
  id: string,
): Promise<AuthorizationRequest | null> => {
  const browser = readCookie(publicUrl(), request, 'oauth')
  const stored = browser === null ? undefined : await provider.Interaction.find(id)
  if (!stored || browser === null || stored.prompt.details.browser !== browserHash(browser)) return null
  const { params, result, returnTo } = stored
  const [clientId, redirectUri] = [String(params.client_id), String(params.redirect_uri)]
  const client = await provider.Client.find(clientId)
  if (!client) return null
  return {
    client: identityOf({ clientId, clientName: client.clientName }, redirectUri),
    metadata: client.metadata(),
    ...{ clientId, redirectUri, stored, ...offeredScopes(clientId, params.scope) },
    ...{ decided: result ? returnTo : null, decidedIn: result ? String(result.session) : null },
  }
}

/** Returns the path that makes the same request again. */
export const againPath = ({ stored: { params } }: AuthorizationRequest): string => {
  const given = Object.entries(params).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => [name, String(each)]),
  )
  return `${ROUTES.authorization}?${new URLSearchParams(given)}`
}

/** Stores a decision with the member's session. Returns the URL where the browser goes on. */
const decide = async ({ stored }: AuthorizationRequest, viewer: Viewer, result: object): Promise<string> => {
  stored.result = { ...result, session: viewer.tokenId }
  await stored.persist()
  return stored.returnTo
}

/** Denies a request. Returns the URL where the browser goes on. */
export const denyRequest = (waiting: AuthorizationRequest, viewer: Viewer): Promise<string> =>
  decide(waiting, viewer, { error: 'access_denied', error_description: 'the user denied the request' })

/**
 * Allows a request: connects the client to the agent, with the chosen of the scopes that were offered; null for all of
 * them. Returns the URL where the browser goes on. Throws the errors of `connectApp`.
 */
export const allowRequest = async (
  deps: ConnectedAppDeps & Exchange,
  waiting: AuthorizationRequest,
  viewer: Viewer,
  { agentId, scopes: chosen }: { agentId: string; scopes: readonly string[] | null },
): Promise<string> => {
  const { client, clientId } = waiting
  const scopes = grantedScopes(waiting, chosen)
  const { name, host, isVerified, isCommandLine } = client
  const registration = isVerified || isCommandLine ? null : waiting.metadata
  const appId = await connectApp(deps, viewer, agentId, { clientId, name, host, scopes, registration })
  const grant = new deps.provider.Grant({ accountId: viewer.id, clientId })
  grant.jti = appId
  grant.addResourceScope(resourceFor(clientId, deps.publicUrl()), scopes?.join(' ') ?? waiting.whole)
  await grant.save()
  const consent = { login: { accountId: viewer.id, remember: false }, consent: { grantId: appId } }
  return decide(waiting, viewer, consent)
}
