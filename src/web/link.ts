import type { IncomingMessage, ServerResponse } from 'node:http'
import { signInPath } from '../auth/index.ts'
import { html } from '../core/text/html.ts'
import { type Problem, problemOf } from './page/failure-words.ts'
import { type Page, readForm, showPage } from './page/page.ts'

/** Why a form was rejected, and its content. */
export interface Wrong extends Problem {
  form: URLSearchParams
}

/**
 * A link that contains a token: shows a page when opened, and performs an action once when its form is
 * submitted.
 */
export interface Link {
  show(token: string, request: IncomingMessage): Promise<Page>
  /** Throws an `AppError` whose message is shown to the user. */
  submit(token: string, form: URLSearchParams, request: IncomingMessage): Promise<Page>
  /** Shows the page again, with the problem and the submitted values. */
  again(token: string, wrong: Wrong, request: IncomingMessage): Promise<Page>
}

/** The page of a link that cannot be used, by its state. */
const CLOSED = {
  used: {
    status: 410,
    title: 'This link has been used',
    says: 'It can be used only once, and someone has used it.',
  },
  expired: {
    status: 410,
    title: 'This link has expired',
    says: 'It was valid for a limited time only.',
  },
  unknown: {
    status: 404,
    title: 'This link is not valid',
    says: 'Check that the link is complete. It may have been revoked, or replaced by a newer one.',
  },
} as const

/** Returns the page of a link that cannot be used, with advice on what to do. */
export const closedPage = (state: keyof typeof CLOSED, advice: string): Page => {
  const { status, title, says } = CLOSED[state]
  return { status, title, body: html`<p>${says}</p><p class="soft">${advice}</p>` }
}

/**
 * The page of a member whose workspace lets nobody in by a link alone. A click there sends the session's cookie, which browsers
 * leave out when a link in a mail is opened. `purpose` follows "Sign in to".
 */
export const signInFirst = (purpose: string, path: string): Page => ({
  status: 403,
  title: `Sign in to ${purpose}`,
  body: html`<p role="alert">This workspace requires that you sign in with your passkey, or the account of your company. You then return to this page.</p>
<p><a class="button" href="${signInPath(path)}">Continue</a></p>`,
})

const submitted = async (
  link: Link,
  token: string,
  form: URLSearchParams,
  request: IncomingMessage,
): Promise<Page> => {
  try {
    return await link.submit(token, form, request)
  } catch (error) {
    return link.again(token, { ...problemOf(error), form }, request)
  }
}

/** Serves a link's page (GET) and its form (POST). */
export const serveLink = async (
  link: Link,
  token: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  if (request.method === 'GET' || request.method === 'HEAD')
    return showPage(response, await link.show(token, request))
  const form = await readForm(request)
  // Closes the connection, so that the rest of an unread body is not parsed as the next request.
  if (!form) response.setHeader('Connection', 'close')
  const unreadable = { status: 400, problem: 'This form could not be read.', form: new URLSearchParams() }
  showPage(
    response,
    form ? await submitted(link, token, form, request) : await link.again(token, unreadable, request),
  )
}
