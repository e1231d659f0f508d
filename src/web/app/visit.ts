import type { IncomingMessage, ServerResponse } from 'node:http'
import { findPageViewer, type PageViewer, returnPath, type SignInDeps, signInPath } from '../../auth/index.ts'
import { noteRequester } from '../../core/http/http.ts'
import { html } from '../../core/text/html.ts'
import { type Page, type Redirect, reply } from '../page/page.ts'

/** A page that the browser leaves at once for another one of the service. */
const goOn = (path: string): Page => ({
  status: 200,
  title: 'One moment',
  next: path,
  body: html`<p><a href="${path}">Continue</a></p>`,
})

/**
 * Sends the browser on to a path after a form was submitted. Beyond /app that is a page of its own, because
 * Chromium applies the form's `form-action` to redirects, and those paths may lead to other sites.
 */
export const continueTo = (to: string | null, cookies: readonly string[]): Page | Redirect => {
  const path = returnPath(to)
  return /^\/app(?:[/?]|$)/.test(path) ? { location: path, cookies } : { ...goOn(path), cookies }
}

/**
 * Browsers do not send SameSite=Strict cookies when another site leads here. Returns whether this may have
 * happened: then a page of our own leads to the same path once more, with the cookie.
 */
export const comesFromElsewhere = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers['sec-fetch-site'] === 'cross-site'

/**
 * Returns what to answer to someone who is not signed in: the sign-in page, from which they return to the path
 * of the request.
 */
export const askToSignIn = (request: IncomingMessage): Page | Redirect => {
  const path = returnPath(request.method === 'GET' ? (request.url ?? null) : null)
  return comesFromElsewhere(request) ? goOn(path) : { location: signInPath(path) }
}

/** The page on which passkeys are registered, and the only one for members who must do that first. */
const PASSKEYS = '/app/passkeys'

const enrolmentOf = ({ viewer }: PageViewer, { url = '' }: IncomingMessage): Redirect | null =>
  viewer.session.enrolling && url.split('?', 1)[0] !== PASSKEYS
    ? { location: `${PASSKEYS}?to=${encodeURIComponent(returnPath(url))}` }
    : null

/**
 * Returns the member who is signed in. Null when nobody is: then the browser has been sent to the sign-in page,
 * from which the member returns to the path of the request. So it is when the member must register a passkey
 * first.
 */
export const requireSession = async (
  deps: SignInDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<PageViewer | null> => {
  const found = await findPageViewer(deps, request)
  const signedIn = found && { ...found, viewer: noteRequester(response, found.viewer) }
  const elsewhere = signedIn ? enrolmentOf(signedIn, request) : askToSignIn(request)
  if (elsewhere) reply(response, elsewhere)
  return elsewhere ? null : signedIn
}
