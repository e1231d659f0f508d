import { rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { Inbound, Listening } from '../../src/channel/channel.ts'
import { createEmailChannel, type EmailChannel } from '../../src/channel/email/email-channel.ts'
import type { SmtpLimits } from '../../src/channel/email/receive/smtp-limits.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { fakeResolver } from '../support/dns.ts'
import { temporaryDir } from '../support/postgres.ts'
import { sinkWith } from '../support/sink.ts'
import { until } from '../support/until.ts'

/**
 * What strangers do at the SMTP port to keep others out. Sources are addresses of 127.0.0.0/8; time is moved,
 * not waited for.
 */

const dataDir = temporaryDir()
let clock: FakeClock
let channel: EmailChannel
let listening: Listening
let stored: Inbound[]
const sockets: Socket[] = []

const listen = async (
  limits: Partial<SmtpLimits>,
  inbound?: (message: Inbound) => Promise<void>,
): Promise<void> => {
  clock = createFakeClock()
  stored = []
  channel = createEmailChannel({
    mailDomain: 'agents.localhost',
    smtp: { host: '127.0.0.1', port: 0, tls: null, limits: { tickMs: 5, ...limits } },
    relayUrl: null,
    outboxDir: dataDir,
    dataDir,
    resolver: fakeResolver({}),
    log: silentLogger,
    clock,
  })
  const keep = async (message: Inbound) => void stored.push(message)
  listening = await channel.listen(
    sinkWith({ accepts: async (address) => address === 'bot@agents.localhost', inbound: inbound ?? keep }),
  )
}

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await listening.stop(100)
  await channel.close()
  rmSync(dataDir, { recursive: true, force: true })
})

interface Session {
  socket: Socket
  /** The next whole answer, or '' once the server has closed. */
  hear(): Promise<string>
  say(line: string): Promise<string>
}

const dial = (localAddress = '127.0.0.1'): Session => {
  const socket = connect({ port: Number(listening.address.split(':')[1]), host: '127.0.0.1', localAddress })
  sockets.push(socket)
  let text = ''
  let closed = false
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  socket
    .on('error', () => undefined)
    .on('close', () => {
      closed = true
    })
  const hear = () =>
    until(() => {
      const [whole] = /^(?:\d{3}-.*\r\n)*\d{3} .*\r\n/.exec(text) ?? []
      if (whole === undefined) return closed ? { said: '' } : null
      text = text.slice(whole.length)
      return { said: whole.trimEnd() }
    }).then(({ said }) => said)
  return {
    socket,
    hear,
    say: (line) => {
      socket.write(`${line}\r\n`)
      return hear()
    },
  }
}

const greeted = async (localAddress?: string): Promise<Session> => {
  const session = dial(localAddress)
  expect(await session.hear()).toMatch(/^220/)
  expect(await session.say('EHLO client.example')).toMatch(/^250/)
  return session
}

const inData = async (localAddress?: string): Promise<Session> => {
  const session = await greeted(localAddress)
  await session.say('MAIL FROM:<ann@example.com>')
  expect(await session.say('RCPT TO:<bot@agents.localhost>')).toMatch(/^250/)
  expect(await session.say('DATA')).toMatch(/^354/)
  return session
}

const HEAD = 'From: ann@example.com\r\nSubject: hi\r\n\r\n'
const line = `${'x'.repeat(76)}\r\n`
const longText = (bytes: number) => line.repeat(Math.ceil(bytes / line.length))
const delivered = async (from?: string, text = 'hello') => {
  const session = await inData(from)
  return session.say(`${HEAD}${text}\r\n.`)
}

describe('a session without a message', () => {
  test('ends after a minute; NOOP, RSET and HELO do not lengthen it', async () => {
    await listen({ beforeMailMs: 60_000 })
    const session = await greeted()
    for (const command of ['NOOP', 'RSET', 'EHLO again.example', 'VRFY ann']) {
      clock.advance(14_000)
      expect(await session.say(command)).toMatch(/^25/)
    }
    clock.advance(5_000)
    expect(await session.hear()).toMatch(/^421 .*No message received for too long/)
    expect(await session.hear()).toBe('')
    expect(await delivered()).toMatch(/^250/)
  })

  test('ends after so many commands', async () => {
    await listen({ commands: 10 })
    const session = await greeted()
    for (let n = 0; n < 9; n++) expect(await session.say('NOOP')).toMatch(/^250/)
    expect(await session.say('NOOP')).toMatch(/^421 .*Too many commands/)
    expect(await session.hear()).toBe('')
  })

  test('commands are counted anew after each message', async () => {
    await listen({ commands: 6 })
    const session = await greeted()
    for (let n = 0; n < 5; n++) {
      expect(await session.say('MAIL FROM:<ann@example.com>')).toMatch(/^250/)
      await session.say('RCPT TO:<bot@agents.localhost>')
      await session.say('DATA')
      expect(await session.say(`${HEAD}hello\r\n.`)).toMatch(/^250/)
      expect(await session.say('NOOP')).toMatch(/^250/)
    }
    expect(stored).toHaveLength(5)
  })

  test('ends while its TLS handshake stalls', async () => {
    await listen({ beforeMailMs: 60_000 })
    const session = await greeted()
    expect(await session.say('STARTTLS')).toMatch(/^220/)
    clock.advance(60_001)
    expect(await session.hear()).toBe('')
    await until(() => listening.sessions === 0)
    expect(await delivered()).toMatch(/^250/)
  })
})

describe('a session with transactions', () => {
  test('that stands still ends, although it says NOOP', async () => {
    await listen({ idleMs: 300_000 })
    const session = await greeted()
    await session.say('MAIL FROM:<ann@example.com>')
    await session.say('RCPT TO:<bot@agents.localhost>')
    for (let n = 0; n < 4; n++) {
      clock.advance(70_000)
      expect(await session.say('NOOP')).toMatch(/^250/)
    }
    clock.advance(21_000)
    expect(await session.hear()).toMatch(/^421/)
  })

  test('ends when it has lasted too long, after the message in hand', async () => {
    await listen({ lifetimeMs: 1_000_000, beforeMailMs: 10_000_000, paceGraceMs: 100_000_000 })
    const session = await inData()
    clock.advance(1_000_001)
    expect(await session.say(`${HEAD}hello\r\n.`)).toMatch(/^250/)
    expect(await session.hear()).toMatch(/^421 .*lasted too long/)
    expect(stored).toHaveLength(1)
  })

  test('ends after so many errors; another session of its source still delivers', async () => {
    await listen({ errors: 5 })
    const session = await greeted()
    for (let n = 0; n < 5; n++) expect(await session.say('MAIL FROM:nonsense')).toMatch(/^501/)
    expect(await session.hear()).toMatch(/^421 .*Too many errors/)
    expect(await delivered()).toMatch(/^250/)
  })

  test('a source that was answered many errors has fewer sessions at a time, for ten minutes; others have all', async () => {
    await listen({ errorsPerSource: 3, connectionsWhenErring: 1, countOwnNetworks: true })
    const erring = await greeted('127.0.0.2')
    for (let n = 0; n < 3; n++) await erring.say('MAIL FROM:nonsense')
    expect(await dial('127.0.0.2').hear()).toMatch(/^421 .*from your address/)
    await greeted('127.0.0.3')
    await greeted('127.0.0.3')
    clock.advance(600_000)
    expect(await dial('127.0.0.2').hear()).toMatch(/^220/)
  })
})

test('a mail server in front of us, in the own network, is not blamed for the errors that it passes on', async () => {
  await listen({ errorsPerSource: 3, connectionsWhenErring: 1 })
  const gateway = await greeted('127.0.0.2')
  for (let n = 0; n < 3; n++) await gateway.say('MAIL FROM:nonsense')
  expect(await dial('127.0.0.2').hear()).toMatch(/^220/)
})

describe('when all places are taken', () => {
  test('an idle session of the source with the most gives way, the oldest first, and a sender gets in', async () => {
    await listen({ connections: 4 })
    const honest = await greeted('127.0.0.9')
    clock.advance(1_000)
    const idle: Session[] = []
    for (let n = 0; n < 3; n++) {
      idle.push(await greeted('127.0.0.2'))
      clock.advance(10)
    }
    expect(await delivered('127.0.0.3')).toMatch(/^250/)
    expect(await idle[0]!.hear()).toMatch(/^421 .*this one was idle/)
    expect(await honest.say('NOOP')).toMatch(/^250/)
    expect(await idle[1]!.say('NOOP')).toMatch(/^250/)
  })

  test('four sources with 50 idle sessions each, which say NOOP, lock nobody out', async () => {
    await listen({ connections: 200, connectionsPerAddress: 50 })
    const sessions: Session[] = []
    for (let n = 0; n < 200; n++) sessions.push(await greeted(`127.0.1.${1 + (n % 4)}`))
    await Promise.all(sessions.map(({ say }) => say('NOOP')))
    for (let n = 0; n < 10; n++) expect(await delivered('127.0.0.3')).toMatch(/^250/)
  })

  test('a transaction that goes on stays; one that stands still gives way; a stalled handshake does too', async () => {
    await listen({ connections: 2 })
    const slow = await greeted('127.0.0.2')
    await slow.say('MAIL FROM:<ann@example.com>')
    const handshake = await greeted('127.0.0.2')
    expect(await handshake.say('STARTTLS')).toMatch(/^220/)
    expect(await delivered('127.0.0.3')).toMatch(/^250/)
    expect(await handshake.hear()).toBe('')
    expect(await slow.say('RCPT TO:<bot@agents.localhost>')).toMatch(/^250/)
    clock.advance(5_001)
    expect(await delivered('127.0.0.4')).toMatch(/^250/)
    expect(await slow.hear()).toMatch(/^421 .*this one was idle/)
  })

  test('a source pushes out none of a source that has fewer sessions than itself', async () => {
    await listen({ connections: 3 })
    const others = [await greeted('127.0.0.2'), await greeted('127.0.0.3')]
    const busy = await inData('127.0.0.4')
    expect(await dial('127.0.0.4').hear()).toMatch(/^421 .*Too many connections/)
    for (const session of others) expect(await session.say('NOOP')).toMatch(/^250/)
    expect(await busy.say(`${HEAD}hello\r\n.`)).toMatch(/^250/)
  })
})

describe('a message that comes slowly', () => {
  test('is cut off when it stands still', async () => {
    await listen({ paceGraceMs: 60_000, minBytesPerSecond: 1024 })
    const session = await inData()
    session.socket.write(`${HEAD}a\r\n`)
    clock.advance(60_001)
    expect(await session.hear()).toMatch(/^421 .*too slowly/)
    expect(stored).toEqual([])
    expect(await delivered()).toMatch(/^250/)
  })

  test('long ones that stand still keep out no other: the slowest loses its place at once', async () => {
    await listen({ smallBytes: 10_000, largeMails: 2 })
    const stalled = [await inData('127.0.0.2'), await inData('127.0.0.3')]
    for (const { socket } of stalled) socket.write(HEAD + longText(50_000))
    const answer = delivered('127.0.0.4', longText(50_000))
    const heard = Promise.race(stalled.map(({ hear }) => hear()))
    await until(() => {
      clock.advance(1_000)
      return stored.length > 0
    })
    expect(await answer).toMatch(/^250/)
    expect(await heard).toMatch(/^421 .*its slot was needed/)
    expect(stored).toHaveLength(1)
  })

  test('one source has one place for a long message, others have theirs', async () => {
    let release = (): void => undefined
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    await listen(
      { smallBytes: 10_000, largeMails: 4, waitMs: 100, paceGraceMs: 100_000_000 },
      async (message) => {
        await gate
        stored.push(message)
      },
    )
    const first = await inData('127.0.0.2')
    first.socket.write(HEAD + longText(50_000))
    expect(await delivered('127.0.0.2', longText(50_000))).toMatch(/^451 .*Too many long messages/)
    release()
    expect(await delivered('127.0.0.3', longText(50_000))).toMatch(/^250/)
    expect(await first.say('.')).toMatch(/^250/)
  })
})
