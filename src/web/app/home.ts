import type { PageViewer } from '../../auth/page-viewer.ts'
import { listSessions, type PublicSession } from '../../auth/session.ts'
import type { SignInDeps } from '../../auth/sign-in.ts'
import { type Html, html } from '../../core/html.ts'
import type { Page } from '../page.ts'

/** A time that reads the same everywhere, because the page does not know the browser's time zone. */
const timeOf = (time: Date): Html =>
  html`<time datetime="${time.toISOString()}">${time.toISOString().slice(0, 16).replace('T', ' ')} UTC</time>`

/** A button of one form; `form` is the page's form token. */
const button = (
  { formToken }: PageViewer,
  action: string,
  label: string,
  hidden: Record<string, string> = {},
): Html => html`<form method="post" action="${action}">
<input type="hidden" name="form" value="${formToken}">
${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button>${label}</button>
</form>`

const sessionRow = (page: PageViewer, session: PublicSession): Html => html`<li>
<div><strong>${session.browser}</strong>${session.current ? ' (this browser)' : ''}
<p class="soft">Last used ${timeOf(session.lastUsedAt)}, signed in ${timeOf(session.createdAt)}</p></div>
${session.current ? [] : button(page, '/app/sessions/end', 'End', { session: session.id })}
</li>`

/** The start page of a signed-in member. */
export const homePage = async (deps: SignInDeps, page: PageViewer): Promise<Page> => {
  const { viewer } = page
  const sessions = await listSessions(deps, viewer, { memberId: viewer.id })
  return {
    status: 200,
    title: 'Agent Messaging Service',
    body: html`<p>You are signed in as <strong>${viewer.name ?? viewer.email ?? ''}</strong>.</p>
${button(page, '/app/sign-out', 'Sign out')}
<h2>Where you are signed in</h2>
<ul class="rows">${sessions.map((session) => sessionRow(page, session))}</ul>
${sessions.length > 1 ? button(page, '/app/sessions/end-all', 'Sign out everywhere') : []}`,
  }
}
