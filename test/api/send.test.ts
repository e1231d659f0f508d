import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { expectFailure } from '../support/failure.ts'
import { receive } from '../support/letter.ts'
import { createTestAgent, startService, type TestAgent, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

let service: TestService
let agent: TestAgent
let path: string
beforeAll(async () => {
  service = await startService()
  agent = await createTestAgent(service, await service.workspace())
  path = `/agents/${agent.id}/messages`
})

const start = (changes: object = {}) =>
  agent.api('POST', path, { channel: 'email', to: ['bo@example.com'], text: 'hi', ...changes })
/** Checks that refused requests sent nothing: the only mails captured are those of accepted messages. */
const expectNoneSent = async () => {
  const { items } = (await agent.api('GET', `${path}?direction=outbound&limit=100`)).body
  const names = () => readdirSync(join(service.dataDir, 'outbox'))
  await until(() => names().length === items.length)
}

test('a message is stored with status sending before the response 201', async () => {
  const answer = await start({ subject: 'Hello', cc: ['Cy@Example.com'] })
  expect(answer.status).toBe(201)
  expect(answer.body).toMatchObject({
    direction: 'outbound',
    status: 'sending',
    counterpart: 'bo@example.com',
    to: ['bo@example.com'],
    cc: ['Cy@example.com'],
    subject: 'Hello',
    text: 'hi',
    attachments: [],
    thread: null,
    refusal: null,
    admission: null,
    error: null,
  })
  expect((await agent.api('GET', `${path}/${answer.body.id}`)).body.id).toBe(answer.body.id)
  await until(async () => (await agent.api('GET', `${path}/${answer.body.id}`)).body.status === 'sent')
})

describe('the target of a message, which is exactly one of replyTo, forward and channel,', () => {
  const id = randomUUID()
  test.each([
    [{ text: 'hi' }, /exactly one of replyTo.*forward.*channel/],
    [{ text: 'hi', to: ['bo@example.com'] }, /^channel: is required/],
    [{ text: 'hi', replyTo: id, forward: id, to: ['bo@example.com'] }, /exactly one of/],
    [{ text: 'hi', replyTo: id, channel: 'email' }, /exactly one of/],
    [{ text: 'hi', forward: id, channel: 'email', to: ['bo@example.com'] }, /exactly one of/],
    [{ text: 'hi', forward: id }, /^to: /],
    [{ text: 'hi', channel: 'email' }, /^to: /],
    [{ text: 'hi', replyTo: id }, /^replyTo: is not a message of this agent/],
    [{ text: 'hi', forward: id, to: ['bo@example.com'] }, /^forward: is not a message of this agent/],
    [{ text: 'hi', replyTo: 'x' }, /^replyTo: must be a UUID/],
    [{ text: 'hi', channel: 'fax', to: ['bo@example.com'] }, /^channel: must be one of email, sms, telegram/],
    [{ text: 'hi', channel: 'url', to: ['bo@example.com'] }, /^channel: must be one of/],
  ])('is refused in %j', async (body, says) => {
    expectFailure(await agent.api('POST', path, body), 'invalid_input', says)
  })

  test('is a conflict if it is a channel on which the agent has no address', async () => {
    expectFailure(
      await agent.api('POST', path, { text: 'hi', channel: 'sms', to: ['+15551234567'] }),
      'conflict',
    )
  })
})

describe('limits, counted in code points', () => {
  const many = (count: number) => Array.from({ length: count }, (_, n) => `r${n}@example.com`)
  test.each([
    ['a text of 1 character', { text: 'x' }],
    ['a text of 32,000 characters', { text: 'x'.repeat(32_000) }],
    ['a text of 32,000 emoji', { text: '😀'.repeat(32_000) }],
    ['10 recipients', { to: many(10) }],
    ['50 copies', { cc: many(50) }],
    ['a subject of 240 emoji', { subject: '😀'.repeat(240) }],
    ['an empty subject', { subject: '' }],
    [
      'an address of 254 characters',
      { to: [`${'a'.repeat(64)}@${'b'.repeat(62)}.${'c'.repeat(62)}.${'d'.repeat(59)}.com`] },
    ],
  ])('a message with %s is accepted', async (_, changes) => {
    const answer = await start(changes)
    expect(answer.body).toMatchObject({ status: 'sending', ...changes })
    expect((await agent.api('GET', `${path}/${answer.body.id}`)).body).toMatchObject(changes)
  })

  test.each([
    ['no text', { text: undefined }, /^text: is required/],
    ['an empty text', { text: '' }, /^text: must be 1 to 32000/],
    ['a text of 32,001 characters', { text: 'x'.repeat(32_001) }, /^text: must be 1 to 32000/],
    ['a text of 32,001 emoji', { text: '😀'.repeat(32_001) }, /^text: must be 1 to 32000/],
    ['no recipient', { to: [] }, /^to: must contain 1 to 10/],
    ['11 recipients', { to: many(11) }, /^to: must contain 1 to 10/],
    ['51 copies', { cc: many(51) }, /^cc: must contain at most 50/],
    ['a subject of 241 characters', { subject: 'x'.repeat(241) }, /^subject: must be at most 240/],
    ['a subject of 241 emoji', { subject: '😀'.repeat(241) }, /^subject: must be at most 240/],
    ['an empty recipient', { to: [''] }, /^to\[0\]: /],
    [
      'a recipient of 321 characters',
      { to: [`${'a'.repeat(309)}@example.com`] },
      /^to\[0\]: must be 1 to 320/,
    ],
    ['NUL in the text', { text: 'a\0b' }, /^text: .*NUL/],
    ['NUL in the subject', { subject: 'a\0b' }, /^subject: .*NUL/],
    ['an unpaired surrogate in the text', { text: 'a\udc00b' }, /^text: .*surrogate/],
    ['a number for text', { text: 5 }, /^text: must be a string/],
    ['a string for to', { to: 'bo@example.com' }, /^to: must be an array/],
    ['null for cc', { cc: null }, /^cc: must be an array/],
    ['an unknown field', { bbc: ['eve@example.com'] }, /^bbc: is not a known field/],
  ])('a message with %s is refused with the name of the field', async (_, changes, says) => {
    expectFailure(await start(changes), 'invalid_input', says)
  })
})

describe('a recipient that is not a single address', () => {
  test.each([
    'not-an-address',
    'a@x@example.com',
    'a@x.com,eve@example.com',
    'a@x.com;eve@example.com',
    'a@x.com\r\nBcc: eve@example.com',
    'a@x.com\nBcc: eve@example.com',
    'a@x.com\rRCPT TO:<eve@example.com>',
    'a@x\u2028.com',
    'Ann <ann@example.com>',
    '<ann@example.com>',
    '"ann smith"@example.com',
    'ann@[127.0.0.1]',
    'ann@127.0.0.1',
    'ann@-example.com',
    'ann@example..com',
    '@example.com',
    'ann@',
    'ann..b@example.com',
    '.ann@example.com',
    ' ',
    `${'a'.repeat(65)}@example.com`,
  ])('is refused: %j', async (address) => {
    expectFailure(await start({ to: ['bo@example.com', address] }), 'invalid_input', /^to\[1\]: /)
    expectFailure(await start({ cc: [address] }), 'invalid_input', /^cc\[0\]: /)
  })

  test('causes no mail to be sent', expectNoneSent)
})

describe('a reply to all', () => {
  const start = async (letter: object) => {
    const owner = await service.workspace()
    const own = await createTestAgent(service, owner)
    await owner.api('PUT', `/agents/${own.id}/access/email`, { admit: 'anyone', senders: [] })
    const { id } = await receive(service, own, {
      ...{ from: 'ann@example.com', to: `${own.address}, bo@example.com`, text: 'x', ...letter },
      envelope: { from: 'ann@example.com', to: own.address },
    })
    const reply = (more: object = {}) =>
      own.api('POST', `/agents/${own.id}/messages`, { replyTo: id, text: 'hi', replyAll: true, ...more })
    return { own, id, reply }
  }

  test('goes to the sender and all recipients once, never to the agent itself; copies stay copies', async () => {
    const { own, id, reply } = await start({ cc: 'cy@example.com, Ann@example.com' })
    const { body } = await reply({ cc: ['dora@example.com', 'bo@example.com'] })
    expect(body).toMatchObject({
      to: ['ann@example.com', 'bo@example.com'],
      cc: ['cy@example.com', 'dora@example.com'],
    })
    const draft = await own.api('POST', `/agents/${own.id}/drafts`, {
      replyTo: id,
      text: 'hi',
      replyAll: true,
    })
    expect(draft.body.replyAll).toBe(true)
    const { body: sent } = await own.api('POST', `/agents/${own.id}/drafts/${draft.body.id}/send`)
    expect(sent).toMatchObject({ to: body.to, cc: ['cy@example.com'] })
    const query = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { message { to cc } } }'
    const input = { agentId: own.id, replyTo: id, text: 'hi', replyAll: true }
    const { data } = (await own.api('POST', '/graphql', { query, variables: { input } })).body
    expect(data.sendMessage.message).toEqual({ to: body.to, cc: ['cy@example.com'] })
  })

  test('goes where replies are asked for', async () => {
    const { reply } = await start({ replyTo: 'list@example.com' })
    expect((await reply()).body.to).toEqual(['list@example.com', 'bo@example.com'])
  })

  test('to more than can be written to is refused, and so are other recipients', async () => {
    const { reply } = await start({ cc: Array.from({ length: 70 }, (_, n) => `r${n}@example.com`).join() })
    expectFailure(await reply(), 'invalid_input', /^replyAll: the message names 72 others; at most 60/)
    expectFailure(await reply({ to: ['eve@example.com'] }), 'invalid_input', /^to: cannot be combined/)
  })

  test('is for replies alone', async () => {
    const body = { channel: 'email', to: ['bo@example.com'], text: 'hi', replyAll: true }
    expectFailure(await agent.api('POST', path, body), 'invalid_input', /^replyAll: /)
  })
})

describe('while the disk of the database is full', () => {
  beforeAll(async () => {
    await service.db.pool.query(`
      create function fill() returns trigger language plpgsql as $$ begin
        raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
      create trigger full_disk before insert on message for each row execute function fill()`)
    return () => service.db.pool.query('drop trigger full_disk on message; drop function fill')
  })

  test.each([{}, { 'Idempotency-Key': 'full' }])(
    'a message with the headers %j is refused as unavailable',
    async (headers) => {
      const answer = await agent.api(
        'POST',
        path,
        { channel: 'email', to: ['bo@example.com'], text: 'hi' },
        headers,
      )
      expectFailure(answer, 'unavailable')
    },
  )
})

test('line breaks in a subject do not add headers', async () => {
  const { status, body } = await start({ subject: 'Hi\r\nBcc: eve@example.com' })
  expect(status).toBe(201)
  await until(async () => (await agent.api('GET', `${path}/${body.id}`)).body.status === 'sent')
  const outbox = join(service.dataDir, 'outbox')
  const mail = readFileSync(join(outbox, readdirSync(outbox).find((name) => name.includes(body.id))!), 'utf8')
  expect(mail.split('\r\n\r\n', 1)[0]).toMatch(/^Subject: Hi Bcc: eve@example\.com\r$/m)
})

test('recipients are normalized, except for the case of their local parts, and deduplicated', async () => {
  const { body } = await start({
    to: [' Bo@Example.COM ', 'bo@example.com', 'ann@münchen.de'],
    cc: ['BO@example.com', 'cy@example.com'],
  })
  expect(body).toMatchObject({ to: ['Bo@example.com', 'ann@xn--mnchen-3ya.de'], cc: ['cy@example.com'] })
})
