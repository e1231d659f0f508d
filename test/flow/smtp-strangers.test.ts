import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { createEmailChannel, type EmailChannel } from '../../src/channel/email/email-channel.ts'
import type { Inbound, Listening } from '../../src/core/channel/inbound.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { SmtpLimits } from '../../src/mail/receive/smtp-limits.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { fakeResolver } from '../support/dns.ts'
import { temporaryDir } from '../support/postgres.ts'
import { sinkWith } from '../support/sink.ts'
import { until } from '../support/until.ts'

/**
 * Attempts by strangers to keep others from using the SMTP port. Sources are addresses in 127.0.0.0/8; time
 * is advanced by the test.
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
  /** Resolves with the next complete response, or with '' once the server has closed the connection. */
  receive(): Promise<string>
  send(line: string): Promise<string>
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
  const receive = () =>
    until(() => {
      const [whole] = /^(?:\d{3}-.*\r\n)*\d{3} .*\r\n/.exec(text) ?? []
      if (whole === undefined) return closed ? { response: '' } : null
      text = text.slice(whole.length)
      return { response: whole.trimEnd() }
    }).then(({ response }) => response)
  return {
    socket,
    receive,
    send: (line) => {
      socket.write(`${line}\r\n`)
      return receive()
    },
  }
}

const greeted = async (localAddress?: string): Promise<Session> => {
  const session = dial(localAddress)
  expect(await session.receive()).toMatch(/^220/)
  expect(await session.send('EHLO client.example')).toMatch(/^250/)
  return session
}

const inData = async (localAddress?: string): Promise<Session> => {
  const session = await greeted(localAddress)
  await session.send('MAIL FROM:<ann@example.com>')
  expect(await session.send('RCPT TO:<bot@agents.localhost>')).toMatch(/^250/)
  expect(await session.send('DATA')).toMatch(/^354/)
  return session
}

const HEAD = 'From: ann@example.com\r\nSubject: hi\r\n\r\n'
const line = `${'x'.repeat(76)}\r\n`
const longText = (bytes: number) => line.repeat(Math.ceil(bytes / line.length))
const delivered = async (from?: string, text = 'hello') => {
  const session = await inData(from)
  return session.send(`${HEAD}${text}\r\n.`)
}

describe('an SMTP session without a message', () => {
  test('ends after a minute, which NOOP, RSET and EHLO do not extend', async () => {
    await listen({ beforeMailMs: 60_000 })
    const session = await greeted()
    for (const command of ['NOOP', 'RSET', 'EHLO again.example', 'VRFY ann']) {
      clock.advance(14_000)
      expect(await session.send(command)).toMatch(/^25/)
    }
    clock.advance(5_000)
    expect(await session.receive()).toMatch(/^421 .*No message received for too long/)
    expect(await session.receive()).toBe('')
    expect(await delivered()).toMatch(/^250/)
  })

  test('ends after the maximum number of commands', async () => {
    await listen({ commands: 10 })
    const session = await greeted()
    for (let n = 0; n < 9; n++) expect(await session.send('NOOP')).toMatch(/^250/)
    expect(await session.send('NOOP')).toMatch(/^421 .*Too many commands/)
    expect(await session.receive()).toBe('')
  })

  test('has its commands counted from zero again after each message', async () => {
    await listen({ commands: 6 })
    const session = await greeted()
    for (let n = 0; n < 5; n++) {
      expect(await session.send('MAIL FROM:<ann@example.com>')).toMatch(/^250/)
      await session.send('RCPT TO:<bot@agents.localhost>')
      await session.send('DATA')
      expect(await session.send(`${HEAD}hello\r\n.`)).toMatch(/^250/)
      expect(await session.send('NOOP')).toMatch(/^250/)
    }
    expect(stored).toHaveLength(5)
  })

  test('ends if its TLS handshake stalls', async () => {
    await listen({ beforeMailMs: 60_000 })
    const session = await greeted()
    expect(await session.send('STARTTLS')).toMatch(/^220/)
    clock.advance(60_001)
    expect(await session.receive()).toBe('')
    await until(() => listening.sessions === 0)
    expect(await delivered()).toMatch(/^250/)
  })
})

describe('an SMTP session with transactions', () => {
  test('ends if it stalls, even if it sends NOOP', async () => {
    await listen({ idleMs: 300_000 })
    const session = await greeted()
    await session.send('MAIL FROM:<ann@example.com>')
    await session.send('RCPT TO:<bot@agents.localhost>')
    for (let n = 0; n < 4; n++) {
      clock.advance(70_000)
      expect(await session.send('NOOP')).toMatch(/^250/)
    }
    clock.advance(21_000)
    expect(await session.receive()).toMatch(/^421/)
  })

  test('ends after its maximum lifetime, once the current message is received', async () => {
    await listen({ lifetimeMs: 1_000_000, beforeMailMs: 10_000_000, paceGraceMs: 100_000_000 })
    const session = await inData()
    clock.advance(1_000_001)
    expect(await session.send(`${HEAD}hello\r\n.`)).toMatch(/^250/)
    expect(await session.receive()).toMatch(/^421 .*lasted too long/)
    expect(stored).toHaveLength(1)
  })

  test('ends after the maximum number of errors, and another session of its source can still deliver', async () => {
    await listen({ errors: 5 })
    const session = await greeted()
    for (let n = 0; n < 5; n++) expect(await session.send('MAIL FROM:nonsense')).toMatch(/^501/)
    expect(await session.receive()).toMatch(/^421 .*Too many errors/)
    expect(await delivered()).toMatch(/^250/)
  })

  test('is one of few allowed to a source with many errors for ten minutes, and other sources are not limited', async () => {
    await listen({ errorsPerSource: 3, connectionsWhenErring: 1, countOwnNetworks: true })
    const erring = await greeted('127.0.0.2')
    for (let n = 0; n < 3; n++) await erring.send('MAIL FROM:nonsense')
    expect(await dial('127.0.0.2').receive()).toMatch(/^421 .*from your address/)
    await greeted('127.0.0.3')
    await greeted('127.0.0.3')
    clock.advance(600_000)
    expect(await dial('127.0.0.2').receive()).toMatch(/^220/)
  })
})

test('a source with many unknown recipients in an hour learns no more of any recipient, and others do', async () => {
  await listen({ unknownPerSource: 3, countOwnNetworks: true, tarpitMs: 0, maxTarpitMs: 0 })
  const begun = async (from: string) => {
    const session = await greeted(from)
    await session.send('MAIL FROM:<ann@example.com>')
    return session
  }
  const guess = (session: Session, local: string) => session.send(`RCPT TO:<${local}@agents.localhost>`)
  for (const local of ['a', 'b', 'c']) expect(await guess(await begun('127.0.0.2'), local)).toMatch(/^550/)
  const known = await guess(await begun('127.0.0.2'), 'bot')
  expect(known).toMatch(/^450 .*Too many unknown recipients/)
  expect(await guess(await begun('127.0.0.2'), 'd')).toBe(known)
  expect(await guess(await begun('127.0.0.3'), 'bot')).toMatch(/^250/)
  clock.advance(3_600_000)
  expect(await guess(await begun('127.0.0.2'), 'bot')).toMatch(/^250/)
})

test('a mail server in the same network is not limited for the errors that it passes on', async () => {
  await listen({ errorsPerSource: 3, connectionsWhenErring: 1 })
  const gateway = await greeted('127.0.0.2')
  for (let n = 0; n < 3; n++) await gateway.send('MAIL FROM:nonsense')
  expect(await dial('127.0.0.2').receive()).toMatch(/^220/)
})

describe('when all sessions are in use', () => {
  test('the oldest idle session of the source with the most sessions is closed, and a new sender is served', async () => {
    await listen({ connections: 4 })
    const honest = await greeted('127.0.0.9')
    clock.advance(1_000)
    const idle: Session[] = []
    for (let n = 0; n < 3; n++) {
      idle.push(await greeted('127.0.0.2'))
      clock.advance(10)
    }
    expect(await delivered('127.0.0.3')).toMatch(/^250/)
    expect(await idle[0]!.receive()).toMatch(/^421 .*this one was idle/)
    expect(await honest.send('NOOP')).toMatch(/^250/)
    expect(await idle[1]!.send('NOOP')).toMatch(/^250/)
  })

  test('four sources with 50 idle sessions each that send NOOP do not lock others out', async () => {
    await listen({ connections: 200, connectionsPerAddress: 50 })
    const sessions: Session[] = []
    for (let n = 0; n < 200; n++) sessions.push(await greeted(`127.0.1.${1 + (n % 4)}`))
    await Promise.all(sessions.map(({ send }) => send('NOOP')))
    for (let n = 0; n < 10; n++) expect(await delivered('127.0.0.3')).toMatch(/^250/)
  })

  test('an active transaction is kept, and a stalled transaction or TLS handshake is closed', async () => {
    await listen({ connections: 2 })
    const slow = await greeted('127.0.0.2')
    await slow.send('MAIL FROM:<ann@example.com>')
    const handshake = await greeted('127.0.0.2')
    expect(await handshake.send('STARTTLS')).toMatch(/^220/)
    expect(await delivered('127.0.0.3')).toMatch(/^250/)
    expect(await handshake.receive()).toBe('')
    expect(await slow.send('RCPT TO:<bot@agents.localhost>')).toMatch(/^250/)
    clock.advance(5_001)
    expect(await delivered('127.0.0.4')).toMatch(/^250/)
    expect(await slow.receive()).toMatch(/^421 .*this one was idle/)
  })

  test('a source does not displace sessions of a source that has fewer sessions', async () => {
    await listen({ connections: 3 })
    const others = [await greeted('127.0.0.2'), await greeted('127.0.0.3')]
    const busy = await inData('127.0.0.4')
    expect(await dial('127.0.0.4').receive()).toMatch(/^421 .*Too many connections/)
    for (const session of others) expect(await session.send('NOOP')).toMatch(/^250/)
    expect(await busy.send(`${HEAD}hello\r\n.`)).toMatch(/^250/)
  })
})

describe('a message that arrives slowly', () => {
  test('is cut off when it stalls', async () => {
    await listen({ paceGraceMs: 60_000, minBytesPerSecond: 1024 })
    const session = await inData()
    session.socket.write(`${HEAD}a\r\n`)
    clock.advance(60_001)
    expect(await session.receive()).toMatch(/^421 .*too slowly/)
    expect(stored).toEqual([])
    expect(await delivered()).toMatch(/^250/)
  })

  test('takes no place of other long messages, until it is complete', async () => {
    mkdirSync(join(dataDir, 'spool'), { recursive: true })
    writeFileSync(join(dataDir, 'spool', 'left by a killed process'), '')
    await listen({ smallBytes: 10_000, largeMails: 1 })
    const slow = []
    for (let n = 2; n < 10; n++) {
      const session = await inData(`127.0.0.${n}`)
      session.socket.write(HEAD + longText(50_000))
      slow.push(session)
    }
    for (let n = 1; n <= 4; n++) {
      expect(await delivered('127.0.0.2', longText(50_000))).toMatch(/^250/)
      expect(stored).toHaveLength(n)
    }
    for (const session of slow) expect(await session.send('.')).toMatch(/^250/)
    expect(stored.slice(4).every(({ raw }) => raw!.length >= HEAD.length + 50_000)).toBe(true)
    expect(readdirSync(join(dataDir, 'spool'))).toEqual([])
  })

  test('makes way when its disk space is needed: the slowest sender is cut off', async () => {
    await listen({ smallBytes: 10_000, spoolBytes: 130_000 })
    const stalled = [await inData('127.0.0.2'), await inData('127.0.0.3')]
    for (const { socket } of stalled) socket.write(HEAD + longText(50_000))
    const cutOff = Promise.race(stalled.map(({ receive }) => receive()))
    clock.advance(2_000)
    await until(async () => {
      clock.advance(1_000)
      return /^250/.test(await delivered('127.0.0.4', longText(50_000)))
    })
    expect(await cutOff).toMatch(/^421 .*its place was needed/)
  })

  test('is deferred with 452 when its source has too much on disk', async () => {
    await listen({ smallBytes: 10_000, spoolBytesPerSource: 60_000, spoolBytes: 70_000 })
    const first = await inData('127.0.0.2')
    first.socket.write(HEAD + longText(50_000))
    await until(async () => /^452 /.test(await delivered('127.0.0.2', longText(40_000))))
    expect(await first.send('.')).toMatch(/^250/)
    expect(await delivered('127.0.0.2', longText(40_000))).toMatch(/^250/)
  })

  test('waits for a place in memory when it is complete, of which its source has one', async () => {
    let release = (): void => undefined
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const waiting: Inbound[] = []
    await listen({ smallBytes: 10_000, largeMails: 4, waitMs: 100 }, async (message) => {
      waiting.push(message)
      await gate
      stored.push(message)
    })
    const first = delivered('127.0.0.2', longText(50_000))
    await until(() => waiting.length === 1)
    expect(await delivered('127.0.0.2', longText(50_000))).toMatch(/^451 .*Too many long messages/)
    const other = delivered('127.0.0.3', longText(50_000))
    await until(() => waiting.length === 2)
    release()
    expect(await first).toMatch(/^250/)
    expect(await other).toMatch(/^250/)
  })
})
