import {
  findMadeBot,
  newBotLink,
  type SetUpTelegramDeps,
  type Setup,
  setUpTelegramBot,
  type TelegramBotMade,
} from '../agent/index.ts'
import { type Html, html } from '../core/text/html.ts'
import type { ChannelSetup } from './channel-setup.ts'
import type { Wrong } from './link.ts'
import { alertOf } from './page/failure-words.ts'
import type { Page } from './page/page.ts'

export type TelegramSetupDeps = SetUpTelegramDeps & Parameters<typeof newBotLink>[0]

/** The token is only ever in the form's body; no page shows it again. */
const TOKEN_FORM = html`<form method="post">
<label for="token">The bot’s token</label>
<input id="token" name="token" type="password" required maxlength="150" autocomplete="off" autocapitalize="none" spellcheck="false">
<button>Set up</button>
</form>`

const bringOne: Html = html`<p>In Telegram, write <strong>/newbot</strong> to <a href="https://t.me/BotFather">@BotFather</a>, choose a name, and copy the token that you receive to this page. You can also use an existing bot: its messages are delivered here from then on.</p>
${TOKEN_FORM}`

const makeOne = (
  url: string,
): Html => html`<p><a class="button" href="${url}">Create the bot in Telegram</a></p>
<p>Then come back here.</p>
<form method="post"><button name="created" value="yes">I have created it</button></form>
<details><summary class="soft">Use an existing bot</summary>${TOKEN_FORM}</details>`

const form = (setup: Setup, newBot: string | null, wrong: Wrong | null): Page => ({
  status: wrong?.status ?? 200,
  title: `A Telegram bot for ${setup.agent.name}`,
  body: html`<p>Messages to the bot will reach the agent, which will reply as the bot.</p>
${alertOf(wrong)}
${newBot ? makeOne(newBot) : bringOne}`,
})

const notYet = (setup: Setup, newBot: string | null): Page =>
  form(setup, newBot, {
    status: 200,
    problem: 'Telegram has not reported the new bot yet. Try again in a few seconds.',
    form: new URLSearchParams(),
  })

const introduction = (
  startUrl: string,
): Html => html`<p>One step is left before you can write to the agent: open the bot and tap <strong>Start</strong>, so that it knows your Telegram account.</p>
<p><a class="button" href="${startUrl}">Open the bot in Telegram</a></p>`

const done = ({ value, startUrl }: TelegramBotMade): Page => ({
  status: 200,
  title: 'The bot is set up',
  body: html`<code>${value}</code><p>Messages to it reach the agent from now on.</p>
${startUrl ? introduction(startUrl) : html`<p><a href="https://t.me/${value.slice(1)}">Open it in Telegram</a></p>`}`,
})

/**
 * Setup of a Telegram bot for the agent: created through the manager bot's link if there is a manager, or
 * else an existing bot whose token the member enters.
 */
export const createTelegramSetup = (deps: TelegramSetupDeps): ChannelSetup => ({
  form: async (setup, wrong) => form(setup, await newBotLink(deps, setup), wrong),
  submit: async (setup, token, fields) => {
    const botToken = fields.get('token')
    if (botToken === null && fields.has('created')) return notYet(setup, await newBotLink(deps, setup))
    const made = await setUpTelegramBot(deps, token, botToken ?? '')
    return made && done(made)
  },
  // After creating the bot in Telegram, the user returns to this page.
  afterwards: async (setup) => {
    const made = await findMadeBot(deps, setup)
    return made && done({ value: made.value, startUrl: null })
  },
})
