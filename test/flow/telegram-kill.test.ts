import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newToken } from '../../src/workspace/token/token.ts'
import { openTestDatabase } from '../support/database.ts'
import { temporaryDir } from '../support/postgres.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { type Api, apiOf } from '../support/service.ts'
import { connectBot, startTelegram } from '../support/telegram.ts'
import { until } from '../support/until.ts'

/** Kills the service with SIGKILL while it sends to Telegram and while it receives from it. */

const database = await openTestDatabase()
const telegram = await startTelegram()
const dataDir = temporaryDir()
const token = newToken('member')
const bot = telegram.world.bot('mortal_bot')
const ann = telegram.world.person('Ann')
let process: ServiceProcess
let http: string
let api: Api
let agent: { id: string }

const start = async (port = '0') => {
  process = run({
    PORT: port,
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    MASTER_KEY: key,
    OWNER_TOKEN: token,
    TELEGRAM_API_URL: telegram.url,
  })
  http = (await process.ready()).http
}
const key = randomBytes(32).toString('base64')

/** Kills the process, ends its leases and Telegram's faults, and starts another one on the same port. */
const killAndStart = async (albumsArrived = 'arrived_at') => {
  process.kill('SIGKILL')
  await process.exited
  telegram.faults.length = 0
  await database.pool.query('update job set lease_until = now() where lease_until is not null')
  await database.pool.query('update album_part set lease_until = now() where lease_until is not null')
  await database.pool.query(`update album_part set arrived_at = ${albumsArrived}`)
  await start(new URL(http).port)
}

const messages = async () => (await api('GET', `/agents/${agent.id}/messages?channel=telegram`)).body.items
const calls = (method: string) => telegram.calls.filter((call) => call.method === method).length
const hang = (method: string, after = 0) => telegram.faults.push({ method, after, answer: () => undefined })

beforeAll(async () => {
  await start()
  api = apiOf(http, token)
  agent = (await api('POST', '/agents', { name: 'Mortal', icon: 'bot' })).body
  await connectBot({ http }, { api }, agent, bot)
  await api('PUT', `/agents/${agent.id}/access/telegram`, { admit: 'anyone', senders: [] })
  await telegram.write(bot, ann, 'hello')
})
afterAll(() => cleanUp(dataDir))

test('after a SIGKILL between two parts of a message, only the missing parts are sent', async () => {
  const text = Array.from({ length: 2_500 }, (_, n) => `word${n}`).join(' ')
  hang('sendmessage', 2)
  const { body } = await api('POST', `/agents/${agent.id}/messages`, {
    channel: 'telegram',
    to: [String(ann.id)],
    text,
  })
  await until(() => calls('sendmessage') === 3)
  expect(telegram.sent).toHaveLength(2)
  await killAndStart()
  await until(
    async () => (await api('GET', `/agents/${agent.id}/messages/${body.id}`)).body.status === 'sent',
    30_000,
  )
  expect(telegram.sent.map(({ message }) => message.text).join(' ')).toBe(text)
})

test('after a SIGKILL while an album waits, and another while its files are fetched, it is stored once', async () => {
  const photo = (name: string) => ({
    media_group_id: 'mortal',
    photo: [telegram.world.file(name, Buffer.from(name))],
  })
  const fetched = calls('getfile')
  await telegram.write(bot, ann, { ...photo('one'), caption: 'Holiday' })
  // So that it still waits for its other part, however long the start takes.
  await killAndStart("now() + interval '1 hour'")
  hang('download')
  await telegram.write(bot, ann, photo('two'))
  await database.pool.query("update album_part set arrived_at = now() - interval '1 minute'")
  await until(() => calls('getfile') > fetched)
  await killAndStart()
  const album = await until(async () =>
    (await messages()).find(({ text }: { text: string }) => text === 'Holiday'),
  )
  expect(album.attachments).toMatchObject([{ size: 3 }, { size: 3 }])
  await until(async () => {
    const { rows } = await database.pool.query('select from album_part where content is not null')
    return rows.length === 0
  })
  expect(
    (await messages()).filter(({ attachments }: { attachments: unknown[] }) => attachments.length > 0),
  ).toHaveLength(1)
})

test('after a SIGKILL during a file’s download, Telegram repeats the update and the message is stored once', async () => {
  const file = telegram.world.file('slow.txt', Buffer.from('slowly'))
  hang('download')
  const writing = telegram.write(bot, ann, {
    document: { ...file, file_name: 'slow.txt' },
    caption: 'take your time',
  })
  await until(() => calls('getfile') > 0)
  expect((await messages()).some(({ text }: { text: string }) => text === 'take your time')).toBe(false)
  await killAndStart()
  await writing
  await telegram.write(bot, ann, 'and on')
  const items = await messages()
  expect(items.map(({ text }: { text: string }) => text).slice(0, 2)).toEqual(['and on', 'take your time'])
  expect(items[1].attachments).toEqual([{ name: 'slow.txt', type: 'application/octet-stream', size: 6 }])
})
