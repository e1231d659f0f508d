import type { IncomingMessage } from 'node:http'
import { isOwnOrigin, type SignInDeps, signIn } from '../auth/index.ts'
import { publicPlace } from '../core/http/public-place.ts'
import { memberName } from '../core/rules.ts'
import { html } from '../core/text/html.ts'
import { findInvitation, type Joined, join } from '../workspace/index.ts'
import { closedPage, type Link, type Wrong } from './link.ts'
import { alertOf } from './page/failure-words.ts'
import type { Page } from './page/page.ts'
import { checked } from './page/rule.ts'

type JoinDeps = SignInDeps

const ADVICE = 'Ask the person who invited you for a new one.'

/**
 * Signs the new member in. Not when the form came from another site, which could sign its visitors in as someone
 * it has invited.
 */
const cookiesFor = async (deps: JoinDeps, joined: Joined, request: IncomingMessage): Promise<string[]> =>
  isOwnOrigin(deps, request) && publicPlace(deps.publicUrl()).canSignIn
    ? [await signIn(deps, request, joined, 'invitation')]
    : []

const welcome = (deps: JoinDeps, { workspace, email, token }: Joined, cookies: readonly string[]): Page => ({
  status: 200,
  title: `Welcome to ${workspace}`,
  cookies,
  scripts: ['copy'],
  body: html`<p>You are a member now, as <strong>${email}</strong>${cookies.length > 0 ? ', and signed in in this browser' : ''}.</p>
${cookies.length > 0 ? html`<p><a class="button" href="/app">Go to the workspace</a></p>` : []}
<p>For programs, this is your token:</p>
<code>${token}</code>
<p><button type="button" class="second" data-copy hidden aria-live="polite">Copy the token</button></p>
<p><strong>Copy it now.</strong> It is shown only once and can't be viewed again. Anyone who has it can act as you, so keep it like a password.</p>
<p class="soft">Programs send it to ${deps.publicUrl()} as “Authorization: Bearer …”.</p>`,
})

/** For who becomes a member by signing in. */
const withCompany = (workspace: string): Page => ({
  status: 403,
  title: `Join ${workspace}`,
  body: html`<p>Members of this workspace sign in with the account of their company, and you join by doing so.</p>
<p><a class="button" href="/app/sign-in">Sign in</a></p>`,
})

/** The link of an invitation: asks for a name, creates the member, and shows their token once. */
export const createJoinLink = (deps: JoinDeps): Link => {
  const form = async (token: string, wrong: Wrong | null): Promise<Page> => {
    const found = await findInvitation(deps, token)
    if (found.state !== 'open') return closedPage(found.state, ADVICE)
    const { workspace, email, role } = found.invitation
    if (found.isElsewhere) return withCompany(workspace.name)
    return {
      status: wrong?.status ?? 200,
      title: `Join ${workspace.name}`,
      body: html`<p>You are invited to the workspace <strong>${workspace.name}</strong> as ${role === 'owner' ? 'an owner' : 'a member'}, under the address <strong>${email}</strong>.</p>
${alertOf(wrong)}
<form method="post">
<label for="name">Your name (optional)</label>
<input id="name" name="name" value="${wrong?.form.get('name') ?? ''}" maxlength="200" autocomplete="name">
<button>Join</button>
</form>`,
    }
  }
  return {
    show: (token) => form(token, null),
    again: form,
    submit: async (token, fields, request) => {
      const name = fields.get('name')?.trim() || null
      const joined = await join(deps, token, name === null ? null : checked(memberName, 'name', name))
      return joined ? welcome(deps, joined, await cookiesFor(deps, joined, request)) : form(token, null)
    },
  }
}
