import type { IncomingMessage } from 'node:http'
import { askedScopes, OAUTH_SCOPES } from '../../auth/index.ts'

/** Parameters of OpenID Connect: there are no ID tokens that they could apply to. */
const IGNORED = ['acr_values', 'claims', 'claims_locales', 'display', 'id_token_hint', 'max_age', 'nonce']

/**
 * Returns the query of an authorization request as the library gets it. Unknown scopes are left out, and one without any
 * asks for everything, as RFC 6749, 3.3, allows. Consent is asked for anyway, so that of `prompt` only `none` means
 * something. Answers go into the query of the redirect URI: another `response_mode` is refused.
 */
const authorizationQuery = (query: string): string => {
  const given = new URLSearchParams(query)
  for (const name of IGNORED) given.delete(name)
  if (given.get('prompt') !== 'none') given.delete('prompt')
  if (given.has('response_mode') && given.get('response_mode') !== 'query')
    given.set('response_mode', 'unsupported')
  const scopes = askedScopes(given.get('scope')) ?? OAUTH_SCOPES
  given.set('scope', scopes.join(' '))
  return given.toString()
}

/**
 * Prepares a request for the library, which derives its own URLs from the request: they are those of
 * PUBLIC_URL, whatever the client or a proxy put into the headers.
 */
export const prepare = (request: IncomingMessage, publicUrl: string, path: string): void => {
  const { host, protocol, pathname } = new URL(publicUrl)
  const { headers } = request
  delete headers['x-forwarded-host']
  delete headers['x-forwarded-for']
  headers.host = host
  headers['x-forwarded-proto'] = protocol.slice(0, -1)
  const [, query = ''] = (request.url ?? '').split(/\?(.*)/s, 2)
  const kept = path === '/oauth/authorize' ? authorizationQuery(query) : query
  request.url = kept === '' ? path : `${path}?${kept}`
  // What koa takes for the part of the URL that a parent application has removed.
  Object.assign(request, { originalUrl: pathname.replace(/\/$/, '') + request.url })
}
