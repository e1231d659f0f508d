import type { User } from '@grammyjs/types'
import { beforeAll, expect, test } from 'vitest'
import type { TelegramStandIn } from '../../src/demo/telegram/stand-in.ts'
import type { StandInBot } from '../../src/demo/telegram/world.ts'
import { createTestLog } from '../support/log.ts'
import { createTestAgent, startService, type Tenant, type TestAgent, type TestService } from '../support/service.ts'
import { connectBot, startTelegram } from '../support/telegram.ts'

const log = createTestLog()
let telegram: TelegramStandIn
let service: TestService
let owner: Tenant
let agent: TestAgent
let bot: StandInBot
let ann: User
beforeAll(async () => {
  telegram = await startTelegram()
  service = await startService({ environment: { TELEGRAM_API_URL: telegram.url }, log })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  bot = telegram.world.bot('Support_Test_Bot')
  ann = telegram.world.person('Ann', 'ann_example')
  await connectBot(service, owner, agent, bot)
  await open('anyone')
})

const open = (admit: string, senders: string[] = [], of = agent) => owner.api('PUT', `/agents/${of.id}/access/telegram`, { admit, senders })
const messages = async (of = agent) => (await of.api('GET', `/agents/${of.id}/messages?channel=telegram&limit=100`)).body.items
const newest = async (of = agent) => (await messages(of))[0]
const events = async (of = agent) => (await of.api('GET', `/agents/${of.id}/events?after=0`)).body.items

test('what somebody writes to the bot is stored, wakes the agent, and says who wrote it', async () => {
  await telegram.write(bot, ann, 'Where is my order? 🚚')
  const message = await newest()
  expect(message).toMatchObject({
    channel: 'telegram',
    direction: 'inbound',
    status: 'received',
    admission: 'anyone',
    counterpart: String(ann.id),
    counterpartName: 'Ann',
    to: ['@support_test_bot'],
    cc: [],
    subject: null,
    text: 'Where is my order? 🚚',
    attachments: [],
    thread: null,
  })
  expect(await events()).toContainEqual(
    expect.objectContaining({
      messageId: message.id,
      channel: 'telegram',
      sender: { id: null, kind: 'contact', name: 'Ann', email: null, phone: null },
    }),
  )
  expect(message.checks).toContainEqual({ name: 'telegram', verdict: 'pass', detail: `user ${ann.id} (@ann_example)` })
})
