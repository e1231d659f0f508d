import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  checkForm,
  checkOrigin,
  findPageViewer,
  type PageViewer,
  returnPath,
  signOut,
} from '../../auth/index.ts'
import { isLoopbackHost, publicPlace } from '../../core/http/public-place.ts'
import { html } from '../../core/text/html.ts'
import { assetNameOf, sendApplication, sendAsset } from '../page/assets.ts'
import { type Download, sendDownload } from '../page/download.ts'
import { type Problem, problemOf } from '../page/failure-words.ts'
import { type Page, type Redirect, readForm, reply } from '../page/page.ts'
import { scriptAt, sendScript } from '../page/scripts.ts'
import { companyOf, showCompany, submitCompany, takeLogout } from './company.ts'
import { exportPage, submitExport } from './export.ts'
import { passkeyPage, showPasskeys, submitNewPasskey } from './passkeys.ts'
import type { AppDeps, Submitted, Visit } from './request.ts'
import { showSignIn, signInAgain, submitEmail, submitLink, submitPasskey, submitToken } from './sign-in.ts'
import { askToSignIn, requireSession } from './visit.ts'

type Answered = Promise<Page | Redirect>

/** Pages for everyone. */
const OPEN: Record<string, (deps: AppDeps, visit: Visit) => Answered> = {
  '/app/sign-in': showSignIn,
}

/** Forms for everyone; a rejected one shows the sign-in page again. */
const OPEN_FORMS: Record<string, (deps: AppDeps, submitted: Submitted) => Answered> = {
  '/app/sign-in/company': submitCompany,
  '/app/sign-in/email': submitEmail,
  '/app/sign-in/link': submitLink,
  '/app/sign-in/passkey': submitPasskey,
  '/app/sign-in/token': submitToken,
}

/** The web application's page about the member who is signed in. */
const ACCOUNT = '/app/profile'

/** Pages for signed-in members. */
const PAGES: Record<string, (deps: AppDeps, page: PageViewer, visit: Visit) => Answered> = {
  '/app/account': async () => ({ location: ACCOUNT }),
  '/app/export': exportPage,
  '/app/passkeys': showPasskeys,
}

const SIGNED_OUT = '/app/sign-in'

type Action = (deps: AppDeps, page: PageViewer, submitted: Submitted) => Promise<Page | Redirect | Download>

/** Forms for signed-in members. */
const FORMS: Record<string, Action> = {
  '/app/sign-out': async (deps, _page, { request }) => ({
    location: SIGNED_OUT,
    cookies: [await signOut(deps, request)],
  }),
  '/app/export': submitExport,
  '/app/passkeys': async (deps, page, submitted) => {
    try {
      return await submitNewPasskey(deps, page, submitted)
    } catch (error) {
      return passkeyPage(deps, page, { to: returnPath(submitted.form.get('to')), wrong: problemOf(error) })
    }
  },
}

/** Forms for members who must register a passkey first. */
const ENROLLING = ['/app/passkeys', '/app/sign-out']

const problemPage = ({ status, problem }: Problem): Page => ({
  status,
  title: 'This did not work',
  body: html`<p>${problem}</p><p><a href="/app">Back</a></p>`,
})

const MISSING: Page = {
  status: 404,
  title: 'There is no such page',
  body: html`<p><a href="/app">Go to the start page</a></p>`,
}

/**
 * Returns where to open the same page if the browser used another name of this machine: sessions are for the
 * name in PUBLIC_URL. Behind a proxy the Host header may differ, so that only this machine is redirected.
 */
const ownName = ({ publicUrl }: AppDeps, { request, url }: Visit): string | null => {
  const place = publicPlace(publicUrl())
  const { host = '' } = request.headers
  const isOther = place.plainLoopback && isLoopbackHost(host) && `http://${host}` !== place.origin
  return isOther && host.endsWith(`:${place.port}`) ? place.origin + url.pathname + url.search : null
}

const show = async (deps: AppDeps, path: string, visit: Visit, response: ServerResponse): Promise<void> => {
  const elsewhere = ownName(deps, visit)
  if (elsewhere) return reply(response, { location: elsewhere })
  const open = OPEN[path]
  if (open) return reply(response, await open(deps, visit))
  const signedIn = await requireSession(deps, visit.request, response)
  if (!signedIn) return
  const page = PAGES[path]
  if (!page) return sendApplication(response)
  reply(response, await page(deps, signedIn, visit).catch((error) => problemPage(problemOf(error))))
}

const submitOpen = async (deps: AppDeps, path: string, submitted: Submitted): Answered => {
  try {
    checkOrigin(deps, submitted.request)
    return await OPEN_FORMS[path]!(deps, submitted)
  } catch (error) {
    return signInAgain(deps, submitted.form, problemOf(error))
  }
}

const submit = async (
  deps: AppDeps,
  path: string,
  submitted: Submitted,
): Promise<Page | Redirect | Download> => {
  if (path in OPEN_FORMS) return submitOpen(deps, path, submitted)
  const action = FORMS[path]
  if (!action) return MISSING
  const signedIn = await findPageViewer(deps, submitted.request)
  if (!signedIn) return askToSignIn(submitted.request)
  if (signedIn.viewer.session.enrolling && !ENROLLING.includes(path)) return { location: '/app/passkeys' }
  try {
    checkForm(deps, signedIn, submitted.request, submitted.form)
    return await action(deps, signedIn, submitted)
  } catch (error) {
    return problemPage(problemOf(error))
  }
}

/**
 * Serves /app: GET shows a page and changes nothing, POST submits a form. Every path that has no page is one of
 * the web application's.
 */
export const serveApp = async (
  deps: AppDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const url = new URL(request.url ?? '/', 'http://service.invalid')
  const path = url.pathname.replace(/(?<=.)\/$/, '')
  const visit = { request, url }
  const company = companyOf(path)
  const asset = assetNameOf(path)
  if (asset !== null) return sendAsset(request, response, asset)
  const script = scriptAt(path)
  if (script) return sendScript(response, script)
  if (company?.isLogout && request.method === 'POST')
    return takeLogout(deps, visit, company.workspaceId, response)
  if (company && !company.isLogout)
    return reply(response, await showCompany(deps, visit, company.workspaceId))
  if (request.method !== 'POST') return show(deps, path, visit, response)
  const form = await readForm(request)
  // Closes the connection, so that the rest of an unread body is not parsed as the next request.
  if (!form) response.setHeader('Connection', 'close')
  const unreadable = { status: 400, problem: 'This form could not be read.' }
  const answer = form ? await submit(deps, path, { ...visit, form }) : problemPage(unreadable)
  if ('content' in answer) await sendDownload(response, answer)
  else reply(response, answer)
}
