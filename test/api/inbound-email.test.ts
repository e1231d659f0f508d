import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { fakeResolver } from '../support/dns.ts'
import { MAIL_SERVER, proves } from '../support/domain.ts'
import { expectFailure } from '../support/failure.ts'
import { type Handed, handOver, SECRET, signedHeaders } from '../support/inbound-http.ts'
import { newest } from '../support/letter.ts'
import { createTestLog } from '../support/log.ts'
import { rawHttp, rawHttpInTurn } from '../support/raw-http.ts'
import {
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** `POST /inbound/email`: mail from an edge worker or another mail server. */

const OLD_SECRET = 'the-one-before-it-was-rotated'
const log = createTestLog()
let clock: FakeClock
let service: TestService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  clock = createFakeClock()
  service = await startService({
    environment: { INBOUND_SECRET: `${SECRET},${OLD_SECRET}` },
    log,
    world: { clock, resolver: fakeResolver(proves('example.com')) },
  })
  owner = await service.workspace('Acme', 'owner@example.com')
  agent = await createTestAgent(service, owner)
})

const now = () => Math.floor(clock.now().getTime() / 1000)
const rawOf = (subject: string, more = '') =>
  `From: Ann <owner@example.com>\r\nTo: ${agent.address}\r\nSubject: ${subject}\r\nMessage-ID: <${randomUUID()}@example.com>\r\n${more}\r\nhello\r\n`
const letter = (more: Partial<Handed> = {}): Handed => ({
  raw: rawOf('Hi'),
  from: 'owner@example.com',
  to: agent.address,
  timestamp: now(),
  ...more,
})
const hand = (more: Partial<Handed> = {}, secret?: string) => handOver(service.http, letter(more), secret)
const stored = () => service.db.prisma.message.count()

test('a signed message is stored before the response, with the same checks as over SMTP', async () => {
  const raw = rawOf('By HTTP')
  const answer = await hand({ raw, remoteIp: MAIL_SERVER, helo: 'mail.example.com' })
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: 200,
    body: { accepted: [agent.address], rejected: [] },
  })
  const [message] = await newest(agent)
  expect(message).toMatchObject({
    subject: 'By HTTP',
    status: 'received',
    admission: 'team',
    counterpart: 'owner@example.com',
  })
  expect(message.checks).toContainEqual(expect.objectContaining({ name: 'spf', verdict: 'pass' }))
  expect((await agent.api('GET', `/agents/${agent.id}/messages/${message.id}/raw`)).text).toBe(raw)
  expect((await agent.api('GET', `/agents/${agent.id}/events?after=0`)).body.items.at(-1).messageId).toBe(
    message.id,
  )
})

test('without a remote IP the sender is unverified, even with an Authentication-Results header', async () => {
  const raw = rawOf('Claims', 'Authentication-Results: agents.localhost; spf=pass; dmarc=pass\r\n')
  expect((await hand({ raw })).status).toBe(200)
  expect((await newest(agent))[0]).toMatchObject({
    subject: 'Claims',
    status: 'refused',
    refusal: 'unverified',
  })
})

describe('recipients', () => {
  test('in any notation are recognized, and each agent gets the message once', async () => {
    const other = await createTestAgent(service, owner, 'Other')
    const [local, domain] = agent.address.split('@')
    const to = [`<${agent.address}>, ${local}+tag@${domain}`, `${other.address.toUpperCase()}`]
    const answer = await hand({ to, remoteIp: MAIL_SERVER })
    expect(answer.body).toEqual({ accepted: [agent.address, other.address], rejected: [] })
    expect(await newest(other)).toHaveLength(1)
  })

  test('that are unknown are returned as rejected, and the others get the message', async () => {
    const answer = await hand({ to: `nobody@agents.localhost, ${agent.address}, x@elsewhere.example` })
    expect(answer).toMatchObject({
      status: 200,
      body: { accepted: [agent.address], rejected: ['nobody@agents.localhost', 'x@elsewhere.example'] },
    })
  })

  test.each(['nobody@agents.localhost', 'x@elsewhere.example', 'no address', '"@"'])(
    'without a known one, such as %s, are not_found, and nothing is stored',
    async (to) => {
      const before = await stored()
      expectFailure(await hand({ to }), 'not_found', /No recipient of this message exists here/)
      expect(await stored()).toBe(before)
    },
  )
})

describe('a repeated request', () => {
  test('creates one message, even with a new signature', async () => {
    const handed = letter({ raw: rawOf('Once') })
    const before = await stored()
    for (let n = 0; n < 3; n++) expect((await handOver(service.http, handed)).status).toBe(200)
    expect((await handOver(service.http, { ...handed, timestamp: now() - 10 })).status).toBe(200)
    expect(await stored()).toBe(before + 1)
  })

  test('without a Message-ID creates one message, but another one with a new signature', async () => {
    const handed = letter({ raw: 'From: ann@example.com\r\n\r\nping\r\n' })
    const before = await stored()
    await Promise.all([1, 2, 3].map(() => handOver(service.http, handed)))
    expect(await stored()).toBe(before + 1)
    await handOver(service.http, { ...handed, timestamp: now() - 1 })
    expect(await stored()).toBe(before + 2)
  })
})

describe('an incorrectly signed request', () => {
  const wrong: [string, () => Partial<Handed>, RegExp][] = [
    ['no signature', () => ({ headers: { 'X-Signature': undefined } }), /X-Signature: must be/],
    ['an empty X-Signature', () => ({ headers: { 'X-Signature': '' } }), /X-Signature: must be/],
    ['a signature that is too short', () => ({ headers: { 'X-Signature': 'ab' } }), /X-Signature: must be/],
    [
      'a signature of something else',
      () => ({ headers: { 'X-Signature': 'a'.repeat(64) } }),
      /does not match/,
    ],
    ['no timestamp', () => ({ headers: { 'X-Timestamp': undefined } }), /X-Timestamp: must be seconds/],
    ['a changed timestamp', () => ({ headers: { 'X-Timestamp': String(now() - 1) } }), /does not match/],
    [
      'a timestamp in milliseconds',
      () => ({ timestamp: clock.now().getTime() }),
      /within 5 minutes|must be seconds/,
    ],
    ['a negative timestamp', () => ({ timestamp: '-1' }), /must be seconds/],
    ['a timestamp more than 5 minutes ago', () => ({ timestamp: now() - 301 }), /within 5 minutes/],
    ['a timestamp more than 5 minutes ahead', () => ({ timestamp: now() + 302 }), /within 5 minutes/],
    [
      'a changed recipient',
      () => ({ headers: { 'X-Envelope-To': 'other@agents.localhost' } }),
      /does not match/,
    ],
    ['a changed sender', () => ({ headers: { 'X-Envelope-From': 'eve@example.com' } }), /does not match/],
    ['a changed remote IP', () => ({ headers: { 'X-Remote-IP': '127.0.0.1' } }), /does not match/],
    ['a changed HELO name', () => ({ headers: { 'X-Helo': 'eve' } }), /does not match/],
  ]
  test.each(wrong)('with %s is refused with 403, and nothing is stored', async (_, more, says) => {
    const before = await stored()
    expectFailure(await hand(more()), 'forbidden', says)
    expect(await stored()).toBe(before)
  })

  test('with a changed body is refused with 403', async () => {
    const handed = letter()
    const headers = { 'X-Signature': undefined }
    const good = await handOver(service.http, handed)
    expect(good.status).toBe(200)
    expectFailure(await handOver(service.http, { ...handed, raw: `${handed.raw} `, headers }), 'forbidden')
  })

  test('with another secret, an empty one, or the whole list of secrets is refused with 403', async () => {
    for (const secret of ['another-secret-of-16', '', `${SECRET},${OLD_SECRET}`])
      expectFailure(await hand({}, secret), 'forbidden', /does not match/)
  })

  test('is counted, and no secret is logged', async () => {
    const { text } = await apiOf(service.http, null)('GET', '/metrics')
    expect(Number(/ams_callbacks_total\{outcome="refused"\} (\d+)/.exec(text)?.[1])).toBeGreaterThan(10)
    expect(log.text()).not.toContain(SECRET)
  })
})

test('the previous secret is accepted while it is configured', async () => {
  expect((await hand({}, OLD_SECRET)).status).toBe(200)
})

test('a timestamp less than 5 minutes off is accepted', async () => {
  for (const timestamp of [now() - 299, now() + 299]) expect((await hand({ timestamp })).status).toBe(200)
})

describe('an envelope signature', () => {
  test('with a digest of the body is accepted, and the message is stored once', async () => {
    const before = await stored()
    const handed = letter({ raw: rawOf('By its digest'), envelope: true, remoteIp: MAIL_SERVER })
    for (let n = 0; n < 2; n++) expect((await handOver(service.http, handed)).status).toBe(200)
    expect(await stored()).toBe(before + 1)
    expect((await newest(agent))[0]).toMatchObject({
      subject: 'By its digest',
      status: 'received',
      admission: 'team',
    })
    expect((await hand({ envelope: true }, OLD_SECRET)).status).toBe(200)
  })

  const digestOf = (raw: string) => `sha-256=:${createHash('sha256').update(raw).digest('base64')}:`
  const wrong: [string, () => Partial<Handed>, RegExp][] = [
    [
      'an empty signature',
      () => ({ headers: { 'X-Envelope-Signature': '' } }),
      /X-Envelope-Signature: must be/,
    ],
    [
      'a signature of something else',
      () => ({ headers: { 'X-Envelope-Signature': 'a'.repeat(64) } }),
      /X-Envelope-Signature: does not match/,
    ],
    ['no digest', () => ({ headers: { 'Content-Digest': undefined } }), /Content-Digest: must be/],
    [
      'a digest of another algorithm',
      () => ({ headers: { 'Content-Digest': 'md5=:AAAA:' } }),
      /Content-Digest: must be/,
    ],
    [
      'the digest of another body',
      () => ({ headers: { 'Content-Digest': digestOf('x') } }),
      /X-Envelope-Signature: does not match/,
    ],
    ['a changed timestamp', () => ({ headers: { 'X-Timestamp': String(now() - 1) } }), /does not match/],
    ['a timestamp more than 5 minutes ago', () => ({ timestamp: now() - 301 }), /within 5 minutes/],
    [
      'a changed recipient',
      () => ({ headers: { 'X-Envelope-To': 'other@agents.localhost' } }),
      /does not match/,
    ],
    ['a changed sender', () => ({ headers: { 'X-Envelope-From': 'eve@example.com' } }), /does not match/],
    ['a changed remote IP', () => ({ headers: { 'X-Remote-IP': '127.0.0.1' } }), /does not match/],
  ]
  test.each(wrong)('with %s is refused with 403, and nothing is stored', async (_, more, says) => {
    const before = await stored()
    expectFailure(await hand({ envelope: true, ...more() }), 'forbidden', says)
    expect(await stored()).toBe(before)
  })

  test('is refused with another body of the same length, or if it is a signature of the older form', async () => {
    const handed = letter({ envelope: true })
    const headers = Object.fromEntries(signedHeaders(handed))
    const raw = String(handed.raw).replace('hello', 'jello')
    const swapped = await fetch(`${service.http}/inbound/email`, { method: 'POST', headers, body: raw })
    expect(await swapped.json()).toMatchObject({
      error: { code: 'forbidden', message: 'Content-Digest: does not match the body' },
    })
    const older = Object.fromEntries(signedHeaders(letter()))['X-Signature']
    expectFailure(await hand({ envelope: true, headers: { 'X-Envelope-Signature': older } }), 'forbidden')
  })

  test('that does not match is refused before the body is received', async () => {
    const handed = letter({ envelope: true, headers: { 'X-Envelope-Signature': 'a'.repeat(64) } })
    const head = signedHeaders(handed).map(([name, value]) => `${name}: ${value}\r\n`)
    const answer = await rawHttp(
      service.http,
      `POST /inbound/email HTTP/1.1\r\nHost: x\r\nContent-Length: 20000000\r\n${head.join('')}\r\n`,
    )
    expect(answer.status).toBe(403)
  })
})

describe('a correctly signed request', () => {
  test.each<[string, Partial<Handed>, RegExp]>([
    ['no recipient', { to: '' }, /^X-Envelope-To: must name a recipient/],
    ['only commas as recipients', { to: ', ,' }, /^X-Envelope-To: must name a recipient/],
    [
      '101 recipients',
      { to: Array.from({ length: 101 }, (_, n) => `a${n}@agents.localhost`).join() },
      /^X-Envelope-To: must name at most 100/,
    ],
    ['a sender with a name', { from: 'Ann <ann@example.com>' }, /^X-Envelope-From: must be one/],
    ['a very long sender', { from: `${'a'.repeat(320)}@example.com` }, /^X-Envelope-From: must be one/],
    [
      'a remote IP that is not an address',
      { remoteIp: 'example.com' },
      /^X-Remote-IP: must be an IP address/,
    ],
    ['an empty body', { raw: '' }, /^body: must be a message/],
  ])('is refused with invalid_input for %s', async (_, more, says) => {
    expectFailure(await hand(more), 'invalid_input', says)
  })

  test('is refused without a sender, but accepted as a bounce with an empty one', async () => {
    expect((await hand({ from: '' })).status).toBe(200)
    expect((await newest(agent))[0]).toMatchObject({ refusal: 'self' })
    const { headers } = await hand({ from: '', headers: { 'X-Envelope-From': undefined } }).then((answer) => {
      expectFailure(answer, 'invalid_input', /^X-Envelope-From: is required/)
      return answer
    })
    expect(headers.get('x-request-id')).toMatch(/./)
  })
})

describe('the size limit', () => {
  /** Builds a long mail, which consists of an attachment. */
  const mailOf = (bytes: number) => {
    const head = rawOf(
      'Large',
      'Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n',
    )
    return Buffer.concat([Buffer.from(head), Buffer.alloc(bytes - head.length, `${'A'.repeat(76)}\r\n`)])
  }

  test('allows slow requests for long mails, which take no place of others', async () => {
    const raw = mailOf(2 * 1024 * 1024)
    const { hostname, port } = new URL(service.http)
    const slow = await Promise.all(
      Array.from({ length: 6 }, async (_, n) => {
        const headers = signedHeaders(letter({ raw, remoteIp: '203.0.113.7', envelope: n % 2 === 0 }))
        const socket = connect(Number(port), hostname)
        const lines = [['Host', 'localhost'], ['Content-Length', String(raw.length)], ...headers]
        const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
        socket.write(`POST /inbound/email HTTP/1.1\r\n${head}\r\n`, 'latin1')
        await new Promise((resolve) => socket.write(raw.subarray(0, -1), resolve))
        return socket
      }),
    )
    for (let n = 0; n < 4; n++)
      expect((await hand({ raw: mailOf(2 * 1024 * 1024), remoteIp: '203.0.113.7' })).status).toBe(200)
    for (const socket of slow) {
      socket.write(raw.subarray(-1))
      expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200/)
      socket.destroy()
    }
  })

  test.each([
    [26 * 1024 * 1024, { status: 413, body: expect.stringContaining('must be at most 26214400 bytes') }],
    [8 * 1024 * 1024, { status: 403, body: expect.stringContaining('X-Signature') }],
  ])(
    'that is refused gets the answer although it reads only once it has sent all %i bytes',
    async (length, answer) => {
      const head = `POST /inbound/email HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`
      expect(await rawHttpInTurn(service.http, head, Buffer.alloc(length, 'x'))).toMatchObject(answer)
    },
  )

  test('is 25 MiB: one byte more is refused with 413, and concurrent mails are accepted', {
    timeout: 60_000,
  }, async () => {
    const limit = 25 * 1024 * 1024
    expect((await hand({ raw: mailOf(limit) })).status).toBe(200)
    const refused = await hand({ raw: mailOf(limit + 1) })
    expectFailure(refused, 'invalid_input', /at most 26214400 bytes/, 413)
    const answers = await Promise.all(Array.from({ length: 4 }, () => hand({ raw: mailOf(2 * 1024 * 1024) })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })
})

test('other methods are refused with 405, and without INBOUND_SECRET every request is refused', async () => {
  const get = await apiOf(service.http, null)('GET', '/inbound/email')
  expect({ status: get.status, allow: get.headers.get('allow') }).toEqual({ status: 405, allow: 'POST' })
  const bare = await service.again({ INBOUND_SECRET: '' })
  expectFailure(await handOver(bare.http, letter()), 'forbidden', /INBOUND_SECRET is not set/)
})
