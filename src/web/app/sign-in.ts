import {
  findCompany,
  findPageViewer,
  hasCompanies,
  returnPath,
  signInByLink,
  signInByPasskey,
  signInByToken,
  signInOptions,
} from '../../auth/index.ts'
import { AppError } from '../../core/errors.ts'
import { publicPlace } from '../../core/http/public-place.ts'
import { type Html, html } from '../../core/text/html.ts'
import { alertOf, type Problem } from '../page/failure-words.ts'
import type { Page, Redirect } from '../page/page.ts'
import { companyButton, companyForm } from './company.ts'
import { passkeyForm } from './form.ts'
import type { AppDeps, Submitted, Visit } from './request.ts'
import { continueTo } from './visit.ts'

type Answered = Promise<Page | Redirect>

const toField = (to: string): Html => html`<input type="hidden" name="to" value="${to}">`

const passkey = async (deps: AppDeps, to: string): Promise<Html> =>
  passkeyForm(
    { action: '/app/sign-in/passkey', use: 'get', options: await signInOptions(deps) },
    { to },
    html`<button>Sign in with a passkey</button>`,
  )

const email = (
  to: string,
  company: readonly Html[],
): Html => html`<form method="post" action="/app/sign-in/email">
${toField(to)}
<label for="email">Email address</label>
<input id="email" name="email" type="email" required maxlength="320" autocomplete="username" autocapitalize="none" spellcheck="false">
<button>Email me a link</button>
${company}
</form>`

/** The script opens it and fills it in; without JavaScript the link is pasted. */
const link = (to: string): Html => html`<details><summary>Use a link to sign in</summary>
<form id="link-form" method="post" action="/app/sign-in/link">
${toField(to)}
<label for="link">The link, or the part of it after #</label>
<input id="link" name="link" required maxlength="5000" autocomplete="off" autocapitalize="none" spellcheck="false">
<button>Sign in</button>
</form></details>`

const token = (to: string): Html => html`<details><summary>Use a token</summary>
<form method="post" action="/app/sign-in/token">
${toField(to)}
<label for="token">Your member token</label>
<input id="token" name="token" type="password" required maxlength="200" autocomplete="off" autocapitalize="none" spellcheck="false">
<p class="soft">It is exchanged for a session and not kept in the browser.</p>
<button>Sign in</button>
</form></details>`

const HTTPS_ONLY: Page = {
  status: 403,
  title: 'Signing in needs https',
  body: html`<p>Browsers keep a session only for https, or on the service’s own machine.</p>
<p class="soft">The operator can put the service behind https and set PUBLIC_URL to its address.</p>`,
}

/** The page to sign in, with every way to do so. */
const signInPage = async (deps: AppDeps, to: string, wrong: Problem | null): Promise<Page> => {
  if (!publicPlace(deps.publicUrl()).canSignIn) return HTTPS_ONLY
  return {
    status: wrong?.status ?? 200,
    title: 'Sign in',
    scripts: ['sign-in', 'passkey'],
    body: html`${alertOf(wrong)}
<p class="with-link">Your link is ready. It works once.</p>
<div class="ways">${await passkey(deps, to)}
${email(to, (await hasCompanies(deps)) ? [companyButton] : [])}</div>
${link(to)}
<div class="ways">${token(to)}</div>`,
  }
}

const signedInAlready = (name: string, to: string): Page => ({
  status: 200,
  title: 'You are signed in',
  body: html`<p>You are signed in as <strong>${name}</strong>.</p><p><a class="button" href="${to}">Continue</a></p>`,
})

export const showSignIn = async (deps: AppDeps, { request, url }: Visit): Promise<Page> => {
  const to = returnPath(url.searchParams.get('to'))
  const known = await findPageViewer(deps, request)
  // A link of another member, or for another workspace, is still of use.
  const page = await signInPage(deps, to, null)
  if (!known) return page
  const { viewer } = known
  const { body } = signedInAlready(viewer.name ?? viewer.email ?? '', to)
  return { ...page, body: html`<div class="ways">${body}<h2>Sign in as someone else</h2></div>${page.body}` }
}

/** The sign-in page again, after a form on it was rejected. Secrets that were typed are not shown again. */
export const signInAgain = (deps: AppDeps, form: URLSearchParams, wrong: Problem): Promise<Page> =>
  signInPage(deps, returnPath(form.get('to')), wrong)

export const submitToken = async (deps: AppDeps, { request, form }: Submitted): Answered =>
  continueTo(form.get('to'), [await signInByToken(deps, request, form.get('token')?.trim() ?? '')])

export const submitPasskey = async (deps: AppDeps, { request, form }: Submitted): Answered =>
  continueTo(form.get('to'), [await signInByPasskey(deps, request, form.get('answer') ?? '')])

export const submitLink = async (deps: AppDeps, { request, form }: Submitted): Answered => {
  const given = /asl_[0-9A-Za-z]+/.exec(form.get('link') ?? '')?.[0]
  if (!given) throw new AppError('invalid_input', 'This is not a link to sign in. Check that it is complete.')
  return continueTo(form.get('to'), await signInByLink(deps, request, given))
}

/** Says where mail is that is captured instead of sent; nothing if it is sent. */
const whereMailIs = ({ capturedMail, publicUrl }: AppDeps): Html => {
  if (capturedMail === null) return html``
  const folder = publicPlace(publicUrl()).plainLoopback ? capturedMail : 'DATA_DIR/outbox'
  return html`<p>This service has no mail server to send with: its mail is stored in <strong>${folder}</strong> on its machine.</p>`
}

export const submitEmail = async (deps: AppDeps, { request, form }: Submitted): Answered => {
  const address = form.get('email')?.trim() ?? ''
  const path = returnPath(form.get('to'))
  const cookie = deps.emailLinks.request(request, { email: address, path })
  const company = await findCompany(deps, address)
  return {
    status: 200,
    title: 'Look at your mail',
    cookies: [cookie],
    body: html`<p>If <strong>${address}</strong> is the address of a member, a link to sign in has been sent to it. Open it <strong>in this browser</strong> within 10 minutes.</p>
${company ? companyForm(address, path) : []}
${whereMailIs(deps)}
<p class="soft">A link that you got in the last five minutes works in this browser, too. Nothing arrives? Look at the spam folder, and at the spelling of the address. <a href="/app/sign-in">Back</a></p>`,
  }
}
