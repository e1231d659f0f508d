import { type Client, type Message, untilSent } from './client.ts'
import type { TelegramStandIn } from './telegram/stand-in.ts'
import type { StandInBot } from './telegram/world.ts'

/** What the Telegram part of the demo needs. */
export interface TelegramStage {
  telegram: TelegramStandIn
  manager: StandInBot
  owner: Client
  agent: Client
  agentId: string
  say(line: string): void
}

/** Reads the manager's link from the setup page: the suggested username is its last segment. */
const openSetUpLink = async (url: string): Promise<{ username: string; name: string }> => {
  const page = await (await fetch(url)).text()
  const [, username, name] = /https:\/\/t\.me\/newbot\/\w+\/(\w+)\?name=([^"]+)/.exec(page) ?? []
  if (!username || !name) throw new Error('the page of the set-up link does not lead to Telegram')
  return { username, name: decodeURIComponent(name) }
}

/**
 * The same agent over Telegram: a bot is created for it with one tap, Ann writes to the bot, and it replies.
 */
export const tourTelegram = async ({
  telegram,
  manager,
  owner,
  agent,
  agentId,
  say,
}: TelegramStage): Promise<void> => {
  const ann = telegram.world.person('Ann', 'ann_example')
  const { url } = await owner.call<{ url: string }>('POST', `/agents/${agentId}/addresses/setups`, {
    channel: 'telegram',
  })
  const { username, name } = await openSetUpLink(url)
  const bot = await telegram.createManaged(manager, ann, username, name)
  say(
    `Telegram, with a local stand-in for the Bot API: Ann opens a set-up link and taps "Create". @${bot.user.username} now belongs to the agent.`,
  )
  const question = await telegram.write(bot, ann, 'And what is in it?')
  const { items } = await agent.call<{ items: Message[] }>(
    'GET',
    `/agents/${agentId}/messages?channel=telegram`,
  )
  const [received] = items
  if (!received || received.text !== question.text)
    throw new Error('the message over Telegram did not arrive')
  say(
    `She asks it "${received.text}" (admission: ${received.admission}, because she created the bot), and the agent replies.`,
  )
  const answer = await agent.call<Message>('POST', `/agents/${agentId}/messages`, {
    replyTo: received.id,
    text: 'Your new kettle.',
  })
  await untilSent(agent, `/agents/${agentId}/messages/${answer.id}`)
  const shown = telegram.sent.at(-1)?.message
  if (shown?.reply_to_message?.message_id !== question.message_id)
    throw new Error('the reply over Telegram is not under her question')
  say(`Her phone shows "${shown.text}" under her question.`)
}
