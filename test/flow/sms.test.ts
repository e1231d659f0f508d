import { beforeAll, describe, expect, test } from 'vitest'
import type { TwilioStandIn } from '../../src/demo/sms/stand-in.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { expectFailure } from '../support/failure.ts'
import { createTestLog } from '../support/log.ts'
import { createTestAgent, startService, type Tenant, type TestAgent, type TestService } from '../support/service.ts'
import { giveNumber, openTwilio } from '../support/sms.ts'
import { until } from '../support/until.ts'

const ANN = '+15551234567'
const OURS = '+15005550101'

const log = createTestLog()
let clock: FakeClock
let twilio: TwilioStandIn
let service: TestService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  twilio = await openTwilio()
  clock = createFakeClock()
  service = await startService({ environment: { ...twilio.environment, RATE_LIMIT: '100000' }, world: { clock }, log })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  await giveNumber(service, twilio, agent, OURS)
  await agent.api('PUT', `/agents/${agent.id}/access/sms`, { admit: 'anyone', senders: [] })
})

const path = () => `/agents/${agent.id}`
const messages = async (query = '') => (await agent.api('GET', `${path()}/messages?channel=sms&limit=100${query}`)).body.items
const newest = async () => (await messages())[0]
const events = async () => (await agent.api('GET', `${path()}/events?after=0&limit=100`)).body.items
const send = (body: object) => agent.api('POST', `${path()}/messages`, body)
const text = (body: string, more = {}, from = ANN) => twilio.text(from, OURS, body, more)
const isNow = (id: string, status: string) =>
  until(async () => {
    const { body } = await agent.api('GET', `${path()}/messages/${id}`)
    return body.status === status && body
  })
let count = 0
/** Starts to send, and waits until Twilio has it. */
const sent = async (words = 'hello', to = ANN) => {
  const text = `${words} ${++count}`
  const { body: message, status } = await send({ channel: 'sms', to: [to], text })
  expect(status).toBe(201)
  return { message, sms: await until(() => twilio.sent.find(({ body }) => body === text)) }
}

describe('in', () => {
  test('a text is stored and wakes the agent; the answer says nothing back', async () => {
    const before = (await events()).length
    const answer = await text('Where is my order? 🚚')
    expect({ status: answer.status, type: answer.headers.get('content-type') }).toEqual({ status: 200, type: 'text/xml' })
    expect(await answer.text()).toMatch(/<Response\s*\/>/)
    expect(await newest()).toMatchObject({
      channel: 'sms',
      direction: 'inbound',
      counterpart: ANN,
      counterpartName: null,
      to: [OURS],
      cc: [],
      subject: null,
      text: 'Where is my order? 🚚',
      thread: null,
      status: 'received',
      admission: 'anyone',
      segments: 1,
      checks: [{ name: 'signature', verdict: 'pass' }, { name: 'admission' }],
    })
    const [event] = (await events()).slice(-1)
    expect(await events()).toHaveLength(before + 1)
    expect(event).toMatchObject({
      type: 'message.received',
      channel: 'sms',
      sender: { kind: 'contact', id: null, email: null, phone: ANN },
    })
  })

  test.each([
    ['without a signature', {}],
    ['with another signature', { 'X-Twilio-Signature': 'bm90IHRoaXMgb25l' }],
  ])('a call %s is 403: nothing is stored, and it is counted', async (_, headers: Record<string, string>) => {
    const before = (await messages()).length
    const counted = async () =>
      Number(/ams_callbacks_total{outcome="refused"} (\d+)/.exec((await owner.api('GET', '/metrics')).text)?.[1] ?? 0)
    const refused = await counted()
    for (const place of ['messages', 'status', 'status/0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b']) {
      const response = await fetch(`${service.http}/channels/sms/${place}`, {
        method: 'POST',
        body: new URLSearchParams({ MessageSid: 'SMforged', From: ANN, To: OURS, Body: 'forged', MessageStatus: 'failed' }),
        headers,
      })
      expect(response.status).toBe(403)
      expect(await response.json()).toEqual({ error: { code: 'forbidden', message: expect.any(String) } })
    }
    expect(await counted()).toBe(refused + 3)
    await text('a positive')
    expect(await messages()).toHaveLength(before + 1)
  })

  test('a call that comes twice, also at once, is stored once', async () => {
    const before = (await messages()).length
    const answers = await Promise.all(Array.from({ length: 5 }, () => text('once', { MessageSid: 'SMonce' })))
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200))
    await text('once', { MessageSid: 'SManother' })
    expect((await messages()).slice(0, -before)).toHaveLength(2)
  })

  test('what cannot be stored as it is, is; what names no number of ours is answered and dropped', async () => {
    expect((await text('a\0b')).status).toBe(200)
    expect(await newest()).toMatchObject({ text: 'a\ufffdb' })
    const before = (await messages()).length
    const post = (fields: Record<string, string>) => twilio.post(twilio.numbers.get(OURS)!.smsUrl, fields)
    expect((await post({ MessageSid: 'SM1', From: ANN, To: '+15005559999', Body: 'x' })).status).toBe(200)
    expect((await post({ MessageSid: 'SM2', From: ANN, To: 'nonsense', Body: 'x' })).status).toBe(200)
    expect((await post({ From: ANN, To: OURS, Body: 'x' })).status).toBe(200)
    expect((await post({})).status).toBe(200)
    await text('a positive')
    expect(await messages()).toHaveLength(before + 1)
  })

  test.each([
    ['72345', '72345'],
    ['ACME Bank', 'ACME Bank'],
  ])('%s may write; a number can be answered, a name in clear words not', async (from, counterpart) => {
    await text('Your code is 1', {}, from)
    const message = await newest()
    expect(message).toMatchObject({ counterpart, status: 'received' })
    const answer = await send({ replyTo: message.id, text: 'thanks' })
    if (from === '72345') expect(answer.status).toBe(201)
    else expectFailure(answer, 'invalid_input', /a sender's name can't be written to/)
  })

  test('who may wake the agent is decided as for email', async () => {
    const put = (access: object) => agent.api('PUT', `${path()}/access/sms`, access)
    await put({ admit: 'list', senders: [ANN, 'acme'] })
    await text('listed')
    expect(await newest()).toMatchObject({ status: 'received', admission: 'listed' })
    await text('listed', {}, 'ACME')
    expect(await newest()).toMatchObject({ status: 'received', admission: 'listed' })
    await text('not listed', {}, '+15551110000')
    expect(await newest()).toMatchObject({ status: 'refused', refusal: 'sender' })
    await put({ admit: 'team', senders: [] })
    await text('outside')
    expect(await newest()).toMatchObject({ status: 'refused', refusal: 'outsider' })
    await service.db.prisma.memberIdentity.create({ data: { memberId: owner.member, channel: 'sms', value: ANN } })
    await text('the owner')
    expect(await newest()).toMatchObject({ status: 'received', admission: 'team' })
    expect((await events()).at(-1).sender).toMatchObject({ kind: 'member', id: owner.member, phone: ANN })
    await put({ admit: 'anyone', senders: [] })
    await text('from itself', {}, OURS)
    expect(await newest()).toMatchObject({ status: 'refused', refusal: 'self' })
  })

  test('more than 30 a minute of one sender are refused', async () => {
    clock.advance(60_000)
    const from = '+15557770000'
    for (let n = 0; n < 31; n++) await text(`${n}`, {}, from)
    expect(await newest()).toMatchObject({ text: '30', refusal: 'rate_limit' })
    expect((await messages())[1]).toMatchObject({ text: '29', status: 'received' })
  })
})

describe('files', () => {
  const bytes = Buffer.from('not really a picture')

  test('are fetched with our credentials, and kept; the text may be empty', async () => {
    const [one, two] = [twilio.hold(bytes, 'image/jpeg'), twilio.hold(Buffer.from('BEGIN:VCARD'), 'text/vcard')]
    await text('', { NumMedia: '2', MediaUrl0: one, MediaContentType0: 'image/jpeg', MediaUrl1: two, MediaContentType1: 'text/vcard' })
    const message = await newest()
    expect(message).toMatchObject({
      text: '',
      attachments: [
        { name: 'media-1.jpg', type: 'image/jpeg', size: bytes.length },
        { name: 'media-2.vcf', type: 'text/vcard' },
      ],
    })
    const file = await agent.api('GET', `${path()}/messages/${message.id}/attachments/0`)
    expect(file.text).toBe(bytes.toString())
    expectFailure(await send({ forward: message.id, to: ['+15551110000'], text: 'look' }), 'invalid_input', /can't pass its files on/)
  })

  test.each([
    ['elsewhere', 'http://127.0.0.1:9/secret', /not at Twilio/],
    ['in the inside', 'http://169.254.169.254/latest/meta-data', /not at Twilio/],
    ['nowhere', 'no url', /Invalid URL/],
    ['gone', '/2010-04-01/Accounts/ACx/Media/MEgone', /answered 404/],
  ])('%s are left out, and the message says so', async (_, url, says) => {
    await text('look', { NumMedia: '1', MediaUrl0: url.startsWith('/') ? twilio.url + url : url })
    const { attachments, checks, status } = await newest()
    expect({ attachments, status }).toEqual({ attachments: [], status: 'received' })
    expect(checks).toContainEqual({ name: 'media', verdict: 'missing', detail: expect.stringMatching(says) })
  })

  test('a file that is too large is left out', async () => {
    const large = twilio.hold(Buffer.alloc(10 * 1024 * 1024 + 1), 'video/mp4')
    await text('look', { NumMedia: '1', MediaUrl0: large })
    expect((await newest()).checks).toContainEqual(expect.objectContaining({ name: 'media', detail: expect.stringMatching(/larger than/) }))
  })
})

describe('out', () => {
  test('a text goes to Twilio, is on its way until Twilio says more, and then sent', async () => {
    const { message, sms } = await sent('Hello Ann')
    expect(message).toMatchObject({ channel: 'sms', status: 'sending', counterpart: ANN, subject: null, segments: 1 })
    expect(sms).toMatchObject({ from: OURS, to: ANN, body: expect.stringMatching(/^Hello Ann/) })
    for (const status of ['queued', 'sending', 'nonsense']) expect((await twilio.report(sms, status)).status).toBe(200)
    expect((await agent.api('GET', `${path()}/messages/${message.id}`)).body.status).toBe('sending')
    await twilio.report(sms, 'sent')
    expect(await isNow(message.id, 'sent')).toMatchObject({ error: null })
  })

  test('an answer goes to whom it answers, from the number that was written to, in one thread', async () => {
    await text('a question')
    const question = await newest()
    const { body: answer } = await send({ replyTo: question.id, text: 'an answer' })
    await text('and another')
    const more = await newest()
    const thread = (await messages(`&thread=${question.id}`)).map(({ id }: { id: string }) => id)
    expect(thread).toEqual(expect.arrayContaining([answer.id, more.id]))
    expect(answer).toMatchObject({ counterpart: ANN, thread: null })
    const { message: started } = await sent('by the way')
    expect((await messages(`&thread=${question.id}`)).map(({ id }: { id: string }) => id)).toContain(started.id)
    const { message: other } = await sent('hello', '+15551110000')
    expect((await messages(`&thread=${question.id}`)).map(({ id }: { id: string }) => id)).not.toContain(other.id)
  })

  test.each([
    ['undelivered', '30003', 'Unreachable destination handset (Twilio error 30003)'],
    ['failed', '30007', 'Message filtered (Twilio error 30007)'],
    ['failed', '99999', 'Twilio could not deliver the message (Twilio error 99999)'],
  ])('%s: it failed, with words for %s', async (status, ErrorCode, error) => {
    const { message, sms } = await sent()
    await twilio.report(sms, status, { ErrorCode })
    expect(await isNow(message.id, 'failed')).toMatchObject({ error })
  })

  test('reports out of order and twice never lead back', async () => {
    const { message, sms } = await sent()
    await twilio.report(sms, 'delivered')
    for (const late of ['sent', 'queued', 'delivered', 'undelivered']) await twilio.report(sms, late, { ErrorCode: '30003' })
    expect(await isNow(message.id, 'sent')).toMatchObject({ error: null })
    const second = await sent()
    await twilio.report(second.sms, 'sent')
    await twilio.report(second.sms, 'undelivered', { ErrorCode: '30005' })
    for (const late of ['sent', 'delivered']) await twilio.report(second.sms, late)
    expect(await isNow(second.message.id, 'failed')).toMatchObject({ error: 'Unknown destination handset (Twilio error 30005)' })
  })

  test('a report on what is no message of ours changes nothing', async () => {
    const { sms } = await sent()
    const unknown = { ...sms, sid: 'SMunknown', to: '+15550000000' }
    expect((await twilio.report(unknown, 'failed')).status).toBe(200)
    expect((await twilio.report({ ...unknown, statusCallback: `${sms.statusCallback}x` }, 'failed')).status).toBe(200)
  })

  test('to several: each has its own report, and the message is what becomes of all', async () => {
    const { body: message } = await send({ channel: 'sms', to: [ANN, '+15551110000'], text: 'hello all' })
    const ofAll = () => twilio.sent.filter(({ body }) => body === 'hello all')
    const [one, two] = await until(() => ofAll().length === 2 && ofAll().sort((a, b) => (a.to < b.to ? 1 : -1)))
    await twilio.report(one!, 'sent')
    expect((await agent.api('GET', `${path()}/messages/${message.id}`)).body.status).toBe('sending')
    await twilio.report(two!, 'undelivered', { ErrorCode: '30006' })
    expect(await isNow(message.id, 'failed')).toMatchObject({ error: '+15551110000: Landline or unreachable carrier (Twilio error 30006)' })
  })

  test.each([
    ['a text over 1,600 characters', { to: [ANN], text: 'x'.repeat(1_601) }, /text: must be at most 1600 characters/],
    ['a copy', { to: [ANN], cc: [ANN], text: 'x' }, /no copies/],
    ['a number without its country', { to: ['5551234567'], text: 'x' }, /to\[0\]: must be a phone number/],
  ])('%s is refused', async (_, body, says) => {
    expectFailure(await send({ channel: 'sms', ...body }), 'invalid_input', says)
  })

  test('as many as 60 a minute', async () => {
    clock.advance(60_000)
    const answers = []
    for (let n = 0; n < 61; n++) answers.push(await send({ channel: 'sms', to: [ANN], text: `${n}` }))
    expectFailure(answers.at(-1)!, 'rate_limited')
    expect(answers.slice(0, 60).every(({ status }) => status === 201)).toBe(true)
    await until(() => twilio.sent.some(({ body }) => body === '59'))
    clock.advance(60_000)
  })
})

test('a report that never comes is asked for: after 10 minutes, and again while it is on its way', async () => {
  // What the tests before it have left on its way is not asked for.
  await service.db.pool.query(`update recipient set status = 'sent' where status = 'sending'`)
  const { message, sms } = await sent('lost report')
  const settled = () => service.db.prisma.recipient.findFirst({ where: { messageId: message.id, providerId: sms.sid } })
  await until(settled)
  const asked = () =>
    twilio.requests.filter((line) => line.endsWith(`GET /2010-04-01/Accounts/${twilio.accountSid}/Messages/${sms.sid}.json`))
  // Rows are stamped by the real clock, and asked about by this one.
  const overdue = async () => {
    await service.db.pool.query('update recipient set updated_at = $1 where message_id = $2', [
      new Date(clock.now().getTime() - 601_000),
      message.id,
    ])
    clock.advance(601_000)
  }
  await overdue()
  await until(() => asked().length === 1)
  sms.status = 'delivered'
  await until(async () => {
    await overdue()
    return (await agent.api('GET', `${path()}/messages/${message.id}`)).body.status === 'sent'
  })
  const lost = await sent('lost message')
  await until(() => service.db.prisma.recipient.findFirst({ where: { messageId: lost.message.id, providerId: lost.sms.sid } }))
  twilio.sent.splice(twilio.sent.indexOf(lost.sms), 1)
  await service.db.pool.query('update recipient set updated_at = $1 where message_id = $2', [
    new Date(clock.now().getTime() - 1_200_000),
    lost.message.id,
  ])
  clock.advance(601_000)
  expect(await isNow(lost.message.id, 'failed')).toMatchObject({ error: expect.stringMatching(/not found \(Twilio error 20404\)/) })
})

describe('when Twilio does not take it', () => {
  const instead = (answer: (typeof twilio.insteads)[number]['answer'] | null) => {
    twilio.insteads.length = 0
    if (answer) twilio.insteads.push({ pattern: /Messages\.json/, answer })
  }
  const calls = () => twilio.requests.filter((line) => line.includes('Messages.json')).length
  const attempted = async () => {
    const before = calls()
    const text = `try ${++count}`
    const { body } = await send({ channel: 'sms', to: [ANN], text })
    return { id: body.id as string, text, calls: () => calls() - before }
  }

  test.each([
    ['21211', 400, "The 'To' number +1555 is not a valid phone number."],
    ['20003', 401, 'Authenticate'],
  ])('error %s (%i): failed at once, in its words', async (code, status, message) => {
    instead({ status, body: JSON.stringify({ code: Number(code), message, status }) })
    const { id, calls } = await attempted()
    expect(await isNow(id, 'failed')).toMatchObject({ error: `${message} (Twilio error ${code})` })
    expect(calls()).toBe(1)
    instead(null)
  })

  test.each([
    ['429', { status: 429, body: '{"code":20429,"message":"Too Many Requests"}' }],
    ['500', { status: 500, body: 'Internal Server Error' }],
    ['503 with HTML', { status: 503, body: '<html>' }],
    ['200 with garbage', { status: 200, body: '{"sid": ' }],
    ['200 with an answer that is none', { status: 200, body: '[]' }],
    ['201 without an id', { status: 201, body: '{}' }],
    ['a redirect', { status: 302, body: '' }],
  ] as const)('%s: tried again until it is taken', async (_, answer) => {
    instead(answer)
    const { id, text, calls } = await attempted()
    await until(() => calls() >= 1)
    instead(null)
    const sms = await until(() => {
      clock.advance(61_000)
      return twilio.sent.find(({ body }) => body === text)
    })
    await twilio.report(sms, 'delivered')
    await isNow(id, 'sent')
  })

  test('after a day it is given up, with the last words', async () => {
    instead({ status: 503, body: '{"code":20503,"message":"Service unavailable"}' })
    const { id } = await attempted()
    const failed = until(async () => {
      clock.advance(3_600_000)
      const { body } = await agent.api('GET', `${path()}/messages/${id}`)
      return body.status === 'failed' && body
    })
    expect(await failed).toMatchObject({ error: 'Service unavailable (Twilio error 20503)' })
    instead(null)
  })
})

describe('STOP, START and HELP', () => {
  const BO = '+15553330000'

  test('STOP wakes nobody, and closes the pair until START: a send fails without a call', async () => {
    const heard = (await events()).length
    await text('Stop.', {}, BO)
    expect(await newest()).toMatchObject({ text: 'Stop.', status: 'received', checks: [{}, { name: 'keyword', verdict: 'stop' }, {}] })
    expect(await events()).toHaveLength(heard)
    const calls = twilio.requests.length
    const { body: closed } = await send({ channel: 'sms', to: [BO], text: 'hello?' })
    expect(await isNow(closed.id, 'failed')).toMatchObject({ error: expect.stringMatching(/has opted out of messages from \+15005550101/) })
    expect(twilio.requests).toHaveLength(calls)
    await sent('hello', ANN) // the pair is closed, nobody else is
    await text('START', {}, BO)
    expect(await events()).toHaveLength(heard)
    await sent('hello again', BO)
  })

  test('START of one message that comes again later does not undo a STOP after it', async () => {
    await text('START', { MessageSid: 'SMstart' }, BO)
    await text('STOP', {}, BO)
    await text('START', { MessageSid: 'SMstart' }, BO)
    const { body: closed } = await send({ channel: 'sms', to: [BO], text: 'hello?' })
    await isNow(closed.id, 'failed')
  })

  test('YES opens the pair for who had stopped it, and is an answer from anybody else', async () => {
    const heard = (await events()).length
    await text('yes', {}, BO)
    expect(await events()).toHaveLength(heard)
    await sent('welcome back', BO)
    await text('yes', {}, BO)
    expect(await events()).toHaveLength(heard + 1)
  })

  test('HELP wakes nobody, and closes nothing', async () => {
    const heard = (await events()).length
    await text('help', {}, BO)
    expect((await newest()).checks).toContainEqual(expect.objectContaining({ name: 'keyword', verdict: 'help' }))
    expect(await events()).toHaveLength(heard)
    await sent('hi', BO)
  })

  test('a STOP that only Twilio knows of (21610) is remembered', async () => {
    const to = '+15554440000'
    twilio.insteads.push({
      pattern: /Messages\.json/,
      answer: { status: 400, body: JSON.stringify({ code: 21610, message: 'Attempt to send to unsubscribed recipient', status: 400 }) },
    })
    const { body: first } = await send({ channel: 'sms', to: [to], text: 'hello?' })
    await isNow(first.id, 'failed')
    twilio.insteads.length = 0
    const calls = twilio.requests.length
    const { body: second } = await send({ channel: 'sms', to: [to], text: 'hello?' })
    expect(await isNow(second.id, 'failed')).toMatchObject({ error: expect.stringMatching(/opted out/) })
    expect(twilio.requests).toHaveLength(calls)
  })
})

test('the credentials are in no log and no answer', async () => {
  const all = log.text() + JSON.stringify(await messages()) + JSON.stringify(await events())
  expect(all).toContain('message out')
  for (const credential of [twilio.authToken, Buffer.from(`${twilio.accountSid}:${twilio.authToken}`).toString('base64')])
    expect(all).not.toContain(credential)
})
