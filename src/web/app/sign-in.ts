import { returnPath } from '../../auth/return-path.ts'
import { type SignInDeps, signInByToken } from '../../auth/sign-in.ts'
import { type Html, html } from '../../core/html.ts'
import type { Problem } from '../failure-words.ts'
import type { Page, Redirect } from '../page.ts'
import type { Submitted, Visit } from './app.ts'
import { continueTo } from './visit.ts'

const tokenForm = (to: string): Html => html`<form method="post" action="/app/sign-in/token">
<input type="hidden" name="to" value="${to}">
<label for="token">Your token</label>
<input id="token" name="token" type="password" required maxlength="200" autocomplete="off" autocapitalize="none" spellcheck="false">
<button>Sign in</button>
</form>`

/** The page to sign in, with every way to do so. */
const signInPage = (to: string, wrong: Problem | null): Page => ({
  status: wrong?.status ?? 200,
  title: 'Sign in',
  body: html`${wrong ? html`<p class="bad" role="alert">${wrong.problem}</p>` : []}
${tokenForm(to)}`,
})

export const showSignIn = async (_deps: SignInDeps, { url }: Visit): Promise<Page> =>
  signInPage(returnPath(url.searchParams.get('to')), null)

/** The sign-in page again, after a form on it was rejected. What was typed is not shown again. */
export const signInAgain = (form: URLSearchParams, wrong: Problem): Page =>
  signInPage(returnPath(form.get('to')), wrong)

export const submitToken = async (
  deps: SignInDeps,
  { request, form }: Submitted,
): Promise<Page | Redirect> => {
  const cookie = await signInByToken(deps, request, form.get('token')?.trim() ?? '')
  return continueTo(form.get('to'), [cookie])
}
