import * as oauth from 'oauth4webapi'
import { type CookieClient, formTokenIn, type Visited } from './cookie-client.ts'
import type { TestService } from './service.ts'

/** Plain http, as on a developer's machine. */
const INSECURE = { [oauth.allowInsecureRequests]: true }

const CALLBACK = 'https://client.example/callback'

/** The authorization server and the resource, as a client discovers them. */
export interface Discovered {
  server: oauth.AuthorizationServer
  resource: string
}

export const publicUrlOf = (service: Pick<TestService, 'http'>): string =>
  service.http.replace('127.0.0.1', 'localhost')

/** Follows RFC 9728 and RFC 8414 from the 401 of /mcp, with every check of a real client library. */
export const discover = async (service: Pick<TestService, 'http'>): Promise<Discovered> => {
  const mcp = new URL(`${publicUrlOf(service)}/mcp`)
  const refused = await fetch(mcp, { method: 'POST', body: '{}' })
  const metadataUrl = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '')![1]!
  const described = await oauth.processResourceDiscoveryResponse(mcp, await fetch(metadataUrl))
  const issuer = new URL(described.authorization_servers![0]!)
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...INSECURE })
  return {
    server: await oauth.processDiscoveryResponse(issuer, response),
    resource: described.resource,
  }
}

export const register = async (
  { server }: Discovered,
  metadata: Partial<oauth.OmitSymbolProperties<oauth.Client>> = {},
): Promise<oauth.Client> => {
  const given = { client_name: 'Test Client', redirect_uris: [CALLBACK], ...metadata }
  const response = await oauth.dynamicClientRegistrationRequest(server, given, INSECURE)
  return oauth.processDynamicClientRegistrationResponse(response)
}

/** An authorization request that was begun, with what the client keeps for its end. */
export interface Begun {
  path: string
  verifier: string
  state: string
  redirectUri: string
}

/** Begins an authorization request; `changes` replace its parameters, null removes one. */
export const begin = async (
  { server, resource }: Discovered,
  client: oauth.Client,
  changes: Record<string, string | null> = {},
): Promise<Begun> => {
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const params = {
    client_id: client.client_id,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'agent',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...{ resource, state },
    ...changes,
  }
  const url = new URL(server.authorization_endpoint!)
  for (const [name, value] of Object.entries(params)) if (value !== null) url.searchParams.set(name, value)
  return { path: url.pathname + url.search, verifier, state, redirectUri: params.redirect_uri ?? CALLBACK }
}

/** The consent page of a request, in a browser in which a member is signed in. */
export const openConsent = async (
  browser: CookieClient,
  { path }: Begun,
): Promise<{ at: string; page: Visited }> => {
  const started = await browser.get(path)
  const at = new URL(started.location ?? '/', 'http://localhost').pathname
  return { at, page: await browser.get(at) }
}

/** Decides on the consent page. Returns the URL that the browser ends at: the client's. */
export const decide = async (
  browser: CookieClient,
  { at, page }: { at: string; page: Visited },
  form: Record<string, string>,
): Promise<URL> => {
  const decided = await browser.submit(at, { form: formTokenIn(page), ...form })
  const next = /http-equiv="refresh" content="0; url=([^"]+)"/
    .exec(decided.text)?.[1]
    ?.replaceAll('&amp;', '&')
  if (!next) throw new Error(`the consent page did not go on: ${decided.status} ${decided.text}`)
  const { pathname, search } = new URL(next)
  const returned = await browser.get(pathname + search)
  return new URL(returned.location!)
}

export const redeem = async (
  { server, resource }: Discovered,
  client: oauth.Client,
  { verifier, state, redirectUri }: Begun,
  returned: URL,
): Promise<oauth.TokenEndpointResponse> => {
  const answer = oauth.validateAuthResponse(server, client, returned, state)
  const response = await oauth.authorizationCodeGrantRequest(
    ...([server, client, oauth.None(), answer, redirectUri, verifier] as const),
    { additionalParameters: { resource }, ...INSECURE },
  )
  return oauth.processAuthorizationCodeResponse(server, client, response)
}

export const refresh = async (
  { server, resource }: Discovered,
  client: oauth.Client,
  refreshToken: string,
): Promise<oauth.TokenEndpointResponse> => {
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, {
    additionalParameters: { resource },
    ...INSECURE,
  })
  return oauth.processRefreshTokenResponse(server, client, response)
}

export const revoke = async ({ server }: Discovered, client: oauth.Client, token: string): Promise<void> =>
  oauth.processRevocationResponse(
    await oauth.revocationRequest(server, client, oauth.None(), token, INSECURE),
  )

/** Posts a form to an endpoint, as a client that checks nothing. */
export const post = async (url: string, form: Record<string, string>) => {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form) })
  return { status: response.status, body: (await response.json()) as Record<string, string> }
}

/** A client that is connected to an agent. */
export interface Connected {
  client: oauth.Client
  accessToken: string
  refreshToken: string
}

/** Goes the whole way once: registers a client, and connects it to the agent. */
export const connect = async (
  found: Discovered,
  browser: CookieClient,
  agentId: string,
  metadata: Parameters<typeof register>[1] = {},
): Promise<Connected> => {
  const client = await register(found, metadata)
  const begun = await begin(found, client)
  const returned = await decide(browser, await openConsent(browser, begun), {
    agent: agentId,
    decision: 'allow',
  })
  const tokens = await redeem(found, client, begun, returned)
  return { client, accessToken: tokens.access_token, refreshToken: tokens.refresh_token! }
}
