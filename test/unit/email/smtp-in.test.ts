import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import {
  createEmailChannel,
  type EmailChannel,
  type EmailChannelOptions,
} from '../../../src/channel/email/email-channel.ts'
import type { Inbound, Listening } from '../../../src/core/channel/inbound.ts'
import { type Clock, systemClock } from '../../../src/core/clock.ts'
import { AppError } from '../../../src/core/errors.ts'
import { type Logger, silentLogger } from '../../../src/core/logger.ts'
import { createFakeClock } from '../../support/clock.ts'
import { fakeResolver } from '../../support/dns.ts'
import { deliver } from '../../support/mail.ts'
import { sinkWith } from '../../support/sink.ts'

let channel: EmailChannel
let listening: Listening
let dataDir: string
let stored: Inbound[]
let lines: Record<string, unknown>[]

interface World {
  accepts?: (address: string) => Promise<boolean>
  inbound?: (message: Inbound) => Promise<void>
  clock?: Clock
  postmaster?: (message: Inbound) => Promise<void>
  limits?: NonNullable<EmailChannelOptions['smtp']['limits']>
}

async function listen({ accepts, inbound, limits = {}, ...world }: World = {}): Promise<string> {
  dataDir = await mkdtemp(join(tmpdir(), 'smtp-in-'))
  stored = []
  lines = []
  const write = (fields: object) => void lines.push({ ...fields })
  const log: Logger = { ...silentLogger, info: write, error: write }
  channel = createEmailChannel({
    mailDomain: 'agents.localhost',
    smtp: { host: '127.0.0.1', port: 0, tls: null, limits },
    relayUrl: null,
    outboxDir: join(dataDir, 'outbox'),
    dataDir,
    ...world,
    resolver: fakeResolver({ 'example.com': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] } }),
    log,
  })
  listening = await channel.listen(
    sinkWith({
      accepts:
        accepts ??
        (async (address) => address === 'bot@agents.localhost' || address === 'ops@agents.localhost'),
      inbound: inbound ?? (async (message) => void stored.push(message)),
    }),
  )
  return listening.address
}

afterEach(async () => {
  await listening.stop(100)
  await channel.close()
  await rm(dataDir, { recursive: true })
})

/** Returns a sink that stores each message only when the test calls its commit function. */
function slowly() {
  const commits: (() => void)[] = []
  const inbound = (message: Inbound) =>
    new Promise<void>((resolve) => {
      commits.push(() => {
        stored.push(message)
        resolve()
      })
    })
  return { inbound, commits }
}

const letter = { from: 'Ann <ann@example.com>', to: 'bot@agents.localhost', subject: 'hi', text: 'hello' }

/** Opens a session driven by the test: `send` writes a line and resolves with the next complete response. */
async function telnet(address: string) {
  const socket: Socket = connect(Number(address.split(':')[1]), '127.0.0.1')
  const answers: string[] = []
  const waiting: ((answer: string) => void)[] = []
  let text = ''
  let closed = false
  const hand = (answer: string) => {
    const next = waiting.shift()
    if (next) next(answer)
    else answers.push(answer)
  }
  socket.setEncoding('latin1')
  socket.on('error', () => undefined)
  socket.on('close', () => {
    closed = true
    for (const next of waiting.splice(0)) next('closed')
  })
  socket.on('data', (chunk: string) => {
    text += chunk
    for (
      let match = /^(?:\d{3}-.*\r\n)*\d{3} .*\r\n/.exec(text);
      match;
      match = /^(?:\d{3}-.*\r\n)*\d{3} .*\r\n/.exec(text)
    ) {
      text = text.slice(match[0].length)
      hand(match[0].trimEnd())
    }
  })
  const receive = () =>
    answers.length > 0
      ? Promise.resolve(answers.shift()!)
      : closed
        ? Promise.resolve('closed')
        : new Promise<string>((resolve) => waiting.push(resolve))
  const send = (line: string) => {
    socket.write(`${line}\r\n`)
    return receive()
  }
  return { socket, receive, send }
}

async function greeted(address: string) {
  const session = await telnet(address)
  expect(await session.receive()).toMatch(/^220 agents\.localhost ESMTP/)
  expect(await session.send('EHLO client.example')).toMatch(/^250/)
  return session
}

async function inData(address: string, rcpt = 'bot@agents.localhost') {
  const session = await greeted(address)
  await session.send('MAIL FROM:<ann@example.com>')
  await session.send(`RCPT TO:<${rcpt}>`)
  expect(await session.send('DATA')).toMatch(/^354/)
  return session
}

describe('an incoming mail', () => {
  test('gets a 250 response only after it is stored completely', async () => {
    const { inbound, commits } = slowly()
    const address = await listen({ inbound })
    let answered = false
    const sent = deliver(address, letter).then((result) => {
      answered = true
      return result
    })
    await expect.poll(() => commits.length).toBe(1)
    expect(answered).toBe(false)
    commits[0]!()
    expect((await sent).response).toMatch(/^250 2\.6\.0/)
    expect(stored).toEqual([
      expect.objectContaining({
        channel: 'email',
        recipients: ['bot@agents.localhost'],
        from: { address: 'ann@example.com', name: 'Ann' },
        subject: 'hi',
        text: 'hello',
        proven: true,
        automatic: null,
        checks: expect.arrayContaining([
          { name: 'spf', verdict: 'pass', detail: 'example.com aligned with From' },
        ]),
      }),
    ])
    expect(Buffer.from(stored[0]!.raw!).toString()).toMatch(
      /^From: Ann <ann@example\.com>\r\n[\s\S]*\r\nhello\r\n$/,
    )
  })

  test('can be received over STARTTLS with a self-signed certificate that survives a restart', async () => {
    const address = await listen()
    await deliver(address, letter, { tls: true })
    expect(lines).toContainEqual(
      expect.objectContaining({ event: 'smtp.inbound', tls: true, outcome: 'accepted' }),
    )
    const cert = await readFile(join(dataDir, 'smtp.crt'), 'utf8')
    expect((await stat(join(dataDir, 'smtp.key'))).mode & 0o777).toBe(0o600)
    await listening.stop(100)
    listening = await channel.listen(sinkWith())
    expect(await readFile(join(dataDir, 'smtp.crt'), 'utf8')).toBe(cert)
  })

  test('is logged in one line without its contents', async () => {
    await deliver(await listen(), letter)
    expect(lines).toEqual([
      {
        event: 'smtp.inbound',
        session: expect.any(String),
        transaction: 1,
        remoteAddress: '127.0.0.1',
        helo: expect.any(String),
        tls: false,
        reversePath: 'ann@example.com',
        outcome: 'accepted',
        recipients: ['bot@agents.localhost'],
        bytes: stored[0]!.raw!.length,
        ms: expect.any(Number),
      },
    ])
  })

  test('with a null reverse path is marked as automatic', async () => {
    await deliver(await listen(), { ...letter, envelope: { from: '', to: letter.to } })
    expect(stored[0]).toMatchObject({ automatic: 'null reverse path' })
  })

  test('with dots, 8-bit data and UTF-8 addresses is stored byte for byte', async () => {
    const session = await greeted(await listen({ accepts: async () => true }))
    expect(await session.send('MAIL FROM:<änn@example.com> BODY=8BITMIME SMTPUTF8')).toMatch(/^250/)
    expect(await session.send('RCPT TO:<b\u00f6t@agents.localhost>')).toMatch(/^250/)
    await session.send('DATA')
    expect(await session.send('From: a@x.com\r\n\r\n..dot\r\n...\r\nf\u00fcr\r\n.')).toMatch(/^250/)
    expect(Buffer.from(stored[0]!.raw!).toString('utf8')).toBe('From: a@x.com\r\n\r\n.dot\r\n..\r\nfür\r\n')
  })

  test.each(['\n.\n', '\r.\r', '\n.\r\n', '\r\n.\n', '\r\n\0.\r\n'])(
    'cannot be split in two by the false end %j',
    async (end) => {
      const session = await inData(await listen())
      session.socket.write(
        `From: a@x.com\r\n\r\none${end}MAIL FROM:<evil@x.com>\r\nRCPT TO:<bot@agents.localhost>\r\nDATA\r\nFrom: boss@x.com\r\n\r\ntwo`,
      )
      expect(await session.send('\r\n.')).toMatch(/^250/)
      expect(await session.send('NOOP')).toMatch(/^250/)
      expect(stored).toHaveLength(1)
      expect(stored[0]!.text).toContain('two')
    },
  )
})

describe('RCPT', () => {
  test.each([
    ['BOT@Agents.Localhost', ['bot@agents.localhost']],
    ['bot+news@agents.localhost', ['bot@agents.localhost']],
    ['"bot"@agents.localhost', ['bot@agents.localhost']],
    ['@relay.example:bot@agents.localhost', ['bot@agents.localhost']],
  ])('%s is delivered to its agent', async (rcpt, expected) => {
    const session = await inData(await listen(), rcpt)
    await session.send('From: a@x.com\r\n\r\nhi\r\n.')
    expect(stored.map((message) => message.recipients)).toEqual([expected])
  })

  test('an agent’s own plus address takes precedence over the address without the tag', async () => {
    const session = await inData(await listen({ accepts: async () => true }), 'bot+x@agents.localhost')
    await session.send('From: a@x.com\r\n\r\nhi\r\n.')
    expect(stored[0]!.recipients).toEqual(['bot+x@agents.localhost'])
  })

  test('a recipient given twice gets the mail once, and two recipients both get it', async () => {
    const session = await greeted(await listen())
    await session.send('MAIL FROM:<>')
    for (const rcpt of ['bot@agents.localhost', 'BOT+x@agents.localhost', 'ops@agents.localhost'])
      await session.send(`RCPT TO:<${rcpt}>`)
    await session.send('DATA')
    await session.send('From: a@x.com\r\n\r\nhi\r\n.')
    expect(stored[0]!.recipients).toEqual(['bot@agents.localhost', 'ops@agents.localhost'])
  })

  test.each([
    ['nobody@agents.localhost', '550 5.1.1 No such recipient here'],
    ['victim@elsewhere.example', '550 5.1.1 No such recipient here, relay denied'],
    ['victim%elsewhere.example@agents.localhost', '550 5.1.1 No such recipient here'],
    ['bot@[127.0.0.1]', '550 5.1.1 No such recipient here, relay denied'],
    ['nonsense', /^501/],
  ])('%s is refused', async (rcpt, answer) => {
    const session = await greeted(await listen())
    await session.send('MAIL FROM:<ann@example.com>')
    expect(await session.send(`RCPT TO:<${rcpt}>`)).toEqual(
      typeof answer === 'string' ? answer : expect.stringMatching(answer),
    )
    expect(await session.send('DATA')).toMatch(/^503/)
  })

  test('recipients after the first 100 are refused, and the first 100 get the mail', async () => {
    const address = await listen({ accepts: async () => true })
    const to = Array.from({ length: 103 }, (_, i) => `a${i}@agents.localhost`)
    const { accepted, rejected } = await deliver(address, {
      ...letter,
      envelope: { from: 'ann@example.com', to },
    })
    expect([accepted.length, rejected.length, stored[0]!.recipients.length]).toEqual([100, 3, 100])
  })

  test('unknown recipients are answered with a growing delay, except the first one', async () => {
    const waits: number[] = []
    const sleep = async (ms: number) => void waits.push(ms)
    const session = await greeted(await listen({ clock: { ...systemClock, sleep } }))
    await session.send('MAIL FROM:<ann@example.com>')
    expect(await session.send('RCPT TO:<nobody@agents.localhost>')).toMatch(/^550/)
    expect(await session.send('RCPT TO:<bot@agents.localhost>')).toMatch(/^250/)
    expect(waits).toEqual([])
    for (let i = 0; i < 19; i++)
      expect(await session.send(`RCPT TO:<a${i}@agents.localhost>`)).toMatch(/^550/)
    expect(waits).toEqual([100, 200, 400, 800, 1_600, ...Array(14).fill(2_000)])
    expect(await session.send('RCPT TO:<last@agents.localhost>')).toMatch(/^421/)
    expect(await session.receive()).toBe('closed')
  })

  test('stopping does not wait for delayed responses', async () => {
    const clock = createFakeClock()
    const session = await greeted(await listen({ clock }))
    await session.send('MAIL FROM:<ann@example.com>')
    await session.send('RCPT TO:<one@agents.localhost>')
    const answer = session.send('RCPT TO:<two@agents.localhost>')
    await expect.poll(() => clock.sleepers).toBe(1)
    await listening.stop(5_000)
    expect(await answer).toMatch(/^(421|550)/)
    expect(clock.sleepers).toBe(0)
  })

  test('a client that tries too many unknown recipients is disconnected', async () => {
    const session = await greeted(await listen({ limits: { unknown: 3, tarpitMs: 1 } }))
    await session.send('MAIL FROM:<ann@example.com>')
    const answers = []
    for (const name of ['a', 'b', 'c', 'd'])
      answers.push((await session.send(`RCPT TO:<${name}@agents.localhost>`)).slice(0, 3))
    expect(answers).toEqual(['550', '550', '550', '421'])
  })
})

describe('mail to the postmaster', () => {
  const open = async () => {
    const mails: Inbound[] = []
    const address = await listen({ postmaster: async (message) => void mails.push(message) })
    return { address, mails }
  }

  test.each([
    'Postmaster',
    'abuse@agents.localhost',
    'postmaster@Agents.localhost',
    '"postmaster"@agents.localhost',
  ])('is accepted at %s', async (rcpt) => {
    const { address, mails } = await open()
    const session = await greeted(address)
    await session.send('MAIL FROM:<ann@example.com>')
    expect(await session.send(`RCPT TO:<${rcpt}>`)).toMatch(/^250/)
    await session.send('DATA')
    expect(await session.send('From: a@x.com\r\n\r\nyour server is odd\r\n.')).toMatch(/^250/)
    expect(mails.map(({ text }) => text)).toEqual(['your server is odd'])
    expect(stored).toEqual([])
  })

  test('is refused at another domain', async () => {
    const session = await greeted((await open()).address)
    await session.send('MAIL FROM:<ann@example.com>')
    expect(await session.send('RCPT TO:<postmaster@elsewhere.example>')).toMatch(/^550/)
  })

  test('and to an agent is delivered to both', async () => {
    const { address, mails } = await open()
    await deliver(address, { ...letter, to: ['bot@agents.localhost', 'postmaster@agents.localhost'] })
    expect(stored.map(({ recipients }) => recipients)).toEqual([['bot@agents.localhost']])
    expect(mails).toHaveLength(1)
  })

  test('is delivered to the agent if an agent has the address', async () => {
    const mails: Inbound[] = []
    const address = await listen({
      accepts: async () => true,
      postmaster: async (message) => void mails.push(message),
    })
    await deliver(address, { ...letter, to: 'postmaster@agents.localhost' })
    expect(stored.map(({ recipients }) => recipients)).toEqual([['postmaster@agents.localhost']])
    expect(mails).toEqual([])
  })
})

describe('failures and limits of the SMTP server', () => {
  test('a temporary refusal by the sink is returned as 451 with its message', async () => {
    const address = await listen({
      inbound: async () => {
        throw new AppError('unavailable', 'The sender could not be verified at the moment.')
      },
    })
    await expect(deliver(address, letter)).rejects.toMatchObject({
      response: '451 4.3.0 The sender could not be verified at the moment.',
    })
    expect(lines).toContainEqual(expect.objectContaining({ event: 'smtp.inbound', outcome: '451' }))
  })

  test('a message without an address in From has the envelope sender as its unproven sender', async () => {
    const session = await inData(await listen())
    expect(await session.send('From: nobody in particular\r\nSubject: s\r\n\r\nhello\r\n.')).toMatch(/^250/)
    expect(stored[0]).toMatchObject({ from: { address: 'ann@example.com' }, proven: false, unsettled: false })
  })

  test('an unavailable database gives 451 at RCPT and after DATA, until it is available again', async () => {
    let unavailable = true
    const down = async () => {
      if (unavailable) throw new Error('connection refused')
    }
    const accepts = async (name: string) => {
      if (name.startsWith('ops')) await down()
      return true
    }
    const inbound = async (message: Inbound) => {
      await down()
      stored.push(message)
    }
    const address = await listen({ accepts, inbound })
    await expect(deliver(address, { ...letter, to: 'ops@agents.localhost' })).rejects.toMatchObject({
      response: expect.stringMatching(/^451 4\.3\.0/),
    })
    await expect(deliver(address, letter)).rejects.toMatchObject({
      response: expect.stringMatching(/^451 4\.3\.0/),
    })
    expect(lines.map((line) => JSON.stringify(line)).join()).not.toContain('hello')
    unavailable = false
    await deliver(address, letter)
    expect(stored).toHaveLength(1)
  })

  test('a message that is too large gets 552, announced or not, and the session continues', async () => {
    const session = await greeted(await listen({ limits: { size: 1_000 } }))
    expect(await session.send('MAIL FROM:<ann@example.com> SIZE=1001')).toMatch(/^552 5\.3\.4/)
    await session.send('MAIL FROM:<ann@example.com> SIZE=10')
    await session.send('RCPT TO:<bot@agents.localhost>')
    await session.send('DATA')
    expect(await session.send(`From: a@x.com\r\n\r\n${'x'.repeat(2_000)}\r\n.`)).toMatch(/^552 5\.3\.4/)
    expect(stored).toHaveLength(0)
    await session.send('MAIL FROM:<ann@example.com>')
    await session.send('RCPT TO:<bot@agents.localhost>')
    await session.send('DATA')
    expect(await session.send('From: a@x.com\r\n\r\nshort\r\n.')).toMatch(/^250/)
  })

  test('large mails wait for capacity, and get 451 when they wait too long', async () => {
    const { inbound, commits } = slowly()
    const address = await listen({ limits: { smallBytes: 100, largeMails: 1, waitMs: 50 }, inbound })
    const long = { ...letter, text: 'x'.repeat(5_000) }
    const first = deliver(address, long)
    await expect.poll(() => commits.length).toBe(1)
    await expect(deliver(address, long)).rejects.toMatchObject({ response: expect.stringMatching(/^451/) })
    commits[0]!()
    await first
    const third = deliver(address, long)
    await expect.poll(() => commits.length).toBe(2)
    commits[1]!()
    await third
    expect(stored).toHaveLength(2)
  })

  test('a connection over the limit of its address gets a 421 response', async () => {
    const address = await listen({ limits: { connections: 2, connectionsPerAddress: 1 } })
    const first = await greeted(address)
    const second = await telnet(address)
    expect(await second.receive()).toMatch(/^421 .*from your address/)
    expect(await first.send('QUIT')).toMatch(/^221/)
    await expect.poll(async () => (await telnet(address)).receive()).toMatch(/^220/)
  })

  test('an idle connection is closed', async () => {
    const session = await greeted(await listen({ limits: { idleMs: 50 } }))
    expect(await session.receive()).toMatch(/^421/)
    expect(await session.receive()).toBe('closed')
  })

  test('a message that takes too long to arrive is cut off', async () => {
    const session = await inData(await listen({ limits: { dataMs: 50 } }))
    expect(await session.send('From: a@x.com\r\n')).toMatch(/^421/)
    await expect.poll(() => lines.length).toBe(1)
    expect(stored).toHaveLength(0)
  })

  test('garbage, HTTP, broken handshakes and resets do not stop the server', async () => {
    const address = await listen()
    const noise = await telnet(address)
    await noise.receive()
    noise.socket.write(Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * 7919) % 256)))
    expect(await noise.receive()).toMatch(/^(?:500|421|closed)/)
    noise.socket.destroy()
    const http = await telnet(address)
    await http.receive()
    expect(await http.send('GET / HTTP/1.1')).toMatch(/^421/)
    const tls = await greeted(address)
    expect(await tls.send('STARTTLS')).toMatch(/^220/)
    tls.socket.write('this is no handshake\r\n')
    expect(await tls.receive()).toBe('closed')
    const reset = await inData(address)
    reset.socket.write('From: a@x.com\r\n\r\nhalf a mess')
    reset.socket.resetAndDestroy()
    await deliver(address, letter)
    expect(stored.map((message) => message.text)).toEqual(['hello'])
    // A client that disconnects in the middle of a message leaves no log line.
    expect(lines.map(({ outcome }) => outcome).toSorted()).toEqual(['421', 'accepted'])
  })

  test('AUTH is not offered', async () => {
    const session = await telnet(await listen())
    await session.receive()
    const features = await session.send('EHLO client.example')
    expect(features.split('\r\n').map((line) => line.slice(4))).toEqual(
      expect.arrayContaining([
        'PIPELINING',
        '8BITMIME',
        'SMTPUTF8',
        'ENHANCEDSTATUSCODES',
        'STARTTLS',
        `SIZE ${25 * 1024 * 1024}`,
      ]),
    )
    expect(features).not.toContain('AUTH')
    expect(await session.send('AUTH PLAIN AGEAYg==')).toMatch(/^50[0-4]/)
  })
})

describe('pipelined commands', () => {
  const rcpt = 'RCPT TO:<bot@agents.localhost>\r\n'

  test('are answered together', async () => {
    const lookups: (() => void)[] = []
    const address = await listen({
      accepts: () => new Promise((resolve) => lookups.push(() => resolve(lookups.length < 3))),
    })
    const { socket } = await greeted(address)
    const chunks: unknown[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.write(`MAIL FROM:<a@x.com>\r\n${rcpt}${rcpt}${rcpt}DATA\r\n`)
    for (const count of [1, 2, 3]) {
      await expect.poll(() => lookups.length).toBe(count)
      await greeted(address) // what was sent before has arrived by then
      if (count < 3) expect(chunks).toEqual([])
      lookups[count - 1]!()
    }
    const answers = /^250 .*\r\n250 .*\r\n250 .*\r\n550 .*\r\n354 .*\r\n$/
    await expect.poll(() => chunks.join('')).toMatch(answers)
  })

  test('are answered when the next one is not complete', async () => {
    const { socket, receive } = await greeted(await listen())
    socket.write('MAIL FROM:<a@x.com>\r\nRCPT TO:<b')
    expect(await receive()).toMatch(/^250/)
    socket.write(`ot@agents.localhost>\r\n${rcpt.slice(0, 4)}`)
    expect(await receive()).toMatch(/^250/)
    socket.write(`${rcpt.slice(4)}DATA\r\n`)
    expect([await receive(), await receive()]).toEqual([
      expect.stringMatching(/^250/),
      expect.stringMatching(/^354/),
    ])
  })
})

describe('stopping the server', () => {
  test('finishes the message in progress, then sends 421, and accepts no new connections', async () => {
    const { inbound, commits } = slowly()
    const address = await listen({ inbound })
    const idle = await greeted(address)
    const busy = await inData(address)
    const answer = busy.send('From: a@x.com\r\n\r\nlast\r\n.')
    await expect.poll(() => commits.length).toBe(1)
    const stopped = listening.stop(5_000)
    expect(await idle.receive()).toMatch(/^421/)
    await expect(deliver(address, letter)).rejects.toThrow()
    commits[0]!()
    expect(await answer).toMatch(/^250/)
    expect(await busy.receive()).toMatch(/^421/)
    await stopped
    expect(stored).toHaveLength(1)
  })

  test('ends at the latest after the grace period', async () => {
    const session = await inData(await listen())
    const started = performance.now()
    await listening.stop(50)
    expect(performance.now() - started).toBeLessThan(2_000)
    expect(await session.receive()).toMatch(/^421|closed/)
  })
})

test('listening on a port in use is an error', async () => {
  const address = await listen()
  const other = createEmailChannel({
    mailDomain: 'x.example',
    smtp: { host: '127.0.0.1', port: Number(address.split(':')[1]), tls: null },
    relayUrl: null,
    outboxDir: dataDir,
    dataDir,
    resolver: fakeResolver({}),
    log: silentLogger,
  })
  await expect(other.listen(sinkWith())).rejects.toMatchObject({ code: 'EADDRINUSE' })
})
