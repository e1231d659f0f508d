import { hashSecret, secretOf } from '../../src/channel/telegram/bots.ts'
import { createTelegramChannel } from '../../src/channel/telegram/telegram-channel.ts'
import { systemClock } from '../../src/core/clock.ts'
import { AppError } from '../../src/core/errors.ts'
import { httpFailure } from '../../src/core/http/http.ts'
import { createTestLog } from '../support/log.ts'
import { sinkWith } from '../support/sink.ts'
import { startTelegram } from '../support/telegram.ts'
import { describeChannel, type Receipt } from './channel.ts'

const REFUSED = 'Forbidden: bot was blocked by the user'

describeChannel('telegram', async () => {
  const telegram = await startTelegram()
  const log = createTestLog()
  const bot = telegram.world.bot('support_bot')
  const ann = telegram.world.person('Ann')
  const row = {
    addressId: '0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b',
    id: bot.user.id,
    address: '@support_bot',
    token: bot.token,
  }
  let sink = sinkWith()
  const channel = createTelegramChannel({
    apiUrl: telegram.url,
    managerToken: null,
    publicUrl: () => 'http://localhost',
    bots: {
      behind: async () => ({ ...row, secretHash: hashSecret(secretOf(bot.token)) }),
      named: async () => row,
      token: async () => bot.token,
      elsewhere: async () => [],
      connected: async () => undefined,
    },
    albums: {
      add: async () => undefined,
      claim: async () => null,
      lease: async () => undefined,
      stored: async () => undefined,
    },
    onManaged: async () => undefined,
    clock: systemClock,
    log,
  })
  const [route] = channel.routes!(sinkWith({ inbound: (message) => sink.inbound(message) }))
  await telegram.write(bot, ann, '/start')
  let down = false

  const call = async (update: object): Promise<number> => {
    const headers = { 'x-telegram-bot-api-secret-token': secretOf(bot.token) }
    try {
      const body = Buffer.from(JSON.stringify(update))
      const { status } = await route!.handle({
        url: `${route!.path}/${row.addressId}`,
        headers,
        source: '',
        body,
      })
      return status
    } catch (error) {
      return error instanceof AppError ? httpFailure(error).status : 500
    }
  }
  const receiptOf = (status: number): Receipt =>
    status < 300 ? 'accepted' : status >= 500 ? 'retry' : 'refused'
  const refuse = (code: number, description: string) => ({
    method: 'sendmessage',
    answer: (response: import('node:http').ServerResponse) =>
      void response
        .writeHead(code, { 'Content-Type': 'application/json' })
        .end(JSON.stringify({ ok: false, error_code: code, description })),
  })
  return {
    channel,
    spellings: [
      ['123456789', '123456789'],
      [' 123456789 ', '123456789'],
      ['-1001234567890', '-1001234567890'],
      ['-1001234567890/42', '-1001234567890/42'],
    ],
    malformed: [
      '@ann_example',
      'ann',
      '+15551234567',
      '0',
      '12 34',
      '1e5',
      '123/4',
      '99999999999999999999',
      '-',
      '-100/',
    ],
    ours: '@support_bot',
    theirs: String(ann.id),
    setSink: (next) => {
      sink = next
    },
    receive: async (text) =>
      receiptOf(
        await call({
          update_id: 1,
          message: telegram.world.write({ id: ann.id, type: 'private', first_name: 'Ann' }, ann, { text }),
        }),
      ),
    behave: async (behavior) => {
      if (down) await telegram.start()
      down = behavior === 'is down'
      if (down) await telegram.stop()
      telegram.faults.length = 0
      if (behavior === 'refuses permanently') telegram.faults.push(refuse(403, REFUSED))
      if (behavior === 'refuses temporarily') telegram.faults.push(refuse(502, REFUSED))
    },
    reason: REFUSED,
    credentials: [bot.token, bot.token.split(':')[1]!, secretOf(bot.token)],
    log: () => log.text(),
  }
})
