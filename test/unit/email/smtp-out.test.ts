import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterEach, describe, expect, test } from 'vitest'
import type { Outbound } from '../../../src/core/channel/outbound.ts'
import { parseMail } from '../../../src/mail/parse/parse.ts'
import { capture } from '../../../src/mail/send/capture.ts'
import { compose } from '../../../src/mail/send/compose.ts'
import { type OutgoingMailOptions, toOutgoingMail } from '../../../src/mail/send/outgoing-mail.ts'
import { createRelay } from '../../../src/mail/send/smtp-out.ts'

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

interface Received {
  from: string
  to: string[]
  raw: string
}

/** Starts a relay that accepts and records everything except what `options` refuse. */
async function relay(
  options: SMTPServerOptions = {},
): Promise<{ url: string; received: Received[]; connections: () => number }> {
  const received: Received[] = []
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
        received.push({
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
    received,
    connections: () => connections,
  }
}

/** Starts a server whose responses the test determines. */
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

const plain: OutgoingMailOptions = { signingKeysOf: async () => [], returnPaths: null }

function through(url: string, timeouts = {}) {
  const client = createRelay(url, timeouts)
  closers.push(() => client.close())
  return {
    send: async (message: Outbound, until: AbortSignal) =>
      client.send(await toOutgoingMail(message, plain), until),
  }
}

const smtpError = (responseCode: number, text: string) => Object.assign(new Error(text), { responseCode })

describe('sending through a relay', () => {
  test('delivers the mail as composed, and uses one connection for several mails', async () => {
    const { url, received, connections } = await relay()
    const mailer = through(url)
    expect(await mailer.send(out, signal)).toEqual({ accepted: ['ann@example.com'], rejected: [] })
    await mailer.send({ ...out, messageId: 'm2@agents.localhost' }, signal)
    expect(connections()).toBe(1)
    expect(received[0]).toMatchObject({ from: 'bot@agents.localhost', to: ['ann@example.com'] })
    expect(await parseMail(Buffer.from(received[0]!.raw))).toMatchObject({
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

  test('reports the response for each refused recipient and delivers to the others', async () => {
    const { url, received } = await relay({
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
    expect(received[0]!.to).toEqual(['ann@example.com'])
  })

  test.each<[string, number, string, boolean]>([
    [
      'an unknown user',
      550,
      '5.1.1 <bo@x.com>: Recipient address rejected: User unknown in virtual mailbox table',
      true,
    ],
    ['a user who has moved', 551, '5.1.6 User not local', true],
    ['a domain that accepts no mail', 556, '5.1.10 Recipient address has null MX', true],
    ['a disabled account', 550, '5.2.1 The email account that you tried to reach is disabled', true],
    ['words without a status', 550, 'No such user here', true],
    ['a full mailbox', 552, '5.2.2 Mailbox full', false],
    ['a policy', 550, '5.7.1 Client host blocked using a list; recipient unknown to you', false],
    ['a refused sender', 550, '5.1.8 Sender address rejected: Domain not found', false],
    ['other words without a status', 550, 'Not today', false],
    ['a temporary refusal', 450, '4.1.1 User unknown', false],
  ])(
    'tells from a refusal at RCPT whether the recipient is unknown: %s',
    async (_, code, words, unknownRecipient) => {
      const { url } = await relay({ onRcptTo: (_, __, done) => done(smtpError(code, words)) })
      const { rejected } = await through(url).send(out, signal)
      expect(rejected[0]).toMatchObject({ permanent: code >= 500 })
      expect(rejected[0]!.unknownRecipient ?? false).toBe(unknownRecipient)
    },
  )

  test('attributes a refusal after DATA to the recipient of that copy', async () => {
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

  test('delivers to fifty recipients over one connection, each in its own transaction, even if one is refused', async () => {
    const { url, received, connections } = await relay({
      onRcptTo: ({ address }, _, done) =>
        done(address.startsWith('r7@') ? smtpError(550, '5.1.1 no such user') : null),
    })
    const envelopeTo = Array.from({ length: 50 }, (_, n) => `r${n}@example.com`)
    const { accepted, rejected } = await through(url).send({ ...out, envelopeTo }, signal)
    expect(rejected.map(({ recipient }) => recipient)).toEqual(['r7@example.com'])
    expect(received.map(({ to }) => to)).toEqual(accepted.map((recipient) => [recipient]))
    expect(new Set(received.map(({ raw }) => raw)).size).toBe(1)
    expect([accepted.length, connections()]).toEqual([49, 1])
  })

  test('reports each delivered copy to the caller at once, and stops when the callback fails', async () => {
    const { url, received } = await relay()
    const mail = await toOutgoingMail({ ...out, envelopeTo: ['a@x.com', 'b@x.com', 'c@x.com'] }, plain)
    const client = createRelay(url)
    closers.push(() => client.close())
    const notified: [string, number][] = []
    const lost = new Error('another worker has it')
    const notify = async (recipient: string) => {
      notified.push([recipient, received.length])
      if (recipient === 'b@x.com') throw lost
    }
    await expect(client.send(mail, signal, notify)).rejects.toBe(lost)
    expect(notified).toEqual([
      ['a@x.com', 1],
      ['b@x.com', 2],
    ])
    expect((await client.send(mail, signal)).accepted).toEqual(['a@x.com', 'b@x.com', 'c@x.com'])
    expect(received).toHaveLength(5)
  })

  test('reports the remaining recipients as temporary failures when the connection breaks', async () => {
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

  test('opens a new connection when the relay has closed an idle one', async () => {
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
            // The first connection is closed when its second message starts.
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

  test('does not send a mail that exceeds the relay’s size limit', async () => {
    const { url, received } = await relay({ size: 100 })
    const { rejected } = await through(url).send(out, signal)
    expect(rejected).toEqual([
      { recipient: 'ann@example.com', reason: expect.stringMatching(/^552 5\.3\.4 /), permanent: true },
    ])
    expect(received).toEqual([])
  })

  test('distinguishes permanent from temporary refusals when all recipients are refused', async () => {
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
      'a refused sender',
      { onMailFrom: (_, __, done) => done(smtpError(553, 'not yours')) },
      '553 not yours',
      true,
    ],
    ['a deferred sender', { onMailFrom: (_, __, done) => done(smtpError(450, 'later')) }, '450 later', false],
    [
      'refused content',
      { onData: (stream, _, done) => void stream.resume().on('end', () => done(smtpError(554, 'spam'))) },
      '554 spam',
      true,
    ],
    [
      'deferred content',
      { onData: (stream, _, done) => void stream.resume().on('end', () => done(smtpError(451, 'busy'))) },
      '451 busy',
      false,
    ],
    ['a mail too large for the relay', { size: 100, rejectOversized: true }, '552', true],
    [
      'a connection refused by the relay',
      { onConnect: (_, done) => done(smtpError(554, 'go away')) },
      '554 go away',
      false,
    ],
    [
      'a login required by the relay',
      { authOptional: false, disabledCommands: ['STARTTLS'], allowInsecureAuth: true },
      '530',
      false,
    ],
  ])('reports a permanent or temporary failure for %s', async (_, options, reason, permanent) => {
    const { url } = await relay(options)
    const result = await through(url).send(out, signal)
    expect(result.rejected).toEqual([
      { recipient: 'ann@example.com', reason: expect.stringContaining(reason), permanent },
    ])
  })

  test('sends to a non-ASCII address only if the server supports SMTPUTF8', async () => {
    const envelopeTo = ['ann@example.com', 'bø@example.com']
    const able = await relay()
    expect((await through(able.url).send({ ...out, envelopeTo }, signal)).accepted).toEqual(envelopeTo)
    expect(able.received.map(({ to }) => to)).toEqual([['ann@example.com'], ['bø@example.com']])
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
    expect(unable.received[0]!.to).toEqual(['ann@example.com'])
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

  test('logs in with the credentials from the URL, and wrong ones are a temporary failure because they can be fixed', async () => {
    const { url, received } = await relay({
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
    expect(received).toHaveLength(1)
    expect(await through(login('other')).send(out, signal)).toMatchObject({
      rejected: [{ permanent: false, reason: expect.stringContaining('535') }],
    })
  })

  test.each<[string, (line: string) => string | null, string | null]>([
    ['never sends a greeting', () => null, null],
    ['sends garbage as its greeting', () => null, '\u0000\u0001 what?'],
    ['never responds to EHLO', () => null, '220 hi'],
    ['disconnects at MAIL', (line) => (line.startsWith('MAIL') ? 'close' : '250 ok'), '220 hi'],
    ['responds to RCPT with garbage', (line) => (line.startsWith('RCPT') ? 'banana' : '250 ok'), '220 hi'],
    [
      'disconnects after the message',
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
  ])('reports a temporary failure when the relay %s', async (_, answer, greeting) => {
    const result = await through(await script(answer, greeting), never).send(out, signal)
    expect(result).toEqual({
      accepted: [],
      rejected: [{ recipient: 'ann@example.com', reason: expect.any(String), permanent: false }],
    })
  })

  test('reports a temporary failure when the relay is unreachable', async () => {
    expect(await through('smtp://127.0.0.1:1', never).send(out, signal)).toMatchObject({
      rejected: [{ permanent: false, reason: expect.stringContaining('ECONNREFUSED') }],
    })
  })

  test('disconnects from a relay that hangs when sending is aborted', async () => {
    const stop = new AbortController()
    const sending = through(await script(() => null, '220 hi')).send(out, stop.signal)
    stop.abort()
    expect(await sending).toMatchObject({
      accepted: [],
      rejected: [{ permanent: false, reason: expect.stringContaining('stopped') }],
    })
  })

  test.each(['http://x', 'not a url', 'smtp'])('refuses %s as a relay URL', (url) =>
    expect(() => createRelay(url)).toThrow('smtp://'),
  )
})

describe('composing a mail', () => {
  const lines = async (message: Partial<Outbound>) =>
    (await compose({ ...out, ...message })).toString().split('\r\n')

  test.each<[string, Partial<Outbound>]>([
    ['a subject', { subject: 'hi\r\nBcc: evil@e.com\r\n\r\nbody' }],
    ['a name', { from: { address: 'bot@agents.localhost', name: 'Bot\r\nBcc: evil@e.com' } }],
    ['a message ID', { messageId: 'm1@x>\r\nBcc: evil@e.com' }],
    ['a reference', { references: ['r@x>\r\nBcc: evil@e.com'] }],
    ['an In-Reply-To ID', { inReplyTo: 'q@x\nBcc: evil@e.com' }],
    [
      'an attachment’s name',
      {
        attachments: [
          { name: 'a"\r\nBcc: evil@e.com', type: 'text/plain\r\nBcc: evil@e.com', content: Buffer.from('x') },
        ],
      },
    ],
  ])('does not let %s add a header', async (_, message) => {
    expect((await lines(message)).filter((line) => /^bcc/i.test(line))).toEqual([])
  })

  test.each(['a@x.com\r\nBcc: evil@e.com', 'a@x,b@y', 'Ann <a@x.com>', 'not-an-address'])(
    'refuses %j as a recipient',
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
  ])('preserves the text on lines of at most 998 octets (case %#)', async (text) => {
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

  test('marks mail from agents as such, and system mail as automatic', async () => {
    const byAgent = (await compose({ ...out, id: '01a1fcec-a07a-745f-a798-d0d84db77901' })).toString()
    expect(byAgent).toMatch(/^X-Sent-By-Agent: yes\r$/m)
    expect(byAgent).not.toContain('Auto-Submitted')
    const systemMail = (await compose(out)).toString()
    expect(systemMail).toMatch(/^Auto-Submitted: auto-generated\r$/m)
    expect(systemMail).not.toContain('X-Sent-By-Agent')
  })

  test('names the first and the latest messages of a very long conversation, on lines of valid length', async () => {
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

  test('preserves the name, type and bytes of attachments', async () => {
    const content = Buffer.from(Array.from({ length: 1_000 }, (_, i) => i % 256))
    const raw = await compose({
      ...out,
      attachments: [{ name: 'Größe "1".bin', type: 'application/x-thing', content }],
    })
    expect((await parseMail(raw)).attachments).toEqual([
      { name: 'Größe "1".bin', type: 'application/x-thing', content: new Uint8Array(content) },
    ])
  })

  test('never fetches files or URLs into a mail', async () => {
    const raw = (
      await compose({
        ...out,
        text: 'file:///etc/passwd',
        attachments: [{ name: '/etc/hostname', type: 'text/plain', content: Buffer.from('own') }],
      })
    ).toString()
    expect(raw).not.toContain('root:')
  })

  test('uses the given date and message IDs', async () => {
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

test('without a relay a mail is written to the outbox once, however often it is attempted', async () => {
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
