import { findSetup, type Setup } from '../agent/index.ts'
import { CHANNELS } from '../core/channels.ts'
import { html } from '../core/text/html.ts'
import type { ChannelSetup } from './channel-setup.ts'
import { closedPage, type Link, type Wrong } from './link.ts'
import type { Page } from './page/page.ts'
import { type AddressSetupDeps, createAddressSetup } from './setup-address.ts'
import { createEmailSetup, type EmailSetupDeps } from './setup-email.ts'
import { createSmsSetup, type SmsSetupDeps } from './setup-sms.ts'
import { createTelegramSetup, type TelegramSetupDeps } from './setup-telegram.ts'

export type SetupDeps = EmailSetupDeps & SmsSetupDeps & TelegramSetupDeps & AddressSetupDeps

const ADVICE = 'Create a new link for the agent’s address: each is valid for an hour.'
/** Also shown when the button was pressed twice, because only the second response is displayed. */
const ADVICE_WHEN_USED = 'If that was you, the address is set up. To set up another one, create a new link.'

const missingChannel = ({ agent, channel }: Setup): Page => ({
  status: 200,
  title: `No ${CHANNELS[channel].name} here`,
  body: html`<p>This service has no ${CHANNELS[channel].name} channel configured, so <strong>${agent.name}</strong> can’t get an address on it.</p>
<p class="soft">The operator of the service can configure it.</p>`,
})

const missing: ChannelSetup = {
  form: async (setup) => missingChannel(setup),
  submit: async (setup) => missingChannel(setup),
}

/** A set-up link: adds an address on one of the service's channels to an agent. */
export const createSetupPages = (deps: SetupDeps): Link => {
  const ownPages: Partial<Record<Setup['channel'], ChannelSetup>> = {
    email: createEmailSetup(deps),
    ...(deps.phoneNumbers.available ? { sms: createSmsSetup(deps) } : {}),
    telegram: createTelegramSetup(deps),
  }
  const pagesOf = ({ channel }: Setup): ChannelSetup => {
    const setUp = deps.channels[channel]?.setUp
    return ownPages[channel] ?? (setUp ? createAddressSetup(deps, setUp) : missing)
  }
  const closed = async ({
    state,
    setup,
  }: {
    state: Parameters<typeof closedPage>[0]
    setup: Setup | null
  }): Promise<Page> =>
    (state === 'used' && setup && (await pagesOf(setup).afterwards?.(setup))) ||
    closedPage(state, state === 'used' ? ADVICE_WHEN_USED : ADVICE)
  const form = async (token: string, wrong: Wrong | null): Promise<Page> => {
    const found = await findSetup(deps, token)
    return found.state === 'open' ? pagesOf(found.setup).form(found.setup, wrong) : closed(found)
  }
  return {
    show: (token) => form(token, null),
    again: form,
    submit: async (token, fields) => {
      const found = await findSetup(deps, token)
      if (found.state !== 'open') return closed(found)
      return (await pagesOf(found.setup).submit(found.setup, token, fields)) ?? form(token, null)
    },
  }
}
