import type { IncomingMessage } from 'node:http'
import { AppError } from '../core/errors.ts'
import { bearerOf } from '../core/http/bearer.ts'
import { readCookie } from '../core/http/cookie.ts'
import { clientOf } from '../core/http/http.ts'
import { publicPlace } from '../core/http/public-place.ts'
import { authenticate, authenticateSession, type Viewer, type ViewerDeps } from '../workspace/index.ts'

export interface CredentialDeps extends ViewerDeps {
  publicUrl(): string
}

/** What a request authenticates with: a bearer token, or the cookie of a session. */
export interface Credential {
  kind: 'bearer' | 'session'
  token: string
}

/**
 * Returns whether the request comes from a page of PUBLIC_URL, whose origin browsers send with every request
 * that is not a GET. SameSite would not suffice: it ignores ports, so the cookie comes along with requests of
 * every page on this host.
 */
export const isOwnOrigin = (
  { publicUrl }: Pick<CredentialDeps, 'publicUrl'>,
  request: IncomingMessage,
): boolean => request.headers.origin === publicPlace(publicUrl()).origin

/** Throws `forbidden` unless the request comes from a page of PUBLIC_URL. */
export const checkOrigin = (deps: Pick<CredentialDeps, 'publicUrl'>, request: IncomingMessage): void => {
  if (isOwnOrigin(deps, request)) return
  const { origin } = publicPlace(deps.publicUrl())
  throw new AppError('forbidden', `This can be used from pages of ${origin} only.`)
}

/**
 * Returns the credential of a request to an API that accepts sessions. A bearer token takes precedence. Throws
 * `unauthorized` without any, and `forbidden` for a session's cookie in a request that another site could have
 * made: it must not be a GET, and needs our origin and a header that forms and images cannot send.
 */
export const credentialOf = (
  deps: Pick<CredentialDeps, 'publicUrl'>,
  request: IncomingMessage,
): Credential => {
  const { authorization } = request.headers
  const bearer = bearerOf(authorization)
  if (bearer) return { kind: 'bearer', token: bearer }
  const cookie = authorization === undefined ? readCookie(deps.publicUrl(), request, 'session') : null
  if (!cookie) throw new AppError('unauthorized', 'Send a bearer token: Authorization: Bearer <token>.')
  if (request.method === 'GET' || request.method === 'HEAD')
    throw new AppError('forbidden', `A session cannot be used with ${request.method}: use POST.`)
  if (!request.headers['x-requested-by'])
    throw new AppError('forbidden', 'A session can be used only with the header X-Requested-By.')
  checkOrigin(deps, request)
  return { kind: 'session', token: cookie }
}

/**
 * Authenticates a credential. Throws the errors of `authenticate` and `authenticateSession`, and `forbidden`
 * for a session whose member must first register a passkey.
 */
export const authenticateCredential = async (
  deps: ViewerDeps,
  { kind, token }: Credential,
  request: IncomingMessage,
): Promise<Viewer> => {
  const source = clientOf(request)
  if (kind === 'bearer') return authenticate(deps, token, source)
  const viewer = await authenticateSession(deps, token, source)
  if (viewer.session.enrolling)
    throw new AppError('forbidden', 'This workspace requires passkeys: register one at /app first.')
  return viewer
}
