import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Api, Bot, GrammyError, InputFile, webhookCallback } from 'grammy'
import { afterAll, expect, test } from 'vitest'
import { startTelegram } from '../support/telegram.ts'
import { until } from '../support/until.ts'

/** Checks the Telegram stand-in with grammY, an independent client of the Bot API. */

const telegram = await startTelegram()
const { world } = telegram
const ann = world.person('Ann', 'ann_example')
const apiOf = ({ token }: { token: string }) => new Api(token, { apiRoot: telegram.url })

const failureOf = async (
  work: Promise<unknown>,
): Promise<{ error_code: number; description: string; parameters: object }> => {
  const error = await work.then(
    () => expect.unreachable('the call succeeded'),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(GrammyError)
  return error as GrammyError
}

test('a bot can reply over long polling', async () => {
  const echo = world.bot('echo_bot')
  const bot = new Bot(echo.token, { client: { apiRoot: telegram.url } })
  bot.on('message:text', (ctx) =>
    ctx.reply(`You said ${ctx.msg.text}`, { reply_parameters: { message_id: ctx.msg.message_id } }),
  )
  const running = bot.start({ timeout: 1 })
  const { message_id } = await telegram.write(echo, ann, 'hello')
  const answer = await until(() => telegram.sent.find((sent) => sent.bot === echo))
  expect(answer.message).toMatchObject({
    text: 'You said hello',
    chat: { id: ann.id },
    reply_to_message: { message_id, text: 'hello' },
  })
  expect(bot.botInfo).toMatchObject({
    id: echo.user.id,
    is_bot: true,
    username: 'echo_bot',
    can_manage_bots: false,
  })
  await bot.stop()
  await running
})

test('a webhook receives updates with its secret, which are retried until they are accepted', async () => {
  const hooked = world.bot('hooked_bot')
  const bot = new Bot(hooked.token, { client: { apiRoot: telegram.url } })
  const heard: string[] = []
  let refusals = 2
  bot.on('message:text', (ctx) => {
    if (refusals-- > 0) throw new Error('not now')
    heard.push(ctx.msg.text)
  })
  await bot.init()
  const answer = webhookCallback(bot, 'http', { secretToken: 's3cret' })
  const server = createServer(
    (request, response) => void answer(request, response).catch(() => response.writeHead(500).end()),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => new Promise((resolve) => server.close(resolve)))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await bot.api.setWebhook(url, { secret_token: 's3cret', allowed_updates: ['message'] })
  expect(await bot.api.getWebhookInfo()).toMatchObject({
    url,
    pending_update_count: 0,
    allowed_updates: ['message'],
  })
  expect((await failureOf(bot.api.getUpdates())).error_code).toBe(409)
  await telegram.write(hooked, ann, 'over there')
  expect(heard).toEqual(['over there'])
  expect(await telegram.post(hooked, { update_id: 1, message: {} }, 'wrong')).toBe(401)
  await bot.api.deleteWebhook()
  expect((await bot.api.getWebhookInfo()).url).toBe('')
})

test('files can be sent and downloaded', async () => {
  const filer = world.bot('filer_bot')
  const api = apiOf(filer)
  await telegram.write(filer, ann, 'hi')
  const content = Buffer.from([0, 1, 2, 255])
  const sent = await api.sendDocument(ann.id, new InputFile(content, 'bytes.bin'))
  expect(sent.document).toMatchObject({ file_name: 'bytes.bin', file_size: 4 })
  expect(telegram.sent.at(-1)?.file?.content).toEqual(content)
  const { file_path } = await api.getFile(sent.document.file_id)
  const response = await fetch(`${telegram.url}/file/bot${filer.token}/${file_path}`)
  expect(Buffer.from(await response.arrayBuffer())).toEqual(content)
})

test('a manager bot can get the tokens of its bots, and other bots cannot', async () => {
  const manager = world.bot('manager_bot', { canManage: true })
  const made = await telegram.createManaged(manager, ann, 'made_bot', 'Made')
  const api = apiOf(manager)
  expect(await api.getMe()).toMatchObject({ can_manage_bots: true })
  const [update] = await api.getUpdates()
  expect(update).toMatchObject({
    managed_bot: { user: { id: ann.id }, bot: { id: made.user.id, username: 'made_bot', is_bot: true } },
  })
  expect(await api.getManagedBotToken(made.user.id)).toBe(made.token)
  const before = made.token
  expect(await api.replaceManagedBotToken(made.user.id)).not.toBe(before)
  expect((await failureOf(apiOf({ token: before }).getMe())).error_code).toBe(401)
  expect(
    (await failureOf(apiOf(world.bot('stranger_bot')).getManagedBotToken(made.user.id))).error_code,
  ).toBe(400)
})

test('failures have the codes and descriptions of Telegram', async () => {
  const refusing = world.bot('refusing_bot')
  const api = apiOf(refusing)
  expect(await failureOf(api.sendMessage(ann.id, 'hi'))).toMatchObject({
    error_code: 400,
    description: 'Bad Request: chat not found',
  })
  await telegram.write(refusing, ann, 'hi')
  expect(await failureOf(api.sendMessage(ann.id, ' '))).toMatchObject({
    description: 'Bad Request: message text is empty',
  })
  expect(await failureOf(api.sendMessage(ann.id, 'x'.repeat(4097)))).toMatchObject({
    description: 'Bad Request: message is too long',
  })
  const reply_parameters = { message_id: 999_999 }
  expect(await failureOf(api.sendMessage(ann.id, 'hi', { reply_parameters }))).toMatchObject({
    description: 'Bad Request: message to be replied not found',
  })
  await api.sendMessage(ann.id, 'hi', {
    reply_parameters: { ...reply_parameters, allow_sending_without_reply: true },
  })
  refusing.blockedBy.add(ann.id)
  expect(await failureOf(api.sendMessage(ann.id, 'hi'))).toMatchObject({
    error_code: 403,
    description: 'Forbidden: bot was blocked by the user',
  })
  telegram.flood('sendmessage', 7)
  expect(await failureOf(api.sendMessage(ann.id, 'hi'))).toMatchObject({
    error_code: 429,
    parameters: { retry_after: 7 },
  })
  expect((await failureOf(api.setWebhook('http://example.com/'))).description).toContain('HTTPS')
  expect(
    (await failureOf(api.setWebhook('https://example.com/', { secret_token: 'no spaces' }))).error_code,
  ).toBe(400)
  expect((await failureOf(apiOf({ token: '1:nobody' }).getMe())).error_code).toBe(401)
})
