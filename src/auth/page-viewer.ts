import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { AppError } from '../core/errors.ts'
import { readCookie } from '../core/http/cookie.ts'
import { clientOf } from '../core/http/http.ts'
import { authenticateSession, mustSignIn, type Viewer } from '../workspace/index.ts'
import { type CredentialDeps, checkOrigin } from './credential.ts'

/** A member who is signed in in the browser that opened a page. */
export interface PageViewer {
  viewer: Viewer & { session: NonNullable<Viewer['session']> }
  /** Value of the field `form` that every form of the page must send back. */
  formToken: string
}

/** Derived from the secret in the cookie, which other sites cannot read. */
const formTokenOf = (token: string): string =>
  createHash('sha256').update(`form ${token}`).digest('base64url')

/** Returns the member who is signed in in the browser that sent a request; null if there is none. */
export const findPageViewer = async (
  deps: CredentialDeps,
  request: IncomingMessage,
): Promise<PageViewer | null> => {
  const token = readCookie(deps.publicUrl(), request, 'session')
  if (!token) return null
  try {
    const viewer = await authenticateSession(deps, token, clientOf(request))
    return { viewer, formToken: formTokenOf(token) }
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthorized') return null
    throw error
  }
}

/**
 * Whether a link that was mailed to the member opens in this browser. Where the workspace requires passkeys, or the company's account of
 * this member, they must also be signed in so there.
 */
export const opensMailedLink = async (
  deps: CredentialDeps,
  request: IncomingMessage,
  member: { id: string; workspaceId: string; email: string },
): Promise<boolean> => {
  if (!(await mustSignIn(deps, member))) return true
  const viewer = (await findPageViewer(deps, request))?.viewer
  return viewer?.id === member.id && !viewer.session.enrolling
}

/**
 * Throws `forbidden` unless a form was sent by a page of ours that was shown to this member: what a custom
 * header proves for GraphQL, a field proves for a form that works without JavaScript.
 */
export const checkForm = (
  deps: CredentialDeps,
  { formToken }: PageViewer,
  request: IncomingMessage,
  form: URLSearchParams,
): void => {
  checkOrigin(deps, request)
  const [given, expected] = [form.get('form') ?? '', formToken].map((text) => Buffer.from(text)) as [
    Buffer,
    Buffer,
  ]
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new AppError('forbidden', 'This form is from an earlier session. Open the page again.')
}
