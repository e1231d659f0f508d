import {
  type ConnectedApp,
  listApps,
  listPasskeys,
  listSessions,
  type PageViewer,
  type PublicPasskey,
  type PublicSession,
} from '../../auth/index.ts'
import { type Html, html } from '../../core/text/html.ts'
import { readWorkspace } from '../../workspace/index.ts'
import type { Page } from '../page/page.ts'
import { button, timeOf } from './form.ts'
import type { AppDeps } from './request.ts'

const named = (label: string, what: string): Html => html`${label}<span class="unseen"> ${what}</span>`

const sessionRow = (page: PageViewer, session: PublicSession): Html => html`<li>
<div><strong>${session.browser}</strong>${session.current ? ' (this browser)' : ''}
<p class="soft">Last used ${timeOf(session.lastUsedAt)}<br>Signed in ${timeOf(session.createdAt)}</p></div>
${session.current ? [] : button(page, '/app/sessions/end', named('End', session.browser), { session: session.id })}
</li>`

const passkeyRow = (page: PageViewer, { id, name, createdAt, lastUsedAt }: PublicPasskey): Html => html`<li>
<div><strong>${name}</strong>
<p class="soft">Added ${timeOf(createdAt)}${lastUsedAt ? html`<br>Last used ${timeOf(lastUsedAt)}` : []}</p></div>
${button(page, '/app/passkeys/remove', named('Remove', name), { passkey: id })}
</li>`

const passkeys = (page: PageViewer, known: readonly PublicPasskey[]): Html => html`<h2>Passkeys</h2>
${
  known.length > 0
    ? html`<ul class="rows">${known.map((one) => passkeyRow(page, one))}</ul>`
    : html`<p class="soft">With a passkey you sign in by fingerprint, face or device PIN, without waiting for a mail.</p>`
}
<p><a class="button" href="/app/passkeys?to=/app/account">Add a passkey</a></p>`

const appRow = (page: PageViewer, app: ConnectedApp): Html => html`<li>
<div><strong>${app.name}</strong>${app.host === app.name ? [] : ` (${app.host})`}
<p class="soft">Acts as ${app.agent.name}, connected by ${app.member.email} ${timeOf(app.createdAt)}${app.lastUsedAt ? html`<br>Last used ${timeOf(app.lastUsedAt)}` : []}</p></div>
${button(page, '/app/apps/disconnect', named('Disconnect', app.name), { app: app.id })}
</li>`

const connectedApps = (page: PageViewer, apps: readonly ConnectedApp[]): Html => html`<h2>Connected apps</h2>
${
  apps.length > 0
    ? html`<ul class="rows">${apps.map((app) => appRow(page, app))}</ul>`
    : html`<p class="soft">Apps that you connect to an agent, such as ChatGPT or Claude, are listed here.</p>`
}`

/** How the member is signed in: sessions, passkeys and connected apps. Works without JavaScript. */
export const accountPage = async (deps: AppDeps, page: PageViewer): Promise<Page> => {
  const { viewer } = page
  const [{ workspace }, sessions, known, apps] = await Promise.all([
    readWorkspace(deps, viewer),
    listSessions(deps, viewer, { memberId: viewer.id }),
    listPasskeys(deps, viewer, viewer.id),
    listApps(deps, viewer),
  ])
  const currentFirst = [...sessions].sort((a, b) => Number(b.current) - Number(a.current))
  return {
    status: 200,
    title: workspace.name,
    body: html`<p>You are signed in as <strong>${viewer.name ?? viewer.email ?? ''}</strong>${viewer.name ? ` (${viewer.email})` : ''}, ${viewer.role === 'owner' ? 'an owner' : 'a member'} of this workspace.</p>
${button(page, '/app/sign-out', html`Sign out`)}
<h2>Where you are signed in</h2>
<ul class="rows">${currentFirst.map((session) => sessionRow(page, session))}</ul>
${sessions.length > 1 ? button(page, '/app/sessions/end-all', html`Sign out everywhere`) : []}
${passkeys(page, known)}
${connectedApps(page, apps)}`,
  }
}
