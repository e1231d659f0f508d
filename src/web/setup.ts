import { findSetup, type SetUpDeps, type Setup, setUpEmailAddress } from '../agent/set-up-address.ts'
import { type Html, html } from '../core/html.ts'
import { closedPage, type Link, type Wrong } from './link.ts'
import type { Page } from './page.ts'

const ADVICE = 'Make a new link for the agent’s address: each is good for an hour.'
const NAMES: Record<Exclude<Setup['channel'], 'email'>, string> = { sms: 'SMS', telegram: 'Telegram' }

const missingChannel = ({ agentName, channel }: Setup): Page => ({
  status: 200,
  title: `No ${NAMES[channel as keyof typeof NAMES]} here`,
  body: html`<p>This service has no ${NAMES[channel as keyof typeof NAMES]} channel configured, so <strong>${agentName}</strong> can’t get an address on it.</p>
<p class="soft">Whoever runs the service can configure it.</p>`,
})

const options = (domains: readonly string[], chosen: string | null): Html[] =>
  domains.map((domain) => html`<option value="${domain}"${domain === chosen ? ' selected' : ''}>@${domain}</option>`)

const emailForm = ({ agentName, domains }: Setup, wrong: Wrong | null): Page => ({
  status: wrong?.status ?? 200,
  title: `An email address for ${agentName}`,
  body: html`<p>The agent receives what is sent to it, besides the addresses that it has.</p>
${wrong ? html`<p class="bad" role="alert">${wrong.problem}</p>` : []}
<form method="post">
<label for="local">Before the @</label>
<input id="local" name="local" value="${wrong?.form.get('local') ?? ''}" required maxlength="64" autocomplete="off" autocapitalize="none" spellcheck="false">
<label for="domain">Domain</label>
<select id="domain" name="domain">${options(domains, wrong?.form.get('domain') ?? null)}</select>
<button>Set up</button>
</form>`,
})

const done = (value: string): Page => ({
  status: 200,
  title: 'The address is set up',
  body: html`<code>${value}</code><p>Mail to it reaches the agent from now on. If you made this link, you can wake the agent from it.</p>`,
})

/** A set-up link: gives an agent one more address on a channel that this service has. */
export const createSetupPages = (deps: SetUpDeps): Link => {
  const form = async (token: string, wrong: Wrong | null): Promise<Page> => {
    const found = await findSetup(deps, token)
    if (found.state !== 'open') return closedPage(found.state, ADVICE)
    return found.setup.channel === 'email' ? emailForm(found.setup, wrong) : missingChannel(found.setup)
  }
  return {
    show: (token) => form(token, null),
    again: form,
    submit: async (token, fields) => {
      const address = `${fields.get('local')?.trim() ?? ''}@${fields.get('domain') ?? ''}`
      const made = await setUpEmailAddress(deps, token, address)
      return made ? done(made.value) : form(token, null)
    },
  }
}
