import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { receive } from '../support/letter.ts'
import { type Relay, startRelay } from '../support/relay.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let clock: FakeClock
let relay: Relay
let service: TestService
let owner: Tenant
let agent: TestAgent
let path: string
beforeAll(async () => {
  clock = createFakeClock()
  relay = await startRelay()
  service = await startService({
    environment: { SMTP_RELAY_URL: relay.url },
    world: { clock, random: () => 0 },
  })
  owner = await service.workspace()
})
afterAll(() => relay.stop())
beforeEach(async () => {
  relay.mails.length = 0
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}/messages`
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
})

const read = async (id: string) => (await agent.api('GET', `${path}/${id}`)).body
const becomes = (id: string, status: string) =>
  until(async () => {
    const message = await read(id)
    return message.status === status && message
  })
const start = async (...to: string[]) =>
  (await agent.api('POST', path, { channel: 'email', to, subject: 'Hello', text: 'hi' })).body
/** Advances the clock, then by another second at a time, as workers poll every second, until `done`. */
const pass = async <T>(ms: number, done: () => T | Promise<T>) => {
  clock.advance(ms)
  return until(async () => {
    const found = await done()
    if (!found) clock.advance(1_000)
    return found
  })
}
const jobOf = async (id: string) =>
  (await service.db.pool.query('select attempts, due_at from job where lane = $1', [id])).rows[0]
/** Resolves when the message was attempted `count` times and its job is waiting again or done. */
const tried = (id: string, count: number) => until(async () => (await jobOf(id)).attempts === count)

const question = {
  from: { name: 'Bo', address: 'bo@example.com' },
  subject: 'Where is it?',
  messageId: '<q2@example.com>',
  references: ['<q0@example.com>', '<q1@example.com>'],
  inReplyTo: '<q1@example.com>',
  text: 'Well?\n\nBo',
}

test('a reply is sent in the thread of the message it answers', async () => {
  const original = await receive(service, agent, { ...question, to: agent.address })
  const { body } = await agent.api('POST', path, { replyTo: original.id, text: 'Here – ☕.' })
  expect(body).toMatchObject({
    status: 'sending',
    counterpart: 'bo@example.com',
    subject: 'Re: Where is it?',
  })
  expect(body.thread).toEqual({
    messageId: '<q2@example.com>',
    references: ['<q0@example.com>', '<q1@example.com>'],
  })
  const [{ from, to, mail }] = (await relay.got(1)) as [(typeof relay.mails)[0]]
  expect({ from, to }).toEqual({
    from: expect.stringMatching(/^bounce-[0-9a-f]{54}@agents\.localhost$/),
    to: ['bo@example.com'],
  })
  expect(mail).toMatchObject({
    from: { name: 'Support Bot', address: agent.address },
    subject: 'Re: Where is it?',
    inReplyTo: '<q2@example.com>',
    references: '<q0@example.com> <q1@example.com> <q2@example.com>',
    messageId: `<${body.id}@agents.localhost>`,
    text: expect.stringMatching(/^Here – ☕\.\s*$/),
  })
  expect((await becomes(body.id, 'sent')).error).toBeNull()
  const answer = {
    ...question,
    to: agent.address,
    inReplyTo: mail.messageId!,
    references: [mail.messageId!],
    messageId: '<q3@example.com>',
  }
  const third = await receive(service, agent, answer)
  const thread = (await agent.api('GET', `${path}?thread=${third.id}`)).body.items
  expect(thread.map(({ id }: { id: string }) => id)).toEqual([third.id, body.id, original.id])
})

test('a reply to the agent’s own message goes to the same recipients', async () => {
  const first = await start('bo@example.com', 'cy@example.com')
  await becomes(first.id, 'sent')
  const { body } = await agent.api('POST', path, { replyTo: first.id, text: 'and also' })
  expect(body).toMatchObject({ to: ['bo@example.com', 'cy@example.com'], subject: 'Re: Hello' })
  const [, , ...answers] = await relay.got(4)
  expect(answers.map(({ to }) => to)).toEqual([['bo@example.com'], ['cy@example.com']])
  expect(answers[0]!.mail.inReplyTo).toBe(`<${first.id}@agents.localhost>`)
})

test('a forward has the text and the attachments of the original', async () => {
  const content = Buffer.from([0, 1, 2, 255])
  const attachments = [{ filename: 'zahlen ☕.bin', contentType: 'application/x-numbers', content }]
  const original = await receive(service, agent, { ...question, to: agent.address, attachments })
  const { body } = await agent.api('POST', path, {
    forward: original.id,
    to: ['cy@example.com'],
    text: 'See below.',
  })
  expect(body).toMatchObject({
    subject: 'Fwd: Where is it?',
    thread: null,
    attachments: [{ name: 'zahlen ☕.bin', size: 4 }],
  })
  const [{ mail, to }] = (await relay.got(1)) as [(typeof relay.mails)[0]]
  expect(to).toEqual(['cy@example.com'])
  expect(mail.text).toMatch(
    /^See below\.[\s\S]*From: Bo <bo@example\.com>[\s\S]*Subject: Where is it\?[\s\S]*Well\?/,
  )
  expect(mail.attachments).toHaveLength(1)
  expect(mail.attachments[0]).toMatchObject({ filename: 'zahlen ☕.bin', mimeType: 'application/x-numbers' })
  expect(Buffer.from(mail.attachments[0]!.content as ArrayBuffer).equals(content)).toBe(true)
})

test('each recipient gets the same mail, which names the copies, in an envelope with its own return path', async () => {
  await agent.api('POST', path, {
    channel: 'email',
    to: ['bo@example.com'],
    cc: ['cy@example.com'],
    text: 'hi',
  })
  const [{ mail, ...first }, second] = (await relay.got(2)) as [
    (typeof relay.mails)[0],
    (typeof relay.mails)[0],
  ]
  expect([first.to, second.to]).toEqual([['bo@example.com'], ['cy@example.com']])
  expect(second.from).not.toBe(first.from)
  expect(second.raw.equals(first.raw)).toBe(true)
  expect(mail.cc).toEqual([{ address: 'cy@example.com', name: '' }])
  expect(mail.bcc).toBeUndefined()
})

describe('a message whose relay responds with', () => {
  test('550 fails with the server’s response after a single attempt', async () => {
    relay.refuse('gone@example.com', '550 5.1.1 No such user here')
    const { id } = await start('gone@example.com')
    expect((await becomes(id, 'failed')).error).toMatch(/550.*5\.1\.1.*No such user here/)
    await pass(25 * HOUR, () => true)
    await becomes((await start('bo@example.com')).id, 'sent')
    expect(relay.attempts('gone@example.com')).toBe(1)
  })

  test('450 stays in “sending” and is retried after a minute with the same Message-ID', async () => {
    relay.refuse('later@example.com', '450 4.2.1 Come back later')
    const { id } = await start('later@example.com')
    await tried(id, 1)
    expect(await read(id)).toMatchObject({ status: 'sending', error: null })
    const due = (await jobOf(id)).due_at.getTime() - clock.now().getTime()
    expect(due).toBeGreaterThan(55_000)
    expect(due).toBeLessThanOrEqual(MINUTE)
    clock.advance(50_000)
    await becomes((await start('bo@example.com')).id, 'sent')
    expect(relay.attempts('later@example.com')).toBe(1)
    relay.refuse('later@example.com', null)
    await pass(10_000, async () => (await read(id)).status === 'sent')
    expect(relay.attempts('later@example.com')).toBe(2)
    expect(relay.mails.at(-1)!.mail.messageId).toBe(`<${id}@agents.localhost>`)
  })

  test('a refusal after DATA is retried or fails, depending on the code', async () => {
    relay.refuseData('451 4.3.0 Try again', '554 5.7.1 We do not like it')
    const { id } = await start('data@example.com')
    await tried(id, 1)
    await pass(MINUTE, async () => (await read(id)).status === 'failed')
    expect((await read(id)).error).toMatch(/554.*We do not like it/)
    expect(relay.attempts('data@example.com')).toBe(2)
  })

  test('550 for some recipients fails for those, and the others get it once', async () => {
    relay.refuse('gone@example.com', '550 5.1.1 No such user here')
    const { id } = await start('ok@example.com', 'gone@example.com')
    const message = await becomes(id, 'failed')
    expect(message.error).toMatch(/^gone@example\.com: 550/)
    expect(relay.mails.map(({ to }) => to)).toEqual([['ok@example.com']])
  })

  test('450 for some recipients is retried for those only', async () => {
    relay.refuse('slow@example.com', '450 4.2.1 Come back later')
    const { id } = await start('fast@example.com', 'slow@example.com')
    await tried(id, 1)
    expect((await read(id)).status).toBe('sending')
    relay.refuse('slow@example.com', null)
    await pass(MINUTE, async () => (await read(id)).status === 'sent')
    expect(relay.mails.map(({ to }) => to)).toEqual([['fast@example.com'], ['slow@example.com']])
    expect(relay.mails.map(({ mail }) => mail.to?.length)).toEqual([2, 2])
  })

  test('nothing, because it is down, is retried until it is back', async () => {
    await relay.stop()
    const { id } = await start('bo@example.com')
    await tried(id, 1)
    expect((await read(id)).status).toBe('sending')
    await relay.start()
    await pass(MINUTE, async () => (await read(id)).status === 'sent')
  })

  test('450 for 24 hours fails with the last response', async () => {
    relay.refuse('never@example.com', '450 4.2.2 Mailbox full')
    const { id, createdAt } = await start('never@example.com')
    for (let attempt = 1; (await read(id)).status === 'sending'; attempt++) {
      await tried(id, attempt)
      const { due_at } = await jobOf(id)
      if (due_at === null) continue
      expect(due_at.getTime()).toBeLessThanOrEqual(Date.parse(createdAt) + 24 * HOUR)
      await pass(due_at.getTime() - clock.now().getTime(), async () => (await jobOf(id)).attempts > attempt)
    }
    expect(await read(id)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/450.*Mailbox full/),
    })
    expect(relay.attempts('never@example.com')).toBeGreaterThan(5)
  })
})

test('a deleted agent sends nothing more', async () => {
  relay.refuse('later@example.com', '450 4.2.1 Come back later')
  const { id } = await start('later@example.com')
  await tried(id, 1)
  const before = relay.attempts('later@example.com')
  await owner.api('DELETE', `/agents/${agent.id}`)
  relay.refuse('later@example.com', null)
  clock.advance(HOUR)
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}/messages`
  await becomes((await start('bo@example.com')).id, 'sent')
  expect(relay.attempts('later@example.com')).toBe(before)
})

test('without a relay a mail is written completely to the outbox, readable only by the service’s user', async () => {
  const offline = await startService()
  const tenant = await offline.workspace()
  const bot = await createTestAgent(offline, tenant)
  const sent = await bot.api('POST', `/agents/${bot.id}/messages`, {
    channel: 'email',
    to: ['bo@example.com'],
    subject: 'Hi',
    text: 'hello',
  })
  await until(
    async () => (await bot.api('GET', `/agents/${bot.id}/messages/${sent.body.id}`)).body.status === 'sent',
  )
  const outbox = join(offline.dataDir, 'outbox')
  const [name, ...others] = readdirSync(outbox)
  expect(others).toEqual([])
  expect(name).toMatch(/\.eml$/)
  expect(statSync(join(outbox, name!)).mode & 0o777).toBe(0o600)
  expect(await PostalMime.parse(readFileSync(join(outbox, name!)))).toMatchObject({
    from: { address: bot.address },
    to: [{ address: 'bo@example.com' }],
    subject: 'Hi',
    messageId: `<${sent.body.id}@agents.localhost>`,
  })
})

test('a mail in the outbox has the return path of each recipient, in order', async () => {
  const offline = await startService()
  const bot = await createTestAgent(offline, await offline.workspace())
  const letter = {
    channel: 'email',
    to: ['bo@example.com', 'cy@example.com'],
    cc: ['di@example.com'],
    text: 'hello',
  }
  const { body } = await bot.api('POST', `/agents/${bot.id}/messages`, letter)
  await until(
    async () => (await bot.api('GET', `/agents/${bot.id}/messages/${body.id}`)).body.status === 'sent',
  )
  const outbox = join(offline.dataDir, 'outbox')
  const lines = readFileSync(join(outbox, readdirSync(outbox)[0]!), 'latin1').split('\r\n')
  const id = body.id.replaceAll('-', '')
  const paths = ['00', '01', '02'].map((place) =>
    expect.stringMatching(`^Return-Path: <bounce-${id}${place}[0-9a-f]{20}@`),
  )
  expect(lines.slice(0, 3)).toEqual(paths)
  expect(lines[3]).not.toContain('Return-Path')
})
