import { addPasskey, type PageViewer, passkeyOptions, returnPath, signIn } from '../../auth/index.ts'
import { tokenName } from '../../core/rules.ts'
import { html } from '../../core/text/html.ts'
import { alertOf, type Problem } from '../page/failure-words.ts'
import type { Page, Redirect } from '../page/page.ts'
import { checked } from '../page/rule.ts'
import { button, passkeyForm } from './form.ts'
import type { AppDeps, Submitted, Visit } from './request.ts'
import { continueTo } from './visit.ts'

const REQUIRED = html`<p>This workspace requires a passkey. Add one to go on.</p>`
const EXPLAINED = html`<p>A passkey stays on your device, or with its password manager. You unlock it by fingerprint, face or PIN, and no other site can ask for it.</p>`

/** The page on which a member registers a passkey. */
export const passkeyPage = async (
  deps: AppDeps,
  page: PageViewer,
  { to, wrong }: { to: string; wrong: Problem | null },
): Promise<Page> => {
  const options = await passkeyOptions(deps, page.viewer)
  const { enrolling } = page.viewer.session
  return {
    status: wrong?.status ?? 200,
    title: 'Add a passkey',
    scripts: ['passkey'],
    body: html`${alertOf(wrong)}${enrolling ? REQUIRED : []}${EXPLAINED}
<noscript><p>Passkeys need JavaScript.</p></noscript>
${passkeyForm(
  { action: '/app/passkeys', use: 'create', options },
  { form: page.formToken, to },
  html`<label for="name">Name</label>
<input id="name" name="name" required maxlength="100" value="My device" autocomplete="off">
<button>Add</button>`,
)}
${enrolling ? [] : html`<p><a href="/app">Back</a></p>`}
${button(page, '/app/sign-out', html`Sign out`)}`,
  }
}

export const showPasskeys = (deps: AppDeps, page: PageViewer, { url }: Visit): Promise<Page> =>
  passkeyPage(deps, page, { to: returnPath(url.searchParams.get('to')), wrong: null })

export const submitNewPasskey = async (
  deps: AppDeps,
  { viewer }: PageViewer,
  { request, form }: Submitted,
): Promise<Page | Redirect> => {
  const name = checked(tokenName, 'name', form.get('name') ?? '')
  await addPasskey(deps, viewer, { answer: form.get('answer') ?? '', name })
  // A session that allowed nothing else until now is replaced by one that does.
  const cookies = viewer.session.enrolling ? [await signIn(deps, request, viewer, 'passkey')] : []
  return continueTo(form.get('to'), cookies)
}
