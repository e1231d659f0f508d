import type { ServerResponse } from 'node:http'
import { beginCompanySignIn, endCompanySessions, endCompanySignIn, returnPath } from '../../auth/index.ts'
import { AppError } from '../../core/errors.ts'
import { type Html, html } from '../../core/text/html.ts'
import { problemOf } from '../page/failure-words.ts'
import { type Page, readForm } from '../page/page.ts'
import type { AppDeps, Submitted, Visit } from './request.ts'
import { comesFromElsewhere } from './visit.ts'

/** Signing in with the account of a company, at its OpenID provider. */

const BEGIN = '/app/sign-in/company'

/** The button of a form with the field `email` that begins it. */
export const companyButton: Html = html`<button class="second" formaction="${BEGIN}">Use my company’s account</button>`

/** A form that begins it for an address that was given. */
export const companyForm = (email: string, to: string): Html => html`<form method="post" action="${BEGIN}">
<input type="hidden" name="email" value="${email}"><input type="hidden" name="to" value="${to}">
<button>Use my company’s account</button>
</form>`

/** A page that the browser leaves at once: Chromium applies the `form-action` of a form to where a redirect leads. */
const leaveFor = (url: string, words: string, cookies: readonly string[]): Page => ({
  ...{ status: 200, title: 'One moment', next: url, cookies },
  body: html`<p><a href="${url}">${words}</a></p>`,
})

export const submitCompany = async (deps: AppDeps, { request, form }: Submitted): Promise<Page> => {
  const email = form.get('email')?.trim() ?? ''
  const path = returnPath(form.get('to'))
  const { url, cookie } = await beginCompanySignIn(deps, request, { email, path })
  return leaveFor(url, 'Continue to your company’s sign-in', [cookie])
}

const RETURNED = /^\/app\/sign-in\/company\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(\/logout)?$/

/** The workspace whose provider leads to a path; null for other paths. */
export const companyOf = (path: string): { workspaceId: string; isLogout: boolean } | null => {
  const [found, workspaceId, logout] = RETURNED.exec(path) ?? []
  return found ? { workspaceId: workspaceId!, isLogout: logout !== undefined } : null
}

const failed = ({ status, problem }: ReturnType<typeof problemOf>): Page => ({
  status,
  title: 'You are not signed in',
  body: html`<p>${problem}</p><p><a class="button" href="/app/sign-in">Sign in</a></p>`,
})

/** The page that a provider sends the browser back to. Only a GET signs in: others come from no provider. */
export const showCompany = async (
  deps: AppDeps,
  { request, url }: Visit,
  workspaceId: string,
): Promise<Page> => {
  try {
    // An earlier session of this browser ends with the new one: its cookie does not come along from elsewhere.
    if (comesFromElsewhere(request)) return leaveFor(url.pathname + url.search, 'Continue', [])
    if (request.method !== 'GET') throw new AppError('invalid_input', 'Open this page with GET.')
    const { cookies, path } = await endCompanySignIn(deps, request, workspaceId, url.searchParams)
    return leaveFor(path, 'Continue', cookies)
  } catch (error) {
    return failed(problemOf(error))
  }
}

/** What a provider tells when a person has signed out there (OpenID Connect Back-Channel Logout 1.0, 2.8). */
export const takeLogout = async (
  deps: AppDeps,
  { request }: Visit,
  workspaceId: string,
  response: ServerResponse,
): Promise<void> => {
  response.setHeader('Cache-Control', 'no-store')
  const form = await readForm(request)
  if (!form) response.setHeader('Connection', 'close')
  try {
    const token = form?.get('logout_token') ?? ''
    await endCompanySessions(deps, request, { workspaceId, token })
    response.writeHead(200).end()
  } catch (error) {
    const { status, problem } = problemOf(error)
    const body = JSON.stringify({ error: 'invalid_request', error_description: problem })
    response
      .writeHead(status === 429 || status >= 500 ? status : 400, { 'Content-Type': 'application/json' })
      .end(body)
  }
}
