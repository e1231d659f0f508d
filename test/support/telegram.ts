import { afterAll } from 'vitest'
import { openTelegram, type TelegramStandIn } from '../../src/demo/telegram/stand-in.ts'
import type { StandInBot } from '../../src/demo/telegram/world.ts'
import { visit } from './page.ts'
import type { Tenant, TestAgent, TestService } from './service.ts'

/** A stand-in for Telegram, stopped after the file's last test. */
export const startTelegram = async (): Promise<TelegramStandIn> => {
  const telegram = await openTelegram()
  afterAll(() => telegram.stop())
  return telegram
}

/** Sets a bot of the stand-in's up for an agent, as its member would: with a link and the bot's token. */
export const connectBot = async (
  service: TestService,
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
