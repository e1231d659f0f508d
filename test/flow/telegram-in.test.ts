import { describe, expect, test } from 'vitest'
import { arrangeTelegram } from '../support/telegram.ts'
import { until } from '../support/until.ts'

const { log, telegram, service, agent, bot, ann, another, messages, newest, events, told } =
  await arrangeTelegram()

/** Starts another process of the same service; Telegram keeps calling the first one. */
const againHere = () => service.again({ PUBLIC_URL: `http://localhost:${new URL(service.http).port}` })

test('a message to the bot is stored, raises an event and names its sender', async () => {
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
  expect(message.checks).toContainEqual({
    name: 'telegram',
    verdict: 'pass',
    detail: `user ${ann.id} (@ann_example)`,
  })
})

describe('an update is processed once', () => {
  test('regardless of how often it arrives and in which process', async () => {
    const { agent: other, bot: its } = await another('Once')
    const update = told(900, 'once')
    await againHere()
    const statuses = await Promise.all(Array.from({ length: 10 }, () => telegram.post(its, update)))
    expect(statuses).toEqual(Array.from({ length: 10 }, () => 200))
    const second = await againHere()
    const hook = its.webhook!
    its.webhook = { ...hook, url: hook.url.replace(/^http:\/\/[^/]+/, second.http) }
    expect(await telegram.post(its, update)).toBe(200)
    expect(await telegram.post(its, told(901, 'two'))).toBe(200)
    expect((await messages(other)).map(({ text }: { text: string }) => text)).toEqual(['two', 'once'])
    expect(await events(other)).toHaveLength(2)
  })

  test('even out of order: an ID below others is still new', async () => {
    const { agent: other, bot: its } = await another('Shuffled')
    for (const id of [30, 10, 20, 10, 30])
      expect(await telegram.post(its, told(id, `number ${id}`))).toBe(200)
    expect((await messages(other)).map(({ text }: { text: string }) => text).sort()).toEqual([
      'number 10',
      'number 20',
      'number 30',
    ])
  })

  test('per bot, as another bot can use the same ID', async () => {
    const one = await another('Left')
    const two = await another('Right')
    expect(await telegram.post(one.bot, told(7, 'left'))).toBe(200)
    expect(await telegram.post(two.bot, told(7, 'right'))).toBe(200)
    expect(await messages(one.agent)).toHaveLength(1)
    expect(await messages(two.agent)).toHaveLength(1)
  })
})

describe('a call that is not proven to be from Telegram', () => {
  const refused = async () => {
    const text = await (await fetch(`${service.http}/metrics`)).text()
    return Number(/ams_callbacks_total\{outcome="refused"\} (\d+)/.exec(text)?.[1] ?? 0)
  }

  test.each<[string, string | null]>([
    ['a wrong secret', 'wrong'],
    ['an empty secret', ''],
    ['no secret', null],
    ['a very long secret', 'x'.repeat(8_000)],
  ])('with %s gets 403, is counted and stores nothing', async (_, secret) => {
    const [count, stored] = [await refused(), (await messages()).length]
    const { status, body } = await call(bot.webhook!.url, secret, told(555, 'forged'))
    expect({ status, body }).toEqual({
      status: 403,
      body: { error: { code: 'forbidden', message: expect.any(String) } },
    })
    expect(await refused()).toBe(count + 1)
    await telegram.write(bot, ann, 'a true one')
    expect(await messages()).toHaveLength(stored + 1)
  })

  test('with the secret of another workspace’s bot gets 403', async () => {
    const stranger = await service.workspace('Other')
    const theirs = await another('Stranger', stranger)
    const before = (await messages()).length
    expect((await call(bot.webhook!.url, theirs.bot.webhook!.secret!, told(556, 'crossed'))).status).toBe(403)
    expect(await telegram.post(theirs.bot, told(557, 'theirs'))).toBe(200)
    expect(await messages()).toHaveLength(before)
    expect((await messages(theirs.agent)).map(({ text }: { text: string }) => text)).toEqual(['theirs'])
  })

  test.each([
    '0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b',
    'manager',
    'x',
    '',
    '../agents',
    `${'a'.repeat(4_000)}`,
  ])('to the unknown path “%s” gets the same response', async (path) => {
    const answer = await call(
      `${service.http}/channels/telegram/${path}`,
      bot.webhook!.secret!,
      told(558, 'lost'),
    )
    if (answer.status === 404) return expect(path).toBe('../agents')
    expect(answer).toEqual(await call(bot.webhook!.url, 'wrong', told(558, 'lost')))
  })

  const call = async (url: string, secret: string | null, update: object) => {
    const headers: Record<string, string> =
      secret === null ? {} : { 'X-Telegram-Bot-Api-Secret-Token': secret }
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(update) })
    return { status: response.status, body: await response.json() }
  }
})

describe('a call with the right secret', () => {
  const call = (body: string) =>
    fetch(bot.webhook!.url, {
      method: 'POST',
      headers: { 'X-Telegram-Bot-Api-Secret-Token': bot.webhook!.secret! },
      body,
    })

  test.each([
    ['invalid JSON', 'nonsense', 400],
    ['an empty body', '', 400],
    ['an unexpected structure', '{"update_id":1,"message":[]}', 400],
    ['an invalid number', '{"update_id":1e400}', 400],
    ['deep nesting', `{"update_id":1,"message":${'['.repeat(100_000)}`, 400],
    ['more than a megabyte', `{"update_id":1,"x":"${'x'.repeat(1024 * 1024)}"}`, 413],
    ['an unrequested kind of update', '{"update_id":2,"edited_message":{"message_id":1}}', 200],
  ])('and %s gets the right status and stores nothing', async (_, body, status) => {
    const before = (await messages()).length
    const response = await call(body)
    expect(response.status).toBe(status)
    if (status !== 200)
      expect(await response.json()).toEqual({ error: { code: 'invalid_input', message: expect.any(String) } })
    expect(await messages()).toHaveLength(before)
  })

  test('and characters that cannot be stored is stored with replacements', async () => {
    await call(JSON.stringify(told(600, 'a\0b')).replace('a\\u0000b', 'a\\u0000b\\ud800'))
    expect((await newest()).text).toBe('a\ufffdb\ufffd')
  })

  test('and an edit changes nothing and raises no event', async () => {
    const message = await telegram.write(bot, ann, 'first')
    const count = (await events()).length
    bot.webhook = { ...bot.webhook!, allowed: [] }
    telegram.world.queue(bot, { edited_message: { ...message, edit_date: 1, text: 'second' } as never })
    await telegram.drained()
    expect((await newest()).text).toBe('first')
    expect(await events()).toHaveLength(count)
  })
})

describe('threads', () => {
  test('a reply joins the thread of its message, and a message that is not a reply starts a new one', async () => {
    const first = await telegram.write(bot, ann, 'A question')
    const question = await newest()
    await telegram.write(bot, ann, { text: 'And more', reply_to_message: first })
    const more = await newest()
    await telegram.write(bot, ann, 'Something else')
    const thread = (id: string) => agent.api('GET', `/agents/${agent.id}/messages?thread=${id}`)
    expect((await thread(more.id)).body.items.map(({ id }: { id: string }) => id)).toEqual([
      more.id,
      question.id,
    ])
  })

  test('a reply to any part of the agent’s message joins its thread', async () => {
    await telegram.write(bot, ann, 'Tell me a long story')
    const question = await newest()
    const { body } = await agent.api('POST', `/agents/${agent.id}/messages`, {
      replyTo: question.id,
      text: 'once upon a time '.repeat(600),
    })
    const parts = await partsOf(3)
    await telegram.write(bot, ann, { text: 'Nice', reply_to_message: parts[1]!.message })
    const { items } = (await agent.api('GET', `/agents/${agent.id}/messages?thread=${question.id}`)).body
    expect(items.map(({ text }: { text: string }) => text.slice(0, 5))).toEqual(['Nice', 'once ', 'Tell '])
    expect(items[1].id).toBe(body.id)
  })

  const partsOf = async (count: number) => {
    return until(() => {
      const sent = telegram.sent.filter((each) => each.bot === bot)
      return sent.length >= count && sent.slice(-count)
    })
  }
})

test('tokens and secrets are not logged', () => {
  for (const each of telegram.world.bots.values()) {
    expect(log.text()).not.toContain(each.token.split(':')[1])
    if (each.webhook?.secret) expect(log.text()).not.toContain(each.webhook.secret)
  }
})
