import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import { expectFailure } from '../support/failure.ts'
import { receive } from '../support/letter.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** Importing mails over HTTP. */

let service: TestService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  service = await startService({ environment: { RATE_LIMIT: '100000' } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
})

interface Letter {
  id?: string | null
  from?: string
  to?: string
  date?: string
  subject?: string
  text?: string
  references?: string
  inReplyTo?: string
}

const mailOf = (letter: Letter = {}): string => {
  const fields = {
    From: letter.from ?? 'Ann <ann@example.com>',
    To: letter.to ?? agent.address,
    Subject: letter.subject ?? 'Order',
    Date: letter.date ?? 'Tue, 2 Jan 2024 15:04:05 +0100',
    'Message-ID': letter.id === null ? undefined : `<${letter.id ?? `${randomUUID()}@example.com`}>`,
    'In-Reply-To': letter.inReplyTo && `<${letter.inReplyTo}>`,
    References: letter.references,
  }
  const header = Object.entries(fields).flatMap(([name, value]) => (value ? [`${name}: ${value}`] : []))
  return `${header.join('\r\n')}\r\n\r\n${letter.text ?? 'Where is it?'}\r\n`
}
const mboxOf = (...mails: string[]) =>
  mails
    .map((mail) => `From x Tue Jan  2 15:04:05 2024\r\n${mail.replaceAll(/^(>*From )/gm, '>$1')}\r\n`)
    .join('')

const post = (body: string, type = 'message/rfc822', { api, id = agent.id } = { ...owner, id: agent.id }) =>
  api('POST', `/agents/${id}/imports`, body, { 'Content-Type': type })
const postMbox = (...mails: string[]) => post(mboxOf(...mails), 'application/mbox')
const messages = async (query = '') =>
  (await owner.api('GET', `/agents/${agent.id}/messages?limit=100${query}`)).body.items
const bySubject = async (subject: string) =>
  (await messages()).filter((message: { subject: string }) => message.subject === subject)

test('a mail becomes a message with its own date, and wakes nobody', async () => {
  const answer = await post(mailOf({ id: 'first@example.com', subject: 'A first one' }))
  expect(answer).toMatchObject({
    status: 200,
    body: { imported: 1, duplicates: 0, skippedCount: 0, skipped: [] },
  })
  const [message] = await bySubject('A first one')
  expect(message).toMatchObject({
    direction: 'inbound',
    status: 'imported',
    admission: null,
    refusal: null,
    counterpart: 'ann@example.com',
    counterpartName: 'Ann',
    to: [agent.address],
    text: 'Where is it?',
    thread: { messageId: '<first@example.com>', references: [] },
    createdAt: '2024-01-02T14:04:05.000Z',
    readAt: null,
  })
  expect(message.checks).toMatchObject([
    { name: 'manipulation', verdict: 'none' },
    { name: 'import', verdict: 'member' },
  ])
  const raw = await owner.api('GET', `/agents/${agent.id}/messages/${message.id}/raw`)
  expect(raw.text).toContain('Message-ID: <first@example.com>')
  // A received message afterwards has the first event.
  await receive(service, agent, { from: owner.email, to: agent.address, text: 'now' })
  const events = (await owner.api('GET', `/agents/${agent.id}/events?after=0`)).body.items
  expect(events.map(({ id }: { id: number }) => id)).not.toContain(2)
})

test('the same mail again changes nothing, also from another kind of mailbox', async () => {
  const mail = mailOf({ subject: 'Once', text: 'Hello\r\n\r\nFrom here on' })
  expect((await post(mail)).body).toMatchObject({ imported: 1, duplicates: 0 })
  expect((await post(mail)).body).toMatchObject({ imported: 0, duplicates: 1 })
  expect((await postMbox(mail)).body).toMatchObject({ imported: 0, duplicates: 1 })
  expect((await post(`Status: RO\n${mail.replaceAll('\r\n', '\n')}\n`)).body).toMatchObject({ duplicates: 1 })
  expect(await bySubject('Once')).toHaveLength(1)
})

/** Makes each insert of a message take so long that two transactions meet. */
const whileInsertingSlowly = async (work: () => Promise<void>) => {
  await service.db.pool.query(`
    create function wait_a_little() returns trigger language plpgsql as $$ begin perform pg_sleep(0.02); return new; end $$;
    create trigger slow before insert on message for each row execute function wait_a_little()`)
  try {
    await work()
  } finally {
    await service.db.pool.query('drop function wait_a_little() cascade')
  }
}

test('two imports of the same mails at once, in opposite orders, store each once', () =>
  whileInsertingSlowly(async () => {
    const mails = Array.from({ length: 9 }, (_, n) => mailOf({ subject: 'At once', text: `mail ${n}` }))
    const by = (api: typeof owner.api, ordered: string[]) =>
      post(mboxOf(...ordered), 'application/mbox', { api, id: agent.id } as never)
    const [one, other] = await Promise.all([by(owner.api, mails), by(agent.api, mails.toReversed())])
    expect([one.status, other.status]).toEqual([200, 200])
    expect(one.body.imported + other.body.imported).toBe(9)
    expect(one.body.duplicates + other.body.duplicates).toBe(9)
    expect(await bySubject('At once')).toHaveLength(9)
  }))

test('mails without a Message-ID are the same only if all else is', async () => {
  const one = mailOf({ id: null, subject: 'Nameless', text: 'one' })
  const two = mailOf({ id: null, subject: 'Nameless', text: 'two' })
  expect((await postMbox(one, two, one)).body).toMatchObject({ imported: 2, duplicates: 1 })
  expect((await postMbox(one, two, one)).body).toMatchObject({ imported: 0, duplicates: 3 })
  const listed = await bySubject('Nameless')
  expect(listed.map(({ text }: { text: string }) => text).sort()).toEqual(['one', 'two'])
})

test('a message that was received, and one that the agent sent, are known', async () => {
  const letter = { from: owner.email, to: agent.address, subject: 'Received', text: 'hi' }
  const { id } = await receive(service, agent, letter)
  const { text: raw } = await owner.api('GET', `/agents/${agent.id}/messages/${id}/raw`)
  const sent = await agent.api('POST', `/agents/${agent.id}/messages`, { replyTo: id, text: 'Thanks' })
  const copy = mailOf({
    id: `${sent.body.id}@agents.localhost`,
    from: agent.address,
    to: owner.email,
    text: 'Thanks',
  })
  expect((await postMbox(raw, copy)).body).toMatchObject({ imported: 0, duplicates: 2 })
})

test("a mail from the agent's address is outbound, and is not counted as sent today", async () => {
  const usage = async () => (await owner.api('GET', '/workspace')).body.plan.usage
  const before = await usage()
  const date = new Date().toUTCString()
  await post(mailOf({ from: agent.address, to: 'bo@example.com', subject: 'Sent before', date }))
  const [message] = await bySubject('Sent before')
  expect(message).toMatchObject({ direction: 'outbound', status: 'imported', counterpart: 'bo@example.com' })
  expect(await usage()).toMatchObject({
    sendsPerDay: before.sendsPerDay,
    storedMessages: before.storedMessages + 1,
  })
})

test('answers are in one thread with what they answer, in whatever order they come', async () => {
  const [root, middle, last] = ['root', 'middle', 'last'].map((name) => `${name}-${randomUUID()}@example.com`)
  await post(mailOf({ id: last!, inReplyTo: middle!, subject: 'Thread' }))
  await post(mailOf({ id: root!, subject: 'Thread' }))
  await post(mailOf({ id: middle!, references: `<${root}>`, subject: 'Thread' }))
  const [message] = await bySubject('Thread')
  expect(await messages(`&thread=${message.id}`)).toHaveLength(3)
  const query = `{ agent(id: "${agent.id}") { threads(first: 50) { edges { node { subject messageCount } } } } }`
  const { body } = await owner.api('POST', '/graphql', { query })
  expect(body.data.agent.threads.edges).toContainEqual({ node: { subject: 'Thread', messageCount: 3 } })
  const sent = await agent.api('POST', `/agents/${agent.id}/messages`, { replyTo: message.id, text: 'Well' })
  expect(sent.status).toBe(201)
  expect(await messages(`&thread=${message.id}`)).toHaveLength(4)
})

test.each([
  ['no date', ''],
  ['an unreadable date', 'yesterday'],
  ['a date in the future', 'Tue, 2 Jan 2120 15:04:05 +0000'],
  ['a date before there was mail', 'Thu, 1 Jan 1970 00:00:00 +0000'],
])('a mail with %s has that of its mailbox, or of its import', async (what, date) => {
  const before = new Date()
  const mail = mailOf({ subject: what, ...(date ? { date } : {}) }).replace(date ? '' : /Date:.*\r\n/, '')
  await postMbox(mail)
  await post(mail.replace('Subject: ', 'Subject: alone '))
  expect(await bySubject(what)).toMatchObject([{ createdAt: '2024-01-02T15:04:05.000Z' }])
  const [alone] = await bySubject(`alone ${what}`)
  expect(new Date(alone.createdAt).getTime()).toBeGreaterThanOrEqual(before.getTime())
})

test('old mails are listed by their own dates, found by words, and have their attachments', async () => {
  const boundary =
    '--b\r\nContent-Type: text/plain\r\n\r\nquetzal\r\n--b\r\nContent-Type: text/csv; name=a.csv\r\nContent-Disposition: attachment; filename=a.csv\r\n\r\n1,2\r\n--b--'
  const mail = mailOf({ subject: 'Files', date: 'Mon, 1 Jan 2001 00:00:00 +0000', text: boundary })
  await post(
    mail.replace('Subject', 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\nSubject'),
  )
  expect((await messages()).at(-1)).toMatchObject({
    subject: 'Files',
    attachments: [{ name: 'a.csv', type: 'text/csv' }],
  })
  expect(await messages('&q=quetzal')).toMatchObject([{ subject: 'Files' }])
  expect(await messages('&status=imported&until=2002-01-01T00:00:00Z')).toHaveLength(1)
})

test('what is not a mail is skipped by its name, and the others are imported', async () => {
  const answer = await postMbox(
    mailOf({ subject: 'Good' }),
    'just a text\r\n',
    '',
    mailOf({ subject: 'Good' }),
  )
  expect(answer.body).toEqual({
    imported: 2,
    duplicates: 0,
    skippedCount: 2,
    skipped: [
      { name: 'message 3', reason: 'is empty' },
      { name: 'message 2', reason: 'is not a mail: it has no header' },
    ],
  })
})

test('the content must be what its type says, and not too large', async () => {
  expectFailure(
    await post('{}', 'application/json'),
    'invalid_input',
    /message\/rfc822 or application\/mbox/,
    415,
  )
  expectFailure(await post('Subject: no mbox\r\n\r\nx', 'application/mbox'), 'invalid_input', /From …/)
  expectFailure(await post('x'.repeat(25 * 1024 * 1024 + 1)), 'invalid_input', /26214400/, 413)
  const announced = await new Promise<number | undefined>((resolve, reject) => {
    const call = request(
      `${service.http}/agents/${agent.id}/imports`,
      {
        method: 'POST',
        headers: {
          authorization: `Bearer ${owner.token}`,
          'content-type': 'application/mbox',
          'content-length': 1024 ** 3 + 1,
        },
      },
      (response) => {
        resolve(response.statusCode)
        call.destroy()
      },
    )
    call.on('error', reject).flushHeaders()
  })
  expect(announced).toBe(413)
})

test('what fits the plan is imported, and the error says how much', async () => {
  const small = await service.workspace()
  const bot = await createTestAgent(service, small)
  await service.db.prisma.plan.create({ data: { key: 'three', storedMessages: 3 } })
  await service.db.prisma.workspace.update({ where: { id: small.id }, data: { planKey: 'three' } })
  const mails = Array.from({ length: 5 }, (_, n) => mailOf({ id: `p${n}@example.com`, to: bot.address }))
  const again = () => post(mboxOf(...mails), 'application/mbox', { api: small.api, id: bot.id } as never)
  expectFailure(await again(), 'plan_limit', /3 of the mails were imported/)
  expectFailure(await again(), 'plan_limit')
  expect((await small.api('GET', `/agents/${bot.id}/messages`)).body.items).toHaveLength(3)
  await service.db.prisma.plan.update({ where: { key: 'three' }, data: { storedMessages: 5 } })
  expect((await again()).body).toMatchObject({ imported: 2, duplicates: 3 })
})

test('an import ends with the token of whoever sends it', async () => {
  const bot = await createTestAgent(service, owner)
  const imports = request(`${service.http}/agents/${bot.id}/imports`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bot.token}`, 'content-type': 'application/mbox' },
  })
  const answered = new Promise<number | undefined>((resolve, reject) =>
    imports.on('error', reject).on('response', (response) => resolve(response.resume().statusCode)),
  )
  const batch = (name: string) =>
    mboxOf(
      ...Array.from({ length: 65 }, (_, n) => mailOf({ id: `${name}-${n}@example.com`, to: bot.address })),
    )
  const stored = () => service.db.prisma.message.count({ where: { agentId: bot.id } })
  imports.write(batch('first'))
  await until(async () => (await stored()) === 64)
  const [{ id }] = (await owner.api('GET', `/agents/${bot.id}/tokens`)).body
  await owner.api('DELETE', `/agents/${bot.id}/tokens/${id}`)
  imports.end(batch('second'))
  expect(await answered).toBe(401)
  expect(await stored()).toBe(64)
})

test('imports are in the audit log', async () => {
  await post(mailOf(), 'message/rfc822', { api: agent.api, id: agent.id } as never)
  const { body } = await owner.api('GET', `/audit?action=message.import&agentId=${agent.id}`)
  expect(body.items[0]).toMatchObject({
    actor: { kind: 'agent' },
    detail: { imported: 1, duplicates: 0, skipped: 0 },
  })
})

test('an agent cannot make somebody known by importing a mail from them', async () => {
  const cautious = await createTestAgent(service, owner)
  await owner.api('PATCH', `/agents/${cautious.id}`, { approval: 'strangers' })
  const mail = (from: string) => mailOf({ from, to: cautious.address })
  const by = (api: typeof owner.api, from: string) =>
    post(mail(from), 'message/rfc822', { api, id: cautious.id } as never)
  await by(cautious.api, 'eve@example.net')
  await by(owner.api, 'ann@example.net')
  const sendTo = async (to: string) =>
    (await cautious.api('POST', `/agents/${cautious.id}/messages`, { channel: 'email', to: [to], text: 'x' }))
      .body.hold?.reason ?? null
  expect(await sendTo('eve@example.net')).toBe('approval')
  expect(await sendTo('ann@example.net')).toBeNull()
})
