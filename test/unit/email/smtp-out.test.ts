import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterEach, describe, expect, test } from 'vitest'
import type { Outbound } from '../../../src/channel/channel.ts'
import { parseMail } from '../../../src/channel/email/parse/parse.ts'
import { capture } from '../../../src/channel/email/send/capture.ts'
import { compose } from '../../../src/channel/email/send/compose.ts'
import { type OutgoingMailOptions, toOutgoingMail } from '../../../src/channel/email/send/outgoing-mail.ts'
import { createRelay } from '../../../src/channel/email/send/smtp-out.ts'

const out: Outbound = {
  from: { address: 'bot@agents.localhost', name: 'Bot' },
  envelopeTo: ['ann@example.com'],
  to: ['ann@example.com'],
  cc: ['carl@example.com'],
  subject: 'Grüße',
  text: 'Hello Ann,\n.\nbye\n',
  messageId: 'm1@agents.localhost',
  inReplyTo: 'q1@example.com',
  references: ['r1@example.com', 'q1@example.com'],
  attachments: [],
  createdAt: new Date('2026-11-20T10:00:00Z'),
}
const signal = new AbortController().signal
const never = { connectMs: 200, greetingMs: 200, idleMs: 200 }

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

interface Taken {
  from: string
  to: string[]
  raw: string
}

/** A relay that takes everything but what `options` refuse, and keeps what it took. */
async function relay(
  options: SMTPServerOptions = {},
): Promise<{ url: string; taken: Taken[]; connections: () => number }> {
  const taken: Taken[] = []
  let connections = 0
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    disableReverseLookup: true,
    logger: false,
    onConnect: (_, done) => {
      connections++
      done()
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        taken.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString(),
        })
        done()
      })
    },
    ...options,
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => new Promise<void>((resolve) => server.close(resolve)))
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    taken,
    connections: () => connections,
  }
}

/** A server that says only what it is told to. */
async function script(
  answer: (line: string) => string | null,
  greeting: string | null = '220 odd',
): Promise<string> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined)
    if (greeting !== null) socket.write(`${greeting}\r\n`)
    socket.on('data', (chunk) => {
      for (const line of chunk.toString().split('\r\n').filter(Boolean)) {
        const reply = answer(line)
        if (reply === 'close') socket.destroy()
        else if (reply !== null) socket.write(`${reply}\r\n`)
      }
    })
    closers.push(() => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => server.close())
  return `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const plain: OutgoingMailOptions = { signingKeyOf: async () => null, returnPaths: null }

function through(url: string, timeouts = {}) {
  const made = createRelay(url, timeouts)
  closers.push(() => made.close())
  return {
    send: async (message: Outbound, until: AbortSignal) =>
      made.send(await toOutgoingMail(message, plain), until),
  }
}

const smtpError = (responseCode: number, text: string) => Object.assign(new Error(text), { responseCode })

describe('through a relay', () => {
  test('the mail arrives as it was written, over one connection for many', async () => {
    const { url, taken, connections } = await relay()
    const mailer = through(url)
    expect(await mailer.send(out, signal)).toEqual({ accepted: ['ann@example.com'], rejected: [] })
    await mailer.send({ ...out, messageId: 'm2@agents.localhost' }, signal)
    expect(connections()).toBe(1)
    expect(taken[0]).toMatchObject({ from: 'bot@agents.localhost', to: ['ann@example.com'] })
    expect(await parseMail(Buffer.from(taken[0]!.raw))).toMatchObject({
      from: { address: 'bot@agents.localhost', name: 'Bot' },
      to: ['ann@example.com'],
      cc: ['carl@example.com'],
      subject: 'Grüße',
      text: 'Hello Ann,\n.\nbye',
      messageId: 'm1@agents.localhost',
      inReplyTo: 'q1@example.com',
      references: ['r1@example.com', 'q1@example.com'],
    })
  })

  test('some refused: each with its own words, the others taken', async () => {
    const { url, taken } = await relay({
      onRcptTo: ({ address }, _, done) => {
        if (address.startsWith('gone')) return done(smtpError(550, 'no such user'))
        if (address.startsWith('full')) return done(smtpError(452, 'mailbox full'))
        done()
      },
    })
    const envelopeTo = ['ann@example.com', 'gone@example.com', 'full@example.com']
    expect(await through(url).send({ ...out, envelopeTo }, signal)).toEqual({
      accepted: ['ann@example.com'],
      rejected: [
        {
          recipient: 'gone@example.com',
          reason: '550 no such user',
          permanent: true,
          unknownRecipient: true,
        },
        { recipient: 'full@example.com', reason: '452 mailbox full', permanent: false },
      ],
    })
    expect(taken[0]!.to).toEqual(['ann@example.com'])
  })

  test.each<[string, number, string, boolean]>([
    [
      'nobody there',
      550,
      '5.1.1 <bo@x.com>: Recipient address rejected: User unknown in virtual mailbox table',
      true,
    ],
    ['moved away', 551, '5.1.6 User not local', true],
    ['a domain that takes no mail', 556, '5.1.10 Recipient address has null MX', true],
    ['switched off', 550, '5.2.1 The email account that you tried to reach is disabled', true],
    ['in words alone', 550, 'No such user here', true],
    ['full', 552, '5.2.2 Mailbox full', false],
    ['policy', 550, '5.7.1 Client host blocked using a list; recipient unknown to you', false],
    ['the sender', 550, '5.1.8 Sender address rejected: Domain not found', false],
    ['no status and no such words', 550, 'Not today', false],
    ['only for now', 450, '4.1.1 User unknown', false],
  ])(
    'refused at RCPT, %s: whether the next message would fare no better',
    async (_, code, words, unknownRecipient) => {
      const { url } = await relay({ onRcptTo: (_, __, done) => done(smtpError(code, words)) })
      const { rejected } = await through(url).send(out, signal)
      expect(rejected[0]).toMatchObject({ permanent: code >= 500 })
      expect(rejected[0]!.unknownRecipient ?? false).toBe(unknownRecipient)
    },
  )

  test('refused after DATA, the recipient of that copy can be meant', async () => {
    const { url } = await relay({
      onData: (stream, _, done) =>
        stream.resume().on('end', () => done(smtpError(550, '5.1.1 No such user'))),
    })
    const sole = await through(url).send(out, signal)
    expect(sole.rejected).toEqual([
      {
        recipient: 'ann@example.com',
        reason: '550 5.1.1 No such user',
        permanent: true,
        unknownRecipient: true,
      },
    ])
    const { rejected } = await through(url).send(
      { ...out, envelopeTo: ['ann@example.com', 'bo@example.com'] },
      signal,
    )
    expect(rejected.map(({ recipient, unknownRecipient }) => [recipient, unknownRecipient])).toEqual([
      ['ann@example.com', true],
      ['bo@example.com', true],
    ])
  })

  test('fifty recipients get it over one connection, each in a transaction of their own, whoever is refused between them', async () => {
    const { url, taken, connections } = await relay({
      onRcptTo: ({ address }, _, done) =>
        done(address.startsWith('r7@') ? smtpError(550, '5.1.1 no such user') : null),
    })
    const envelopeTo = Array.from({ length: 50 }, (_, n) => `r${n}@example.com`)
    const { accepted, rejected } = await through(url).send({ ...out, envelopeTo }, signal)
    expect(rejected.map(({ recipient }) => recipient)).toEqual(['r7@example.com'])
    expect(taken.map(({ to }) => to)).toEqual(accepted.map((recipient) => [recipient]))
    expect(new Set(taken.map(({ raw }) => raw)).size).toBe(1)
    expect([accepted.length, connections()]).toEqual([49, 1])
  })

  test('each recipient is told of as soon as the relay has taken their copy; who hears of it can end it', async () => {
    const { url, taken } = await relay()
    const mail = await toOutgoingMail({ ...out, envelopeTo: ['a@x.com', 'b@x.com', 'c@x.com'] }, plain)
    const made = createRelay(url)
    closers.push(() => made.close())
    const told: [string, number][] = []
    const lost = new Error('another worker has it')
    const tell = async (recipient: string) => {
      told.push([recipient, taken.length])
      if (recipient === 'b@x.com') throw lost
    }
    await expect(made.send(mail, signal, tell)).rejects.toBe(lost)
    expect(told).toEqual([
      ['a@x.com', 1],
      ['b@x.com', 2],
    ])
    expect((await made.send(mail, signal)).accepted).toEqual(['a@x.com', 'b@x.com', 'c@x.com'])
    expect(taken).toHaveLength(5)
  })

  test('when the connection breaks between two recipients, the others are tried again later', async () => {
    let recipients = 0
    const { url } = await relay({
      onRcptTo: (_, __, done) => done(++recipients === 2 ? smtpError(421, 'shutting down') : null),
    })
    const { accepted, rejected } = await through(url).send(
      { ...out, envelopeTo: ['a@x.com', 'b@x.com', 'c@x.com'] },
      signal,
    )
    expect(accepted).toEqual(['a@x.com'])
    expect(rejected.map(({ recipient, permanent }) => [recipient, permanent])).toEqual([
      ['b@x.com', false],
      ['c@x.com', false],
    ])
  })

  test('a connection that the relay closed while nobody used it costs no attempt', async () => {
    let greeted = 0
    let last: Socket | undefined
    const url = await new Promise<string>((resolve) => {
      const server = createServer((socket) => {
        greeted++
        last = socket
        socket.on('error', () => undefined)
        socket.write('220 hi\r\n')
        let messages = 0
        socket.on('data', (chunk) => {
          for (const line of chunk.toString().split('\r\n').filter(Boolean)) {
            // On the first connection the second message finds nobody any more.
            if (line.startsWith('MAIL') && greeted === 1 && messages === 1) socket.destroy()
            if (line === '.') messages++
            if (/^(?:EHLO|MAIL|RCPT)|^\.$/.test(line)) socket.write('250 ok\r\n')
            if (line === 'DATA') socket.write('354 go\r\n')
          }
        })
      })
      closers.push(() => {
        last?.destroy()
        server.close()
      })
      server.listen(0, '127.0.0.1', () =>
        resolve(`smtp://127.0.0.1:${(server.address() as AddressInfo).port}`),
      )
    })
    const mailer = through(url)
    expect((await mailer.send(out, signal)).accepted).toEqual(['ann@example.com'])
    expect((await mailer.send(out, signal)).accepted).toEqual(['ann@example.com'])
    expect(greeted).toBe(2)
  })

  test('a mail that is larger than the relay takes is not sent there at all', async () => {
    const { url, taken } = await relay({ size: 100 })
    const { rejected } = await through(url).send(out, signal)
    expect(rejected).toEqual([
      { recipient: 'ann@example.com', reason: expect.stringMatching(/^552 5\.3\.4 /), permanent: true },
    ])
    expect(taken).toEqual([])
  })

  test('all refused, for good and for now, are kept apart', async () => {
    const { url } = await relay({
      onRcptTo: ({ address }, _, done) =>
        done(address.startsWith('gone') ? smtpError(550, 'no such user') : smtpError(451, 'greylisted')),
    })
    const { accepted, rejected } = await through(url).send(
      { ...out, envelopeTo: ['gone@x.com', 'grey@x.com'] },
      signal,
    )
    expect(accepted).toEqual([])
    expect(rejected.map(({ recipient, permanent }) => [recipient, permanent])).toEqual([
      ['gone@x.com', true],
      ['grey@x.com', false],
    ])
  })

  test.each<[string, SMTPServerOptions, string, boolean]>([
    [
      'the sender refused',
      { onMailFrom: (_, __, done) => done(smtpError(553, 'not yours')) },
      '553 not yours',
      true,
    ],
    [
      'the sender deferred',
      { onMailFrom: (_, __, done) => done(smtpError(450, 'later')) },
      '450 later',
      false,
    ],
    [
      'the content refused',
      { onData: (stream, _, done) => void stream.resume().on('end', () => done(smtpError(554, 'spam'))) },
      '554 spam',
      true,
    ],
    [
      'the content deferred',
      { onData: (stream, _, done) => void stream.resume().on('end', () => done(smtpError(451, 'busy'))) },
      '451 busy',
      false,
    ],
    ['too large for it', { size: 100, rejectOversized: true }, '552', true],
    [
      'turned away at the door',
      { onConnect: (_, done) => done(smtpError(554, 'go away')) },
      '554 go away',
      false,
    ],
    [
      'a login asked for',
      { authOptional: false, disabledCommands: ['STARTTLS'], allowInsecureAuth: true },
      '530',
      false,
    ],
  ])('%s', async (_, options, reason, permanent) => {
    const { url } = await relay(options)
    const result = await through(url).send(out, signal)
    expect(result.rejected).toEqual([
      { recipient: 'ann@example.com', reason: expect.stringContaining(reason), permanent },
    ])
  })

  test('an address beyond ASCII goes only to a server that takes such', async () => {
    const envelopeTo = ['ann@example.com', 'bø@example.com']
    const able = await relay()
    expect((await through(able.url).send({ ...out, envelopeTo }, signal)).accepted).toEqual(envelopeTo)
    expect(able.taken.map(({ to }) => to)).toEqual([['ann@example.com'], ['bø@example.com']])
    const unable = await relay({ hideSMTPUTF8: true })
    const refusal = {
      recipient: 'bø@example.com',
      reason: expect.stringContaining('SMTPUTF8'),
      permanent: true,
    }
    expect(await through(unable.url).send({ ...out, envelopeTo }, signal)).toEqual({
      accepted: ['ann@example.com'],
      rejected: [refusal],
    })
    expect(unable.taken[0]!.to).toEqual(['ann@example.com'])
    expect(await through(unable.url).send({ ...out, envelopeTo: ['bø@example.com'] }, signal)).toEqual({
      accepted: [],
      rejected: [refusal],
    })
    const { rejected } = await through('smtp://127.0.0.1:1').send(
      { ...out, envelopeTo: ['bø@example.com'] },
      signal,
    )
    expect(rejected).toMatchObject([{ permanent: false }])
  })

  test('with a login from the URL; a wrong one is temporary, for somebody can put it right', async () => {
    const { url, taken } = await relay({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _, done) =>
        username === 'user@x' && password === 'p:w'
          ? done(null, { user: 1 })
          : done(smtpError(535, 'bad login')),
    })
    const login = (user: string) => url.replace('//', `//${user}:p%3Aw@`)
    expect(await through(login('user%40x')).send(out, signal)).toMatchObject({
      accepted: ['ann@example.com'],
    })
    expect(taken).toHaveLength(1)
    expect(await through(login('other')).send(out, signal)).toMatchObject({
      rejected: [{ permanent: false, reason: expect.stringContaining('535') }],
    })
  })

  test.each<[string, (line: string) => string | null, string | null]>([
    ['never greets', () => null, null],
    ['greets with garbage', () => null, '\u0000\u0001 what?'],
    ['never answers EHLO', () => null, '220 hi'],
    ['hangs up at MAIL', (line) => (line.startsWith('MAIL') ? 'close' : '250 ok'), '220 hi'],
    ['talks nonsense at RCPT', (line) => (line.startsWith('RCPT') ? 'banana' : '250 ok'), '220 hi'],
    [
      'hangs up after the message',
      (line) =>
        line === 'DATA'
          ? '354 go'
          : line === '.'
            ? 'close'
            : line.startsWith('<')
              ? null
              : /^(?:EHLO|MAIL|RCPT)/.test(line)
                ? '250 ok'
                : null,
      '220 hi',
    ],
  ])('a relay that %s is temporary trouble', async (_, answer, greeting) => {
    const result = await through(await script(answer, greeting), never).send(out, signal)
    expect(result).toEqual({
      accepted: [],
      rejected: [{ recipient: 'ann@example.com', reason: expect.any(String), permanent: false }],
    })
  })

  test('nobody there is temporary trouble', async () => {
    expect(await through('smtp://127.0.0.1:1', never).send(out, signal)).toMatchObject({
      rejected: [{ permanent: false, reason: expect.stringContaining('ECONNREFUSED') }],
    })
  })

  test('stopping lets go of a relay that hangs', async () => {
    const stop = new AbortController()
    const sending = through(await script(() => null, '220 hi')).send(out, stop.signal)
    stop.abort()
    expect(await sending).toMatchObject({
      accepted: [],
      rejected: [{ permanent: false, reason: expect.stringContaining('stopped') }],
    })
  })

  test.each(['http://x', 'not a url', 'smtp'])('%s is no relay', (url) =>
    expect(() => createRelay(url)).toThrow('smtp://'),
  )
})

describe('composing', () => {
  const lines = async (message: Partial<Outbound>) =>
    (await compose({ ...out, ...message })).toString().split('\r\n')

  test.each<[string, Partial<Outbound>]>([
    ['a subject', { subject: 'hi\r\nBcc: evil@e.com\r\n\r\nbody' }],
    ['a name', { from: { address: 'bot@agents.localhost', name: 'Bot\r\nBcc: evil@e.com' } }],
    ['an id', { messageId: 'm1@x>\r\nBcc: evil@e.com' }],
    ['a reference', { references: ['r@x>\r\nBcc: evil@e.com'] }],
    ['an answered id', { inReplyTo: 'q@x\nBcc: evil@e.com' }],
    [
      'an attachment’s name',
      {
        attachments: [
          { name: 'a"\r\nBcc: evil@e.com', type: 'text/plain\r\nBcc: evil@e.com', content: Buffer.from('x') },
        ],
      },
    ],
  ])('%s can’t add a header', async (_, message) => {
    expect((await lines(message)).filter((line) => /^bcc/i.test(line))).toEqual([])
  })

  test.each(['a@x.com\r\nBcc: evil@e.com', 'a@x,b@y', 'Ann <a@x.com>', 'not-an-address'])(
    '%j is no recipient',
    async (address) => {
      await expect(compose({ ...out, to: [address] })).rejects.toMatchObject({ code: 'invalid_input' })
      await expect(compose({ ...out, cc: [address] })).rejects.toMatchObject({ code: 'invalid_input' })
      await expect(
        through('smtp://127.0.0.1:1').send({ ...out, envelopeTo: [address] }, signal),
      ).rejects.toMatchObject({
        code: 'invalid_input',
      })
    },
  )

  test.each([
    'x'.repeat(20_000),
    'ä'.repeat(20_000),
    '日本'.repeat(9_000),
    'line \n trailing  \n\tTab',
    'From me\n.\n..',
    '🙂'.repeat(3_000),
  ])('a text comes out as it went in, on lines of at most 998 octets (%#)', async (text) => {
    const raw = await compose({ ...out, text })
    expect(
      Math.max(
        ...raw
          .toString('latin1')
          .split('\r\n')
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(998)
    expect((await parseMail(raw)).text).toBe(text)
  })

  test('says that an agent sent it, and of a letter of the service that no machine should answer', async () => {
    const byAgent = (await compose({ ...out, id: '01a1fcec-a07a-745f-a798-d0d84db77901' })).toString()
    expect(byAgent).toMatch(/^X-Sent-By-Agent: yes\r$/m)
    expect(byAgent).not.toContain('Auto-Submitted')
    const letter = (await compose(out)).toString()
    expect(letter).toMatch(/^Auto-Submitted: auto-generated\r$/m)
    expect(letter).not.toContain('X-Sent-By-Agent')
  })

  test('of a conversation without end its first message and the latest are named, in lines that servers take', async () => {
    const ids = Array.from({ length: 300 }, (_, n) => `${n}.${'x'.repeat(90)}@example.com`)
    const raw = (
      await compose({
        ...out,
        references: [...ids, `${'y'.repeat(990)}@x`],
        inReplyTo: `${'z'.repeat(990)}@x`,
      })
    ).toString()
    const { references, inReplyTo } = await parseMail(Buffer.from(raw))
    expect(references[0]).toBe(ids[0])
    expect(references.slice(1)).toEqual(ids.slice(1 - references.length))
    expect(references.length).toBeGreaterThan(80)
    expect(inReplyTo).toBeNull()
    const header = raw.slice(0, raw.indexOf('\r\n\r\n'))
    expect(header.length).toBeLessThan(12_000)
    expect(Math.max(...header.split('\r\n').map(({ length }) => length))).toBeLessThanOrEqual(998)
  })

  test('attachments keep name, type and bytes', async () => {
    const content = Buffer.from(Array.from({ length: 1_000 }, (_, i) => i % 256))
    const raw = await compose({
      ...out,
      attachments: [{ name: 'Größe "1".bin', type: 'application/x-thing', content }],
    })
    expect((await parseMail(raw)).attachments).toEqual([
      { name: 'Größe "1".bin', type: 'application/x-thing', content: new Uint8Array(content) },
    ])
  })

  test('files and URLs are never fetched into a mail', async () => {
    const raw = (
      await compose({
        ...out,
        text: 'file:///etc/passwd',
        attachments: [{ name: '/etc/hostname', type: 'text/plain', content: Buffer.from('own') }],
      })
    ).toString()
    expect(raw).not.toContain('root:')
  })

  test('has the date and the ids that it was given', async () => {
    expect(await lines({})).toEqual(
      expect.arrayContaining([
        'Message-ID: <m1@agents.localhost>',
        'In-Reply-To: <q1@example.com>',
        'References: <r1@example.com> <q1@example.com>',
        'Date: Fri, 20 Nov 2026 10:00:00 +0000',
      ]),
    )
  })
})

test('without a relay the mail is captured once, however often it is tried', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'outbox-'))
  closers.push(() => rm(dir, { recursive: true }))
  const outbox = join(dir, 'outbox')
  const attempt = async (message: Outbound) => capture(message, await toOutgoingMail(message, plain), outbox)
  expect(await attempt(out)).toEqual({ accepted: ['ann@example.com'], rejected: [] })
  await attempt(out)
  await attempt({ ...out, messageId: '../../evil/m2@x' })
  const files = (await readdir(outbox)).sort()
  expect(files).toEqual([
    '2026-11-20T10-00-00.000Z-.._.._evil_m2@x.eml',
    '2026-11-20T10-00-00.000Z-m1@agents.localhost.eml',
  ])
  expect((await stat(join(outbox, files[1]!))).mode & 0o777).toBe(0o600)
  expect(await parseMail(await readFile(join(outbox, files[1]!)))).toMatchObject({
    subject: 'Grüße',
    to: ['ann@example.com'],
  })
})
