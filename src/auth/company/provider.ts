import type * as Library from 'openid-client'
import { AppError, messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { CompanySignIn } from '../../db/generated/prisma/client.ts'
import type { Fetch } from '../../outgoing-http/fetch.ts'
import { type Keyring, openClientSecret } from '../../workspace/index.ts'
import type { Attempt } from './attempt.ts'
import { type Claims, idOf, tenantOf } from './person.ts'

export interface ProviderDeps {
  keyring: Pick<Keyring, 'open'>
  /** Over connections that reach what webhooks may: an owner names the issuer. */
  fetch: Fetch
  log: Logger
}

const SCOPE = 'openid email profile'
/** Clocks of providers may differ by so much. */
const CLOCK_TOLERANCE_S = 60

/** Loaded with the first sign-in: few processes need it. */
const library = () => import('openid-client')

/** Returns the library's `fetch`. */
const fetchWith =
  (fetch: Fetch) =>
  async (url: string, { method, headers, body }: Library.CustomFetchOptions): Promise<Response> => {
    const isPost = method === 'POST'
    const response = await fetch({
      ...{ url, method: isPost ? 'POST' : 'GET', headers },
      ...(isPost && { body: String(body ?? '') }),
    })
    const type = response.headers['content-type']
    const shown = response.status === 204 ? null : new Uint8Array(response.body)
    return new Response(shown, {
      status: response.status,
      headers: type === undefined ? {} : { 'content-type': type },
    })
  }

/** The first way of those that the provider lists; by default, and by the specification, Basic. */
const authenticationOf = (
  { ClientSecretBasic, ClientSecretPost }: typeof Library,
  secret: string,
  supported: readonly string[] = [],
): Library.ClientAuth => {
  const first = supported.find((way) => way === 'client_secret_basic' || way === 'client_secret_post')
  return first === 'client_secret_post' ? ClientSecretPost(secret) : ClientSecretBasic(secret)
}

/**
 * Discovers a provider. Anew for each sign-in: keys and addresses that it has changed count at once, and people sign in rarely. Throws an
 * error of the library or the network.
 */
const discover = async (deps: ProviderDeps, row: CompanySignIn): Promise<Library.Configuration> => {
  const openid = await library()
  const issuer = new URL(row.issuer)
  const secret = await openClientSecret(deps.keyring, row)
  const configuration = await openid.discovery(
    issuer,
    row.clientId,
    { [openid.clockTolerance]: CLOCK_TOLERANCE_S },
    (server, ...rest) =>
      authenticationOf(openid, secret, server.token_endpoint_auth_methods_supported)(server, ...rest),
    {
      [openid.customFetch]: fetchWith(deps.fetch),
      execute: [
        // Signatures of ID tokens are verified although they come over TLS.
        openid.enableNonRepudiationChecks,
        // Connections over plain http are refused unless the operator permits the host.
        ...(issuer.protocol === 'http:' ? [openid.allowInsecureRequests] : []),
      ],
    },
  )
  // The library also takes an issuer of all tenants, whose users are anybody's.
  const found = configuration.serverMetadata().issuer
  if (new URL(found).href !== issuer.href) throw new Error(`the issuer calls itself ${found.slice(0, 200)}`)
  return configuration
}

const failure = (
  { log }: ProviderDeps,
  { workspaceId, issuer }: CompanySignIn,
  error: unknown,
  words: string,
): AppError => {
  const cause = (error as { cause?: unknown }).cause
  const why = cause instanceof Error ? `${messageOf(error)}: ${messageOf(cause)}` : messageOf(error)
  log.warn({ workspaceId, issuer, error: why.slice(0, 500) }, 'a sign-in with a company’s account failed')
  return new AppError('forbidden', words)
}

const UNREACHABLE =
  'Your company’s sign-in cannot be reached. Try again later, or tell an owner of the workspace.'
const NOT_VALID = 'Your company’s sign-in did not confirm who you are. Start again.'

/** Returns the URL at which the person signs in at the provider. Throws `forbidden` if it cannot be reached. */
export const authorizationUrl = async (
  deps: ProviderDeps,
  row: CompanySignIn,
  { state, nonce, codeVerifier }: Attempt,
  { redirectUrl, email }: { redirectUrl: string; email: string },
): Promise<string> => {
  const openid = await library()
  try {
    const challenge = await openid.calculatePKCECodeChallenge(codeVerifier)
    return openid.buildAuthorizationUrl(await discover(deps, row), {
      ...{ redirect_uri: redirectUrl, scope: SCOPE, state, nonce, login_hint: email },
      ...{ code_challenge: challenge, code_challenge_method: 'S256' },
    }).href
  } catch (error) {
    throw failure(deps, row, error, UNREACHABLE)
  }
}

/**
 * Exchanges what the provider has sent the browser back with for the person's claims. Throws `forbidden` when the provider does not
 * confirm them.
 */
export const claimsOf = async (
  deps: ProviderDeps,
  row: CompanySignIn,
  { state, nonce, codeVerifier }: Attempt,
  returned: URL,
): Promise<Claims> => {
  const openid = await library()
  try {
    const configuration = await discover(deps, row)
    const tokens = await openid.authorizationCodeGrant(configuration, returned, {
      ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier },
      idTokenExpected: true,
    })
    const claims = tokens.claims()!
    const tells = configuration.serverMetadata().userinfo_endpoint !== undefined
    const isProven = claims.email_verified !== undefined || tenantOf(claims.iss) !== null
    if ((claims.email !== undefined && isProven) || !tells) return claims
    // Claims at the userinfo endpoint need not be repeated in the ID token (OpenID Connect Core, 5.4).
    const told = await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub)
    // Both of one source: what verifies one address must not count for another.
    const { email, email_verified } = told
    return { ...told, ...claims, email, email_verified }
  } catch (error) {
    throw failure(deps, row, error, NOT_VALID)
  }
}

/** What a provider says when a person has signed out there (OpenID Connect Back-Channel Logout 1.0, 2.4). */
export interface SignedOut {
  id: string
  issuer: string
  subject: string | null
  sid: string | null
}

export const NOT_VALID_LOGOUT = 'This logout token is not valid.'
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout'
/** A logout token is sent at once. */
const LOGOUT_TOKEN_AGE_S = 300

/** Returns what a logout token says. Throws `forbidden` unless the provider has signed it for this client. */
export const readLogoutToken = async (
  deps: ProviderDeps,
  row: CompanySignIn,
  token: string,
): Promise<SignedOut> => {
  try {
    const { createLocalJWKSet, decodeJwt, jwtVerify } = await import('jose')
    // Before anybody is asked for keys.
    const claimed = decodeJwt(token)
    if (new URL(claimed.iss ?? '').href !== new URL(row.issuer).href || !claimed.events)
      throw new Error('it is not a logout token of this provider')
    const { issuer, jwks_uri: keysUrl } = (await discover(deps, row)).serverMetadata()
    const keys = await deps.fetch({ url: keysUrl ?? '', method: 'GET' })
    const { payload } = await jwtVerify(token, createLocalJWKSet(JSON.parse(keys.body.toString())), {
      ...{ issuer, audience: row.clientId, maxTokenAge: LOGOUT_TOKEN_AGE_S },
      ...{ clockTolerance: CLOCK_TOLERANCE_S, requiredClaims: ['iat', 'jti', 'events'] },
    })
    const events = payload.events as Record<string, unknown> | null
    const [id, subject, sid] = [payload.jti, payload.sub, payload.sid].map(idOf)
    const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, LOGOUT_EVENT)
    // An ID token, which has a nonce, must not pass for one.
    if (!isLogout || !id || payload.nonce !== undefined || !(subject || sid))
      throw new Error('it is not a logout token')
    return { id, issuer, subject: subject ?? null, sid: sid ?? null }
  } catch (error) {
    throw failure(deps, row, error, NOT_VALID_LOGOUT)
  }
}
