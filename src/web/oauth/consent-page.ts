import type { Agent } from '../../agent/index.ts'
import type { ClientIdentity } from '../../auth/index.ts'
import type { Scope } from '../../core/scopes.ts'
import { type Html, html } from '../../core/text/html.ts'
import { alertOf } from '../page/failure-words.ts'
import type { Page } from '../page/page.ts'

/** What the consent page shows. */
export interface Asked {
  client: ClientIdentity
  /** What it asks for. */
  scopes: readonly Scope[]
  workspace: string
  email: string
  agents: readonly Pick<Agent, 'id' | 'name'>[]
  /** Value of the field that protects the form. */
  formToken: string
}

/** Why a form was rejected, and its content. */
export interface Wrong {
  status: number
  problem: string
  form: URLSearchParams
}

export const NEW_AGENT = 'new'
/** Fields of the form: what was offered, and each scope of it that was chosen. */
export const [OFFERED, SCOPE_FIELD] = ['offered', 'scope'] as const

const nameOf = ({ client }: Asked): Html => {
  const { name, host, isVerified, isLocal } = client
  if (isVerified && !isLocal)
    return html`<p class="soft">It is what <strong>${host}</strong> calls “${name}”.</p>`
  return html`<p class="soft">It calls itself “${name}”${isVerified ? ` of ${host}` : ''}. Nobody has verified this name. Go on only if you have just connected this app yourself.</p>`
}

/** What is proven comes first: where the code goes. A name is only what the client calls itself. */
const whoAsks = (asked: Asked): Html => {
  const { place, isLocal, isCommandLine } = asked.client
  if (isCommandLine)
    return html`<p>The command line <strong>ams</strong> on your own device (<strong>${place}</strong>) wants to act as one of your agents.</p>
<p class="soft">Go on only if you have just run <code>ams login</code> yourself.</p>`
  const where = isLocal
    ? html`An app on your own device (<strong>${place}</strong>) wants to act as one of your agents.`
    : html`<strong>${place}</strong> wants to act as one of your agents. You will return to <strong>${place}</strong>.`
  return html`<p>${where}</p>
${nameOf(asked)}`
}

/** What an app at `/mcp` can do with a scope. */
const TOOLS: Partial<Record<Scope, string>> = {
  'messages:read': 'read all messages and attachments of the agent, and take codes from them',
  'messages:write': 'send, answer and forward messages as the agent, and mark and label them',
  events: 'get notified of new messages',
  settings:
    'read the names of the agent’s secrets, and create other agents, if your workspace allows agents to do that',
}

/** What the command line can do with a scope. */
const EVERYTHING: Partial<Record<Scope, string>> = {
  ...TOOLS,
  'secrets:reveal': 'read the values of the agent’s secrets',
  settings:
    'change the agent’s settings and who may write to it, manage its secrets and webhooks, create agents, delete it',
  tokens: 'manage tokens of the agent and of those that it created',
}

const box = (scope: Scope, words: string, checked: boolean): Html =>
  html`<p class="choice"><input type="checkbox" id="${scope}" name="${SCOPE_FIELD}" value="${scope}"${checked ? ' checked' : ''}>
<label for="${scope}">${words}</label></p>`

/** What the member lets it do: all that it asks for, unless they take some of it back. */
const abilities = ({ client, scopes }: Asked, wrong: Wrong | null): Html => {
  const words = client.isCommandLine ? EVERYTHING : TOOLS
  const isChecked = (scope: Scope) =>
    !wrong?.form.has(OFFERED) || wrong.form.getAll(SCOPE_FIELD).includes(scope)
  return html`<fieldset>
<legend>It will be able to</legend>
<input type="hidden" name="${OFFERED}" value="${scopes.join(' ')}">
${scopes.map((scope) => box(scope, words[scope] ?? scope, isChecked(scope)))}
</fieldset>
<p class="soft">It can always read the agent’s name and addresses.</p>
<h2>It will not be able to</h2>
<ul>
${
  client.isCommandLine
    ? []
    : html`<li>read the values of secrets</li>
<li>change who may write to the agent</li>`
}
<li>read the messages of your other agents</li>
</ul>`
}

const options = ({ agents }: Asked, chosen: string): Html[] =>
  [...agents, { id: NEW_AGENT, name: 'A new agent' }].map(
    ({ id, name }) => html`<option value="${id}"${id === chosen ? ' selected' : ''}>${name}</option>`,
  )

const form = (asked: Asked, wrong: Wrong | null): Html => {
  const chosen = wrong?.form.get('agent') ?? asked.agents[0]?.id ?? NEW_AGENT
  return html`<form method="post">
<input type="hidden" name="form" value="${asked.formToken}">
<label for="agent">Which agent will it be?</label>
<select id="agent" name="agent">${options(asked, chosen)}</select>
<label for="name">Name of a new agent</label>
<input id="name" name="name" value="${wrong?.form.get('name') ?? asked.client.name}" maxlength="100" autocomplete="off" aria-describedby="name-hint">
<p class="soft" id="name-hint">Only used if you choose a new agent.</p>
${abilities(asked, wrong)}
<p>This lasts until you disconnect the app, at most a year.</p>
<button name="decision" value="allow">Allow</button>
<button name="decision" value="deny" class="second">Deny</button>
</form>`
}

export const consentPage = (asked: Asked, wrong: Wrong | null): Page => ({
  status: wrong?.status ?? 200,
  title: `Connect ${asked.client.isCommandLine ? asked.client.name : asked.client.place}?`,
  body: html`${whoAsks(asked)}
<p class="soft">You are signed in as ${asked.email}, in the workspace ${asked.workspace}.</p>
${alertOf(wrong)}
${form(asked, wrong)}`,
})

/**
 * A page that leads on to the client. Not a redirect: Chromium applies the policy for the target of a form to
 * redirects after it.
 */
export const returnPage = (title: string, returnsTo: string, next: string): Page => ({
  status: 200,
  title,
  next,
  body: html`<p>You are being returned to <strong>${returnsTo}</strong>.</p>
<p><a class="button" href="${next}">Continue</a></p>
<p class="soft">You can close this page if it stays open.</p>`,
})

/** The request was not made in this browser, or it was decided, or an hour has passed. */
export const EXPIRED: Page = {
  status: 400,
  title: 'This request has expired',
  body: html`<p>Start again in the app that you want to connect.</p>
<p class="soft">A request can be answered once, within an hour, in the browser in which it was made.</p>`,
}

/** An error that cannot be reported to the client, because it is unknown where the client is. */
export const refusedPage = (code: string, description: string): Page => ({
  status: 400,
  title: 'This app could not be connected',
  body: html`<p>The app’s request was not valid, so it has not been connected.</p>
<code>${code}${description && `: ${description}`}</code>
<p class="soft">This is for the people who made the app.</p>`,
})
