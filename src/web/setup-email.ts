import { listDomains, type SetUpEmailDeps, type Setup, setUpEmailAddress } from '../agent/index.ts'
import { type Html, html } from '../core/text/html.ts'
import type { ChannelSetup } from './channel-setup.ts'
import type { Wrong } from './link.ts'
import { alertOf } from './page/failure-words.ts'
import type { Page } from './page/page.ts'

export type EmailSetupDeps = SetUpEmailDeps

const options = (domains: readonly string[], chosen: string | null): Html[] =>
  domains.map(
    (domain) => html`<option value="${domain}"${domain === chosen ? ' selected' : ''}>@${domain}</option>`,
  )

const emailForm = ({ agent }: Setup, domains: readonly string[], wrong: Wrong | null): Page => ({
  status: wrong?.status ?? 200,
  title: `An email address for ${agent.name}`,
  body: html`<p>Mail to this address will reach the agent, like mail to its existing addresses.</p>
${alertOf(wrong)}
<form method="post">
<label for="local">Before the @</label>
<input id="local" name="local" value="${wrong?.form.get('local') ?? ''}" required maxlength="64" autocomplete="off" autocapitalize="none" spellcheck="false">
<label for="domain">Domain</label>
<select id="domain" name="domain">${options(domains, wrong?.form.get('domain') ?? null)}</select>
<button>Set up</button>
</form>`,
})

const done = (value: string, { member }: Setup): Page => ({
  status: 200,
  title: 'The address is set up',
  body: html`<code>${value}</code><p>Mail to it reaches the agent from now on, if its access list admits the sender.${member ? ' The member who created this link is on it.' : ''}</p>`,
})

/**
 * Setup of an email address with any unused local part, on the service's domain or a verified domain of the
 * workspace.
 */
export const createEmailSetup = (deps: EmailSetupDeps): ChannelSetup => ({
  form: async (setup, wrong) => emailForm(setup, await listDomains(deps, setup.agent.workspaceId), wrong),
  submit: async (setup, token, form) => {
    const made = await setUpEmailAddress(
      deps,
      token,
      `${form.get('local')?.trim() ?? ''}@${form.get('domain') ?? ''}`,
    )
    return made && done(made.value, setup)
  },
})
