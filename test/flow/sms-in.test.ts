import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { expectFailure } from '../support/failure.ts'
import { ANN, OURS, useSms } from '../support/sms-world.ts'
import { until } from '../support/until.ts'

const world = useSms()
const { path, messages, newest, events, send, text, isNow, sent } = world

describe('an incoming text', () => {
  test('is stored and raises an event, and the response to Twilio is empty', async () => {
    const before = (await events()).length
    const answer = await text('Where is my order? 🚚')
    expect({ status: answer.status, type: answer.headers.get('content-type') }).toEqual({
      status: 200,
      type: 'text/xml',
    })
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
      checks: [
        { name: 'signature', verdict: 'pass' },
        {
          name: 'caller_id',
          verdict: 'unverified',
          detail: expect.stringContaining('weaker evidence than DKIM'),
        },
        { name: 'admission' },
      ],
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
  ])('%s gets 403, is not stored, and is counted', async (_, headers: Record<string, string>) => {
    const before = (await messages()).length
    const counted = async () =>
      Number(
        /ams_callbacks_total{outcome="refused"} (\d+)/.exec(
          (await world.owner.api('GET', '/metrics')).text,
        )?.[1] ?? 0,
      )
    const refused = await counted()
    for (const place of ['messages', 'status', 'status/0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b']) {
      const response = await fetch(`${world.service.http}/channels/sms/${place}`, {
        method: 'POST',
        body: new URLSearchParams({
          MessageSid: 'SMforged',
          From: ANN,
          To: OURS,
          Body: 'forged',
          MessageStatus: 'failed',
        }),
        headers,
      })
      expect(response.status).toBe(403)
      expect(await response.json()).toEqual({ error: { code: 'forbidden', message: expect.any(String) } })
    }
    expect(await counted()).toBe(refused + 3)
    await text('a positive')
    expect(await messages()).toHaveLength(before + 1)
  })

  test('that is delivered twice, even concurrently, is stored once', async () => {
    const before = (await messages()).length
    const answers = await Promise.all(Array.from({ length: 5 }, () => text('once', { MessageSid: 'SMonce' })))
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200))
    await text('once', { MessageSid: 'SManother' })
    expect((await messages()).slice(0, -before)).toHaveLength(2)
  })

  test('with characters that cannot be stored is stored with replacements, and one to an unknown number is dropped', async () => {
    expect((await text('a\0b')).status).toBe(200)
    expect(await newest()).toMatchObject({ text: 'a\ufffdb' })
    const before = (await messages()).length
    const post = (fields: Record<string, string>) =>
      world.twilio.post(world.twilio.numbers.get(OURS)!.smsUrl, fields)
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
  ])('from %s is accepted, and can be replied to only if that is a number', async (from, counterpart) => {
    await text('Your code is 1', {}, from)
    const message = await newest()
    expect(message).toMatchObject({ counterpart, status: 'received' })
    const answer = await send({ replyTo: message.id, text: 'thanks' })
    if (from === '72345') expect(answer.status).toBe(201)
    else expectFailure(answer, 'invalid_input', /^replyTo: a sender name can't receive messages/)
  })

  test('is subject to the same access rules as email', async () => {
    const put = (access: object) => world.agent.api('PUT', `${path()}/access/sms`, access)
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
    await world.service.db.prisma.memberIdentity.create({
      data: { memberId: world.owner.member, channel: 'sms', value: ANN },
    })
    await text('the owner')
    expect(await newest()).toMatchObject({ status: 'received', admission: 'team' })
    expect((await events()).at(-1).sender).toMatchObject({
      kind: 'member',
      id: world.owner.member,
      phone: ANN,
    })
    await put({ admit: 'anyone', senders: [] })
    await text('from itself', {}, OURS)
    expect(await newest()).toMatchObject({ status: 'refused', refusal: 'self' })
  })

  test('is refused if it is more than the 30th from one sender in a minute', async () => {
    world.clock.advance(60_000)
    const from = '+15557770000'
    for (let n = 0; n < 31; n++) await text(`${n}`, {}, from)
    expect(await newest()).toMatchObject({ text: '30', refusal: 'rate_limit' })
    expect((await messages())[1]).toMatchObject({ text: '29', status: 'received' })
  })
})

describe('files in a text', () => {
  const bytes = Buffer.from('not really a picture')

  test('are downloaded with the account’s credentials and stored, even if the text is empty', async () => {
    const [one, two] = [
      world.twilio.hold(bytes, 'image/jpeg'),
      world.twilio.hold(Buffer.from('BEGIN:VCARD'), 'text/vcard'),
    ]
    await text('', {
      NumMedia: '2',
      MediaUrl0: one,
      MediaContentType0: 'image/jpeg',
      MediaUrl1: two,
      MediaContentType1: 'text/vcard',
    })
    const message = await newest()
    expect(message).toMatchObject({
      text: '',
      attachments: [
        { name: 'media-1.jpg', type: 'image/jpeg', size: bytes.length },
        { name: 'media-2.vcf', type: 'text/vcard' },
      ],
    })
    const file = await world.agent.api('GET', `${path()}/messages/${message.id}/attachments/0`)
    expect(file.text).toBe(bytes.toString())
    const forwarded = await send({ forward: message.id, to: ['+15551110000'], text: 'look' })
    const sms = await until(() => world.twilio.sent.find(({ to }) => to === '+15551110000'))
    expect(forwarded.status).toBe(201)
    expect(await Promise.all(sms.mediaUrls.map(async (url) => (await fetch(url)).text()))).toEqual([
      bytes.toString(),
      'BEGIN:VCARD',
    ])
  })

  test.each([
    ['at another host', 'http://127.0.0.1:9/secret', /not at Twilio/],
    ['in the internal network', 'http://169.254.169.254/latest/meta-data', /not at Twilio/],
    ['without a URL', 'no url', /Invalid URL/],
    ['that no longer exist', '/2010-04-01/Accounts/ACx/Media/MEgone', /HTTP 404/],
  ])('%s are left out, and the checks of the message explain that', async (_, url, says) => {
    await text('look', { NumMedia: '1', MediaUrl0: url.startsWith('/') ? world.twilio.url + url : url })
    const { attachments, checks, status } = await newest()
    expect({ attachments, status }).toEqual({ attachments: [], status: 'received' })
    expect(checks).toContainEqual({ name: 'media', verdict: 'missing', detail: expect.stringMatching(says) })
  })

  test.each(['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433'])(
    'are not fetched through a redirect to https://%s',
    async (host) => {
      let calls = 0
      const inside = createServer(() => calls++)
      await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve))
      const location = `https://${host}:${(inside.address() as AddressInfo).port}/secret`
      world.twilio.insteads.push({ pattern: /Media\/MEinside/, answer: { status: 307, body: '', location } })
      await text('look', { NumMedia: '1', MediaUrl0: `${world.twilio.url}/Media/MEinside` })
      world.twilio.insteads.length = 0
      inside.close()
      const detail = 'file 1 of 1: it is not on the public internet'
      expect((await newest()).checks).toContainEqual({ name: 'media', verdict: 'missing', detail })
      expect(calls).toBe(0)
    },
  )

  test('that are too large are left out', async () => {
    const large = world.twilio.hold(Buffer.alloc(10 * 1024 * 1024 + 1), 'video/mp4')
    await text('look', { NumMedia: '1', MediaUrl0: large })
    expect((await newest()).checks).toContainEqual(
      expect.objectContaining({ name: 'media', detail: expect.stringMatching(/larger than/) }),
    )
  })
})

describe('keywords', () => {
  const BO = '+15553330000'

  test('STOP raises no event and blocks messages to its sender until START, without calling Twilio', async () => {
    const before = (await events()).length
    await text('Stop.', {}, BO)
    expect(await newest()).toMatchObject({
      text: 'Stop.',
      status: 'received',
      checks: [{}, {}, { name: 'keyword', verdict: 'stop' }, {}],
    })
    expect(await events()).toHaveLength(before)
    const calls = world.twilio.requests.length
    const { body: closed } = await send({ channel: 'sms', to: [BO], text: 'hello?' })
    expect(await isNow(closed.id, 'failed')).toMatchObject({
      error: expect.stringMatching(/has opted out of messages from \+15005550101/),
    })
    expect(world.twilio.requests).toHaveLength(calls)
    await sent('hello', ANN) // only this pair of numbers is blocked
    await text('START', {}, BO)
    expect(await events()).toHaveLength(before)
    await sent('hello again', BO)
  })

  test('a START that is delivered again does not undo a later STOP', async () => {
    await text('START', { MessageSid: 'SMstart' }, BO)
    await text('STOP', {}, BO)
    await text('START', { MessageSid: 'SMstart' }, BO)
    const { body: closed } = await send({ channel: 'sms', to: [BO], text: 'hello?' })
    await isNow(closed.id, 'failed')
  })

  test('YES unblocks a sender that had sent STOP, and is an ordinary answer from any other', async () => {
    const before = (await events()).length
    await text('yes', {}, BO)
    expect(await events()).toHaveLength(before)
    await sent('welcome back', BO)
    await text('yes', {}, BO)
    expect(await events()).toHaveLength(before + 1)
  })

  test('HELP raises no event and blocks nothing', async () => {
    const before = (await events()).length
    await text('help', {}, BO)
    expect((await newest()).checks).toContainEqual(
      expect.objectContaining({ name: 'keyword', verdict: 'help' }),
    )
    expect(await events()).toHaveLength(before)
    await sent('hi', BO)
  })

  test('a STOP that only Twilio has recorded (error 21610) is stored', async () => {
    const to = '+15554440000'
    world.twilio.insteads.push({
      pattern: /Messages\.json/,
      answer: {
        status: 400,
        body: JSON.stringify({
          code: 21610,
          message: 'Attempt to send to unsubscribed recipient',
          status: 400,
        }),
      },
    })
    const { body: first } = await send({ channel: 'sms', to: [to], text: 'hello?' })
    await isNow(first.id, 'failed')
    world.twilio.insteads.length = 0
    const calls = world.twilio.requests.length
    const { body: second } = await send({ channel: 'sms', to: [to], text: 'hello?' })
    expect(await isNow(second.id, 'failed')).toMatchObject({ error: expect.stringMatching(/opted out/) })
    expect(world.twilio.requests).toHaveLength(calls)
  })
})

test('the credentials are not in the log, in messages or in events', async () => {
  const all = world.log.text() + JSON.stringify(await messages()) + JSON.stringify(await events())
  expect(all).toContain('outgoing message sent')
  for (const credential of [
    world.twilio.authToken,
    Buffer.from(`${world.twilio.accountSid}:${world.twilio.authToken}`).toString('base64'),
  ])
    expect(all).not.toContain(credential)
})
