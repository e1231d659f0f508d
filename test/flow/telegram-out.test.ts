import { beforeAll, describe, expect, test } from 'vitest'
import { createFakeClock } from '../support/clock.ts'
import { arrangeTelegram } from '../support/telegram.ts'
import { until } from '../support/until.ts'

const clock = createFakeClock()
const { log, telegram, owner, agent, bot, ann, newest, read, send, another } = await arrangeTelegram({
  world: { clock },
})

/** Advances the clock until the message has this status, because the worker sleeps between polls. */
const settled = (id: string, status: string, stepMs = 20_000) =>
  until(async () => {
    clock.advance(stepMs)
    const message = await read(id)
    return message.status === status && message
  })
const sentBy = (which = bot) =>
  telegram.sent.filter((each) => each.bot === which).map(({ message }) => message)
const toAnn = (text: string, more: object = {}) =>
  send({ channel: 'telegram', to: [String(ann.id)], text, ...more })

beforeAll(async () => {
  await telegram.write(bot, ann, 'hello')
})

describe('a reply', () => {
  test('is sent as a Telegram reply, and becomes “sent” once Telegram has accepted it', async () => {
    const original = await telegram.write(bot, ann, 'Where is it?')
    const message = await send({ replyTo: (await newest()).id, text: 'On its way. _not markup_ <b>' })
    expect(message).toMatchObject({
      status: 'sending',
      channel: 'telegram',
      to: [String(ann.id)],
      counterpartName: 'Ann',
      subject: null,
    })
    expect(await settled(message.id, 'sent')).toMatchObject({ error: null })
    expect(sentBy().at(-1)).toMatchObject({
      text: 'On its way. _not markup_ <b>',
      chat: { id: ann.id },
      reply_to_message: { message_id: original.message_id },
    })
  })

  test('to a deleted message is sent as an ordinary message', async () => {
    const original = await telegram.write(bot, ann, 'Never mind')
    const { id } = await newest()
    telegram.world.messages.delete(`${ann.id}/${original.message_id}`)
    const message = await send({ replyTo: id, text: 'All right.' })
    await settled(message.id, 'sent')
    expect(sentBy().at(-1)).not.toHaveProperty('reply_to_message')
  })
})

describe('a long text', () => {
  const words = Array.from({ length: 3_000 }, (_, n) => `word${n}`).join(' ')

  test('is sent in parts, in order and split between words, with the first one as the reply', async () => {
    await telegram.write(bot, ann, 'Tell me')
    const before = sentBy().length
    const message = await send({ replyTo: (await newest()).id, text: words })
    await settled(message.id, 'sent')
    const parts = sentBy().slice(before)
    expect(parts.length).toBe(Math.ceil(words.length / 4_096))
    expect(parts.map(({ text }) => text).join(' ')).toBe(words)
    expect(parts.map((part) => 'reply_to_message' in part)).toEqual(parts.map((_, index) => index === 0))
  })

  test('is not sent again from the start when a later part fails temporarily', async () => {
    const before = sentBy().length
    let calls = 0
    telegram.faults.push({
      method: 'sendmessage',
      times: 2,
      answer: (response) => {
        calls++
        response.writeHead(502, { 'Content-Type': 'text/html' }).end('<h1>Bad Gateway</h1>')
      },
    })
    const held = toAnn(words)
    const { id } = await held
    expect(await settled(id, 'sent')).toMatchObject({ error: null })
    expect(calls).toBe(2)
    expect(
      sentBy()
        .slice(before)
        .map(({ text }) => text)
        .join(' '),
    ).toBe(words)
  })
})

describe('a message to Telegram', () => {
  test.each<[string, number, string]>([
    ['the bot is blocked', 403, 'Forbidden: bot was blocked by the user'],
    ['the account is deactivated', 403, 'Forbidden: user is deactivated'],
    ['the chat is unknown', 400, 'Bad Request: chat not found'],
    ['the request is too large', 413, 'Request Entity Too Large'],
    ['the refusal has no code', 0, 'Forbidden: bot was kicked from the group chat'],
  ])('fails after one attempt with Telegram’s description when %s', async (_, code, description) => {
    const answer = { ok: false, description, ...(code === 0 ? {} : { error_code: code }) }
    telegram.faults.push({
      method: 'sendmessage',
      times: 1,
      answer: (response) => void response.writeHead(code || 403).end(JSON.stringify(answer)),
    })
    const { id } = await toAnn(`refused: ${description}`)
    expect(await settled(id, 'failed')).toMatchObject({ error: description })
    expect(telegram.calls.filter(({ args }) => args.text === `refused: ${description}`).length).toBe(1)
  })

  test.each<[string, (response: import('node:http').ServerResponse) => void]>([
    [
      'an internal error',
      (response) =>
        response.writeHead(500).end('{"ok":false,"error_code":500,"description":"Internal Server Error"}'),
    ],
    ['an HTML page', (response) => response.writeHead(502).end('<html>')],
    ['200 with garbage', (response) => response.writeHead(200).end('{"ok":tru')],
    ['200 with another shape', (response) => response.writeHead(200).end('{"ok":true}')],
    ['a redirect', (response) => response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end()],
    ['no response', (response) => response.destroy()],
    ['an endless response', (response) => response.writeHead(200).write('x'.repeat(5 * 1024 * 1024))],
    [
      'a rejected token',
      (response) => response.writeHead(401).end('{"ok":false,"error_code":401,"description":"Unauthorized"}'),
    ],
  ])('is retried and sent after %s', async (name, answer) => {
    telegram.faults.push({ method: 'sendmessage', times: 1, answer })
    const { id } = await toAnn(`after ${name}`)
    expect(await settled(id, 'sent')).toMatchObject({ error: null })
    expect(telegram.calls.filter(({ args }) => args.text === `after ${name}`).length).toBe(2)
  })

  test.each(['null', 'true', '{}'])(
    'is sent only once if the result is %s instead of a message',
    async (result) => {
      telegram.faults.push({
        method: 'sendmessage',
        times: 1,
        answer: (response) => response.writeHead(200).end(`{"ok":true,"result":${result}}`),
      })
      const { id } = await toAnn(`told ${result}`)
      expect(await settled(id, 'sent')).toMatchObject({ error: null })
      expect(telegram.calls.filter(({ args }) => args.text === `told ${result}`).length).toBe(1)
    },
  )

  test('is retried after the delay that Telegram requests, and other bots are not delayed', async () => {
    telegram.flood('sendmessage', 600)
    const { id } = await toAnn('too fast')
    const tries = () => telegram.calls.filter(({ args }) => args.text === 'too fast').length
    await until(() => tries() === 1)
    const other = await another('Unhurried')
    const bo = telegram.world.person('Bo')
    await telegram.write(other.bot, bo, 'hi')
    const quick = await send({ channel: 'telegram', to: [String(bo.id)], text: 'at once' }, other.agent)
    await until(async () => {
      clock.advance(10)
      return (await read(quick.id, other.agent)).status === 'sent'
    })
    expect((await read(id)).status).toBe('sending')
    clock.advance(590_000)
    const later = await toAnn('after it')
    await settled(later.id, 'sent', 10)
    expect(tries()).toBe(1)
    clock.advance(10_000)
    await settled(id, 'sent')
    expect(tries()).toBe(2)
  })

  test('fails if Telegram requests a delay longer than a day', async () => {
    telegram.flood('sendmessage', 100_000)
    const { id } = await toAnn('never')
    expect(await settled(id, 'failed')).toMatchObject({ error: 'Too Many Requests: retry after 100000' })
  })

  test('goes to the new group if its group was migrated', async () => {
    const [old, now] = [telegram.world.group('Old'), telegram.world.group('New')]
    await telegram.write(bot, ann, '@support_test_bot hi', old)
    await telegram.write(bot, ann, 'moved', now)
    telegram.refuse('sendmessage', 400, 'Bad Request: group chat was upgraded to a supergroup chat', 1, {
      migrate_to_chat_id: now.id,
    })
    const { id } = await send({ replyTo: (await newest()).id, text: 'followed' })
    await settled(id, 'sent')
    expect(sentBy().at(-1)).toMatchObject({ chat: { id: now.id }, text: 'followed' })
  })
})

describe('the recipients of a message', () => {
  test('cannot be reached if they never wrote to the bot', async () => {
    const { id } = await send({ channel: 'telegram', to: ['4242'], text: 'hi' })
    expect(await settled(id, 'failed')).toMatchObject({ error: 'Bad Request: chat not found' })
  })

  test.each(['@ann_example', 'ann@example.com', '+15551234567', '0'])(
    'cannot be given as %s',
    async (recipient) => {
      const { error } = await send({ channel: 'telegram', to: [recipient], text: 'hi' })
      expect(error).toMatchObject({
        code: 'invalid_input',
        message: expect.stringMatching(/^to\[0\]: .*numeric id/),
      })
    },
  )

  test('each get it once, and the error names those who did not', async () => {
    const bo = telegram.world.person('Bo')
    await telegram.write(bot, bo, 'me too')
    const { id } = await send({
      channel: 'telegram',
      to: [String(ann.id), '4242', String(bo.id), String(ann.id)],
      text: 'to all',
    })
    expect(await settled(id, 'failed')).toMatchObject({ error: '4242: Bad Request: chat not found' })
    expect(
      sentBy()
        .filter(({ text }) => text === 'to all')
        .map(({ chat }) => chat.id)
        .sort(),
    ).toEqual([ann.id, bo.id])
  })

  test('cannot be in Cc', async () => {
    expect((await toAnn('hi', { cc: ['5'] })).error).toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(/^cc: /),
    })
  })
})

describe('outgoing files', () => {
  const KINDS = ['photo', 'document', 'audio']
  const attached = (name: string, content: Buffer) => ({
    name,
    type: 'text/plain',
    content: content.toString('base64'),
  })

  test('are sent after the text', async () => {
    const content = Buffer.from('one, two\r\n--boundary\r\n')
    const { id } = await toAnn('see here', { attachments: [attached('a "b".txt', content)] })
    await settled(id, 'sent')
    const [text, file] = telegram.sent.slice(-2)
    expect(text!.message).toMatchObject({ text: 'see here' })
    expect(file!.message).toMatchObject({ document: { mime_type: 'text/plain', file_size: content.length } })
    expect(file!.file!.content).toEqual(content)
  })

  test('of one kind are sent together, in albums of at most ten', async () => {
    const picture = (n: number) => ({
      ...attached(`${n}.png`, Buffer.from(`picture ${n}`)),
      type: 'image/png',
    })
    const pictures = Array.from({ length: 12 }, (_, n) => picture(n))
    const before = telegram.sent.length
    const documents = [attached('a.txt', Buffer.from('a')), attached('b.txt', Buffer.from('b'))]
    const song = { ...attached('song.mp3', Buffer.from('song')), type: 'audio/mpeg' }
    const { id } = await toAnn('all of them', { attachments: [...pictures, ...documents, song] })
    await settled(id, 'sent')
    const sent = telegram.sent.slice(before + 1)
    const albums = [...new Set(sent.map(({ message }) => message.media_group_id))]
    expect(
      albums.map((album) => sent.filter(({ message }) => message.media_group_id === album).length),
    ).toEqual([10, 2, 2, 1])
    expect(sent.map(({ message }) => Object.keys(message).find((key) => KINDS.includes(key)))).toEqual([
      ...pictures.map(() => 'photo'),
      ...['document', 'document', 'document'],
    ])
    expect(sent.map(({ file }) => file!.content.toString())).toEqual([
      ...pictures.map((_, n) => `picture ${n}`),
      ...['a', 'b', 'song'],
    ])
  })

  test('that Telegram cannot show as pictures are sent as files', async () => {
    telegram.refuse('sendmediagroup', 400, 'Bad Request: PHOTO_INVALID_DIMENSIONS', 1)
    const picture = (name: string) => ({ ...attached(name, Buffer.from(name)), type: 'image/png' })
    const { id } = await toAnn('long ones', { attachments: [picture('1.png'), picture('2.png')] })
    await settled(id, 'sent')
    expect(telegram.sent.slice(-2)).toMatchObject([
      { message: { document: { file_name: '1.png' } } },
      { message: { document: { file_name: '2.png' } } },
    ])
  })

  test('are forwarded with their message', async () => {
    const its = telegram.world.file('plan.pdf', Buffer.from('%PDF'))
    await telegram.write(bot, ann, {
      document: { ...its, file_name: 'plan.pdf', mime_type: 'application/pdf' },
      caption: 'The plan',
    })
    const bo = telegram.world.person('Bo')
    await telegram.write(bot, bo, 'hi')
    const plan = (await agent.api('GET', `/agents/${agent.id}/messages?q=plan`)).body.items[0]
    const { id } = await send({ forward: plan.id, to: [String(bo.id)], text: 'FYI' })
    await settled(id, 'sent')
    expect(telegram.sent.at(-1)!).toMatchObject({
      message: { chat: { id: bo.id } },
      file: { content: Buffer.from('%PDF') },
    })
  })

  test('fail the message if Telegram refuses them, and the text is not sent again', async () => {
    telegram.refuse('senddocument', 400, 'Bad Request: file must be non-empty', 1)
    const { id } = await toAnn('with a bad file', { attachments: [attached('bad.txt', Buffer.from('x'))] })
    expect(await settled(id, 'failed')).toMatchObject({ error: 'Bad Request: file must be non-empty' })
    expect(sentBy().filter(({ text }) => text === 'with a bad file')).toHaveLength(1)
  })
})

test('a text of only white space fails with an explanation', async () => {
  const { id } = await toAnn(' \n ')
  expect(await settled(id, 'failed')).toMatchObject({ error: 'the text contains only white space' })
})

test('a message fails if its bot is removed before it is sent', async () => {
  const gone = await another('Going')
  await telegram.write(gone.bot, ann, 'hi')
  telegram.flood('sendmessage', 60)
  const { id } = await send({ channel: 'telegram', to: [String(ann.id)], text: 'too late' }, gone.agent)
  await until(() => telegram.calls.some(({ args }) => args.text === 'too late'))
  await owner.api('DELETE', `/agents/${gone.agent.id}/addresses/${gone.addressId}`)
  const message = await until(async () => {
    clock.advance(10_000)
    const read = (await gone.agent.api('GET', `/agents/${gone.agent.id}/messages/${id}`)).body
    return read.status === 'failed' && read
  })
  expect(message.error).toMatch(/no longer exists/)
})

test('tokens are not logged', () => {
  expect(log.text()).toContain('outgoing message sent')
  for (const { token } of telegram.world.bots.values()) expect(log.text()).not.toContain(token.split(':')[1])
})
