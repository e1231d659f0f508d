import {
  type AddressSetUp,
  type OpenSetupDeps,
  type SetUpSmsDeps,
  type Setup,
  setUpAddress,
} from '../agent/index.ts'
import { CHANNELS } from '../core/channels.ts'
import { html } from '../core/text/html.ts'
import type { ChannelSetup } from './channel-setup.ts'
import type { Wrong } from './link.ts'
import { alertOf } from './page/failure-words.ts'
import type { Page } from './page/page.ts'

export type AddressSetupDeps = OpenSetupDeps & Pick<SetUpSmsDeps, 'channels'>

const form = ({ agent, channel }: Setup, label: string, wrong: Wrong | null): Page => ({
  status: wrong?.status ?? 200,
  title: `${agent.name}: set up a ${CHANNELS[channel].address.one}`,
  body: html`<p>Messages to it will reach the agent, which will reply from it.</p>
${alertOf(wrong)}
<form method="post">
<label for="address">${label}</label>
<input id="address" name="address" value="${wrong?.form.get('address') ?? ''}" required maxlength="320" autocomplete="off" autocapitalize="none" spellcheck="false">
<button>Set up</button>
</form>`,
})

const done = ({ value, listed }: { value: string; listed: readonly string[] }): Page => ({
  status: 200,
  title: 'The address is set up',
  body: html`<code>${value}</code><p>Messages to it reach the agent from now on, if its access list admits the sender.</p>
${listed.length > 0 ? html`<p>You can write to it from ${listed.join(', ')}.</p>` : []}`,
})

/** Setup for channels where the member only has to enter the address. */
export const createAddressSetup = (deps: AddressSetupDeps, setUp: AddressSetUp): ChannelSetup => ({
  form: async (setup, wrong) => form(setup, setUp.label, wrong),
  submit: async (_setup, token, fields) => {
    const made = await setUpAddress(deps, setUp, token, fields.get('address')?.trim() ?? '')
    return made && done(made)
  },
})
