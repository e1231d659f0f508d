import { describe, expect, test } from 'vitest'
import { checkOutgoingFiles } from '../../src/channel/sms/outgoing-files.ts'
import { expectFailure } from '../support/failure.ts'
import { ANN, OURS, useSms } from '../support/sms-world.ts'
import { until } from '../support/until.ts'

const world = useSms()
const { path, messages, newest, send, text, isNow, sent } = world

describe('an outgoing text', () => {
  test('goes to Twilio and stays in “sending” until Twilio reports it as sent', async () => {
    const { message, sms } = await sent('Hello Ann')
    expect(message).toMatchObject({
      channel: 'sms',
      status: 'sending',
      counterpart: ANN,
      subject: null,
      segments: 1,
    })
    expect(sms).toMatchObject({ from: OURS, to: ANN, body: expect.stringMatching(/^Hello Ann/) })
    for (const status of ['queued', 'sending', 'nonsense'])
      expect((await world.twilio.report(sms, status)).status).toBe(200)
    expect((await world.agent.api('GET', `${path()}/messages/${message.id}`)).body.status).toBe('sending')
    await world.twilio.report(sms, 'sent')
    expect(await isNow(message.id, 'sent')).toMatchObject({ error: null })
  })

  test('cannot be HTML', async () => {
    const answer = await send({ channel: 'sms', to: [ANN], html: '<p>Hello</p>' })
    expectFailure(answer, 'invalid_input', 'html: the sms channel does not support HTML')
  })

  test('in reply to a text goes to its sender, from the number that received it, in one thread', async () => {
    await text('a question')
    const question = await newest()
    const { body: answer } = await send({ replyTo: question.id, text: 'an answer' })
    await text('and another')
    const more = await newest()
    const thread = (await messages(`&thread=${question.id}`)).map(({ id }: { id: string }) => id)
    expect(thread).toEqual(expect.arrayContaining([answer.id, more.id]))
    expect(answer).toMatchObject({ counterpart: ANN, thread: null })
    const { message: started } = await sent('by the way')
    expect((await messages(`&thread=${question.id}`)).map(({ id }: { id: string }) => id)).toContain(
      started.id,
    )
    const { message: other } = await sent('hello', '+15551110000')
    expect((await messages(`&thread=${question.id}`)).map(({ id }: { id: string }) => id)).not.toContain(
      other.id,
    )
  })

  test.each([
    ['undelivered', '30003', 'Unreachable destination handset (Twilio error 30003)'],
    ['failed', '30007', 'Message filtered (Twilio error 30007)'],
    ['failed', '99999', 'Twilio could not deliver the message (Twilio error 99999)'],
  ])(
    'that Twilio reports as %s with error %s fails with an explanation',
    async (status, ErrorCode, error) => {
      const { message, sms } = await sent()
      await world.twilio.report(sms, status, { ErrorCode })
      expect(await isNow(message.id, 'failed')).toMatchObject({ error })
    },
  )

  test('keeps its final status when reports arrive late or twice', async () => {
    const { message, sms } = await sent()
    await world.twilio.report(sms, 'delivered')
    for (const late of ['sent', 'queued', 'delivered', 'undelivered'])
      await world.twilio.report(sms, late, { ErrorCode: '30003' })
    expect(await isNow(message.id, 'sent')).toMatchObject({ error: null })
    const second = await sent()
    await world.twilio.report(second.sms, 'sent')
    await world.twilio.report(second.sms, 'undelivered', { ErrorCode: '30005' })
    for (const late of ['sent', 'delivered']) await world.twilio.report(second.sms, late)
    expect(await isNow(second.message.id, 'failed')).toMatchObject({
      error: 'Unknown destination handset (Twilio error 30005)',
    })
  })

  test('is not affected by a report on an unknown message', async () => {
    const { sms } = await sent()
    const unknown = { ...sms, sid: 'SMunknown', to: '+15550000000' }
    expect((await world.twilio.report(unknown, 'failed')).status).toBe(200)
    expect(
      (await world.twilio.report({ ...unknown, statusCallback: `${sms.statusCallback}x` }, 'failed')).status,
    ).toBe(200)
  })

  test('to several recipients has a report for each, and its status follows from all of them', async () => {
    const { body: message } = await send({ channel: 'sms', to: [ANN, '+15551110000'], text: 'hello all' })
    const ofAll = () => world.twilio.sent.filter(({ body }) => body === 'hello all')
    const [one, two] = await until(
      () => ofAll().length === 2 && ofAll().sort((a, b) => (a.to < b.to ? 1 : -1)),
    )
    await world.twilio.report(one!, 'sent')
    expect((await world.agent.api('GET', `${path()}/messages/${message.id}`)).body.status).toBe('sending')
    await world.twilio.report(two!, 'undelivered', { ErrorCode: '30006' })
    expect(await isNow(message.id, 'failed')).toMatchObject({
      error: '+15551110000: Landline or unreachable carrier (Twilio error 30006)',
    })
  })

  test.each([
    [
      'more than 1,600 characters',
      { to: [ANN], text: 'x'.repeat(1_601) },
      /text: must be at most 1600 characters/,
    ],
    ['a Cc recipient', { to: [ANN], cc: [ANN], text: 'x' }, /does not support Cc/],
    ['a number without a country code', { to: ['5551234567'], text: 'x' }, /to\[0\]: must be a phone number/],
  ])('is refused if it has %s', async (_, body, says) => {
    expectFailure(await send({ channel: 'sms', ...body }), 'invalid_input', says)
  })

  test('is limited to 60 a minute', async () => {
    world.clock.advance(60_000)
    const answers = []
    for (let n = 0; n < 61; n++) answers.push(await send({ channel: 'sms', to: [ANN], text: `${n}` }))
    expectFailure(answers.at(-1)!, 'rate_limited')
    expect(answers.slice(0, 60).every(({ status }) => status === 201)).toBe(true)
    await until(() => world.twilio.sent.some(({ body }) => body === '59'))
    world.clock.advance(60_000)
  })
})

test('a missing report is requested from Twilio after 10 minutes, and again until it is final', async () => {
  // Messages that earlier tests left in transit must not be requested.
  await world.service.db.pool.query(`update recipient set status = 'sent' where status = 'sending'`)
  const { message, sms } = await sent('lost report')
  const settled = () =>
    world.service.db.prisma.recipient.findFirst({ where: { messageId: message.id, providerId: sms.sid } })
  await until(settled)
  const statusRequests = () =>
    world.twilio.requests.filter((line) =>
      line.endsWith(`GET /2010-04-01/Accounts/${world.twilio.accountSid}/Messages/${sms.sid}.json`),
    )
  // Rows have timestamps of the real clock, but the worker compares them with the fake one.
  const overdue = async () => {
    await world.service.db.pool.query('update recipient set updated_at = $1 where message_id = $2', [
      new Date(world.clock.now().getTime() - 601_000),
      message.id,
    ])
    world.clock.advance(601_000)
  }
  await overdue()
  await until(() => statusRequests().length === 1)
  sms.status = 'delivered'
  await until(async () => {
    await overdue()
    return (await world.agent.api('GET', `${path()}/messages/${message.id}`)).body.status === 'sent'
  })
  const lost = await sent('lost message')
  await until(() =>
    world.service.db.prisma.recipient.findFirst({
      where: { messageId: lost.message.id, providerId: lost.sms.sid },
    }),
  )
  world.twilio.sent.splice(world.twilio.sent.indexOf(lost.sms), 1)
  await world.service.db.pool.query('update recipient set updated_at = $1 where message_id = $2', [
    new Date(world.clock.now().getTime() - 1_200_000),
    lost.message.id,
  ])
  world.clock.advance(601_000)
  expect(await isNow(lost.message.id, 'failed')).toMatchObject({
    error: expect.stringMatching(/not found \(Twilio error 20404\)/),
  })
})

describe('when Twilio does not accept a text', () => {
  let count = 0
  const instead = (answer: (typeof world.twilio.insteads)[number]['answer'] | null) => {
    world.twilio.insteads.length = 0
    if (answer) world.twilio.insteads.push({ pattern: /Messages\.json/, answer })
  }
  const calls = () => world.twilio.requests.filter((line) => line.includes('Messages.json')).length
  const attempted = async () => {
    const before = calls()
    const text = `try ${++count}`
    const { body } = await send({ channel: 'sms', to: [ANN], text })
    return { id: body.id as string, text, calls: () => calls() - before }
  }

  test.each([
    ['21211', 400, "The 'To' number +1555 is not a valid phone number."],
    ['20003', 401, 'Authenticate'],
  ])(
    'error %s with status %i fails it after one call, with Twilio’s message',
    async (code, status, message) => {
      instead({ status, body: JSON.stringify({ code: Number(code), message, status }) })
      const { id, calls } = await attempted()
      expect(await isNow(id, 'failed')).toMatchObject({ error: `${message} (Twilio error ${code})` })
      expect(calls()).toBe(1)
      instead(null)
    },
  )

  test.each([
    ['429', { status: 429, body: '{"code":20429,"message":"Too Many Requests"}' }],
    ['500', { status: 500, body: 'Internal Server Error' }],
    ['503 with HTML', { status: 503, body: '<html>' }],
    ['200 with garbage', { status: 200, body: '{"sid": ' }],
    ['200 with an unexpected body', { status: 200, body: '[]' }],
    ['201 without an ID', { status: 201, body: '{}' }],
    ['a redirect', { status: 302, body: '' }],
  ] as const)('a response of %s is retried until it is accepted', async (_, answer) => {
    instead(answer)
    const { id, text, calls } = await attempted()
    await until(() => calls() >= 1)
    instead(null)
    const sms = await until(() => {
      world.clock.advance(61_000)
      return world.twilio.sent.find(({ body }) => body === text)
    })
    await world.twilio.report(sms, 'delivered')
    await isNow(id, 'sent')
  })

  test('and its recipient texts STOP before the next attempt, it fails without another call', async () => {
    instead({ status: 503, body: '' })
    const { id, calls } = await attempted()
    await until(
      async () =>
        (await world.service.db.prisma.job.findFirstOrThrow({ where: { lane: id } })).attempts === 1,
    )
    instead(null)
    await world.text('STOP')
    const { error } = await until(async () => {
      world.clock.advance(61_000)
      const { body } = await world.agent.api('GET', `${path()}/messages/${id}`)
      return body.status !== 'sending' && body
    })
    expect(error).toMatch(/opted out/)
    expect(calls()).toBe(1)
    await world.text('START')
  })

  test('it fails after a day with the last error', async () => {
    instead({ status: 503, body: '{"code":20503,"message":"Service unavailable"}' })
    const { id } = await attempted()
    const failed = until(async () => {
      world.clock.advance(3_600_000)
      const { body } = await world.agent.api('GET', `${path()}/messages/${id}`)
      return body.status === 'failed' && body
    })
    expect(await failed).toMatchObject({ error: 'Service unavailable (Twilio error 20503)' })
    instead(null)
  })
})

describe('outgoing files', () => {
  const file = (content: Buffer, name = 'photo.jpg') => ({
    name,
    type: 'image/jpeg',
    content: content.toString('base64'),
  })
  const sendFiles = (attachments: object[]) =>
    send({ channel: 'sms', to: [ANN], text: 'see the files', attachments })

  test('are fetched by Twilio with links that need no token and expire', async () => {
    const bytes = Buffer.from([0xff, 0xd8, 0xff, 0xe0])
    const { body: message } = await sendFiles([file(bytes), file(Buffer.from('second'), 'two.jpg')])
    const { mediaUrls } = await until(() => world.twilio.sent.find(({ body }) => body === 'see the files'))
    expect(message.attachments).toHaveLength(2)
    const [first, second] = await Promise.all(mediaUrls.map((url) => fetch(url)))
    expect(Buffer.from(await first!.arrayBuffer())).toEqual(bytes)
    expect(first!.headers.get('content-type')).toBe('image/jpeg')
    expect(await second!.text()).toBe('second')
    world.clock.advance(11 * 3_600_000)
    expect((await fetch(mediaUrls[0]!)).status).toBe(404)
  })

  test('are refused if Twilio would not take them', async () => {
    const many = Array.from({ length: 11 }, () => file(Buffer.from('x')))
    expectFailure(await sendFiles(many), 'invalid_input', /^attachments: must be at most 10 files/)
    const large = [file(Buffer.alloc(3 * 1024 * 1024)), file(Buffer.alloc(2 * 1024 * 1024 + 1))]
    expectFailure(await sendFiles(large), 'invalid_input', /^attachments: must be at most 5242880 bytes/)
  })

  test('need an https URL that Twilio can fetch them from', () => {
    const files = [{ name: 'a', type: 'image/png', content: Buffer.from('x') }]
    const check = (apiUrl: string, publicUrl: string) => () =>
      checkOutgoingFiles(files, { apiUrl, publicUrl })
    expect(check('https://api.twilio.com', 'http://localhost:4000')).toThrow(
      /only if PUBLIC_URL is an https URL/,
    )
    expect(check('https://api.twilio.com', 'https://messages.example.com')).not.toThrow()
    expect(check('http://127.0.0.1:9', 'http://localhost:4000')).not.toThrow()
  })
})
