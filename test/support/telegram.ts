import type { User } from '@grammyjs/types'
import { openTelegram, type TelegramStandIn } from '../../src/demo/telegram/stand-in.ts'
import type { StandInBot } from '../../src/demo/telegram/world.ts'
import { afterFile } from './after-file.ts'
import { createTestLog } from './log.ts'
import { visit } from './page.ts'
import {
  createTestAgent,
  type ServiceOptions,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from './service.ts'

/** Starts a stand-in for Telegram, stopped after the file's last test. */
export const startTelegram = async (): Promise<TelegramStandIn> => {
  const telegram = await openTelegram()
  afterFile(() => telegram.stop())
  return telegram
}

/**
 * Connects one of the stand-in's bots to an agent as a member would: with a setup link and the bot's token.
 */
export const connectBot = async (
  service: Pick<TestService, 'http'>,
  { api }: Pick<Tenant, 'api'>,
  agent: Pick<TestAgent, 'id'>,
  bot: StandInBot,
): Promise<{ addressId: string }> => {
  const link = await api('POST', `/agents/${agent.id}/addresses/setups`, { channel: 'telegram' })
  const page = await visit(service.http, link.body.url, { token: bot.token })
  if (page.status !== 200) throw new Error(`the bot was not set up: ${page.text}`)
  const addresses = await api('GET', `/agents/${agent.id}/addresses`)
  const value = `@${bot.user.username!.toLowerCase()}`
  return { addressId: addresses.body.find((address: { value: string }) => address.value === value).id }
}

/**
 * Starts a service with an agent whose bot accepts messages from anyone, and a person named Ann. Call it at
 * the top of a test file.
 */
export const arrangeTelegram = async (options: ServiceOptions = {}) => {
  const log = createTestLog()
  const telegram = await startTelegram()
  const service = await startService({
    log,
    ...options,
    environment: { TELEGRAM_API_URL: telegram.url, ...options.environment },
  })
  const owner = await service.workspace()

  /** Sets who may write to an agent's bot. */
  const open = (admit: string, senders: string[], of: Pick<TestAgent, 'id'>, by = owner) =>
    by.api('PUT', `/agents/${of.id}/access/telegram`, { admit, senders })

  /** Creates an agent with its own bot that accepts messages from anyone. */
  const another = async (name: string, by = owner) => {
    const agent = await createTestAgent(service, by, name)
    const bot = telegram.world.bot(`${name.replaceAll(' ', '_')}_bot`)
    const { addressId } = await connectBot(service, by, agent, bot)
    await open('anyone', [], agent, by)
    return { agent, bot, addressId }
  }
  const { agent, bot } = await another('Support Test')
  const ann = telegram.world.person('Ann', 'ann_example')

  const messages = async (of = agent) =>
    (await of.api('GET', `/agents/${of.id}/messages?channel=telegram&limit=100`)).body.items
  return {
    log,
    telegram,
    service,
    owner,
    agent,
    bot,
    ann,
    another,
    messages,
    open: (admit: string, senders: string[] = []) => open(admit, senders, agent),
    newest: async (of = agent) => (await messages(of))[0],
    events: async (of = agent) =>
      (await of.api('GET', `/agents/${of.id}/events?after=0&limit=100`)).body.items,
    read: async (id: string, of = agent) => (await of.api('GET', `/agents/${of.id}/messages/${id}`)).body,
    /** Sends a message as the agent; returns the message or the error. */
    send: async (input: object, of = agent) =>
      (await of.api('POST', `/agents/${of.id}/messages`, input)).body,
    /** Returns an update that the stand-in has not sent itself. */
    told: (update_id: number, text: string, from: User = ann) => ({
      update_id,
      message: { message_id: update_id, date: 0, chat: { id: from.id, type: 'private' }, from, text },
    }),
  }
}
