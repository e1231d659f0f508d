import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ownCertificate } from '../../../src/mail/receive/tls.ts'
import { createDirect } from '../../../src/mail/send/direct.ts'
import { createRelay, type RelayTimeouts } from '../../../src/mail/send/smtp-out.ts'
import { fakeResolver } from '../../support/dns.ts'

const signal = new AbortController().signal
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** Starts a server on the loopback that handles each connection as the test specifies. */
async function server(handle: (socket: Socket) => void): Promise<number> {
  const open = new Set<Socket>()
  const listening = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => undefined)
    handle(socket)
  })
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.2', resolve))
  closers.push(() => {
    for (const socket of open) socket.destroy()
    listening.close()
  })
  return (listening.address() as AddressInfo).port
}

const copies = (...recipients: string[]) => ({
  envelopes: recipients.map((recipient, place) => ({
    recipient,
    reversePath: `bounce-${place}@agents.localhost`,
  })),
  raw: Buffer.from('Subject: hi\r\n\r\nhi\r\n'),
})
const send = (port: number, timeouts: RelayTimeouts = {}, recipient = 'bo@x.com') =>
  createDirect({
    mailHost: 'agents.localhost',
    resolver: fakeResolver({ 'x.com': { A: ['127.0.0.2'] } }),
    port,
    mayDial: () => true,
    timeouts,
  }).send(copies(recipient), signal)

/** Responds to each line of the client with the result of `answer`; null sends nothing. */
const talk = (socket: Pick<Socket, 'write' | 'on'>, answer: (line: string) => string | null) => {
  let partial = ''
  socket.on('data', (chunk: Buffer) => {
    const lines = (partial + chunk.toString('latin1')).split('\r\n')
    partial = lines.pop()!
    for (const line of lines) {
      const reply = answer(line)
      if (reply !== null) socket.write(reply)
    }
  })
}
const pour = (socket: Socket, text: string) => {
  const bytes = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)))
  const go = () => {
    while (!socket.destroyed && socket.write(bytes)) {}
    socket.once('drain', go)
  }
  go()
}

/** Counts how often nodemailer goes on reading responses within some rounds of the event loop. */
const readingAfter = async (): Promise<number> => {
  // The rounds that were due when the connection was closed.
  for (let i = 0; i < 20; i++) await setImmediate()
  const reading = vi.spyOn(
    SMTPConnection.prototype as unknown as { _processResponse(): void },
    '_processResponse',
  )
  for (let i = 0; i < 20; i++) await setImmediate()
  const { length } = reading.mock.calls
  reading.mockRestore()
  return length
}

describe('a server that never stops sending is disconnected', () => {
  test.each<[string, string, boolean]>([
    ['empty lines before its greeting', '\r\n', true],
    ['a greeting without an end', '220-hello\r\n', true],
    ['one line without an end', 'x', true],
    ['empty lines as a response', '\r\n', false],
    ['a response without an end', '250-SIZE\r\n', false],
    ['endless lines of spaces', ' \r\n', false],
  ])('when it sends %s', async (_, text, onConnect) => {
    const port = await server((socket) => {
      if (onConnect) return pour(socket, text)
      socket.write('220 hi\r\n')
      socket.once('data', () => pour(socket, text))
    })
    const { accepted, rejected } = await send(port)
    const rounds = await readingAfter()
    expect(rounds).toBe(0)
    expect(accepted).toEqual([])
    expect(rejected).toEqual([
      {
        recipient: 'bo@x.com',
        reason: expect.stringMatching(
          /more than 262144 octets|exceeds maximum allowed size|Unexpected Response/,
        ),
        permanent: false,
      },
    ])
    // A well-behaved server still gets its mail.
    const friendly = await server((socket) => {
      socket.write('220 hi\r\n')
      talk(socket, (line) =>
        /^(?:EHLO|MAIL|RCPT|\.$)/.test(line) ? '250 ok\r\n' : line === 'DATA' ? '354 go\r\n' : null,
      )
    })
    expect((await send(friendly)).accepted).toEqual(['bo@x.com'])
  })
})

describe('a server that responds one octet at a time', () => {
  const drip = (socket: Socket) => {
    const timer = setInterval(() => socket.write('2'), 10)
    socket.on('close', () => clearInterval(timer))
  }
  const limits = { connectMs: 5_000, greetingMs: 5_000, idleMs: 5_000, totalMs: 300 }

  test.each<[string, (socket: Socket) => void]>([
    ['with its greeting', drip],
    [
      'to EHLO',
      (socket) => {
        socket.write('220 hi\r\n')
        socket.once('data', () => drip(socket))
      },
    ],
    [
      'to the message',
      (socket) => {
        socket.write('220 hi\r\n')
        talk(socket, (line) => {
          if (line === '.') drip(socket)
          return /^(?:EHLO|MAIL|RCPT)/.test(line) ? '250 ok\r\n' : line === 'DATA' ? '354 go\r\n' : null
        })
      },
    ],
  ])('%s is disconnected at the time limit, and the mail can be retried', async (_, handle) => {
    const { rejected } = await send(await server(handle), limits)
    expect(rejected).toEqual([
      { recipient: 'bo@x.com', reason: expect.stringContaining('too slow'), permanent: false },
    ])
  })

  test('is disconnected as a relay too, and recipients that already have the mail do not get it again', async () => {
    let messages = 0
    const port = await server((socket) => {
      socket.write('220 hi\r\n')
      talk(socket, (line) => {
        if (line === '.' && ++messages > 1) drip(socket)
        return /^(?:EHLO|MAIL|RCPT)/.test(line) || (line === '.' && messages === 1)
          ? '250 ok\r\n'
          : line === 'DATA'
            ? '354 go\r\n'
            : null
      })
    })
    const relay = createRelay(`smtp://127.0.0.2:${port}`, { ...limits, totalMs: 3_000 })
    closers.push(() => relay.close())
    const { accepted, rejected } = await relay.send(copies('a@x.com', 'b@x.com', 'c@x.com'), signal)
    expect(accepted).toEqual(['a@x.com'])
    expect(rejected.map(({ recipient, permanent }) => [recipient, permanent])).toEqual([
      ['b@x.com', false],
      ['c@x.com', false],
    ])
  })
})

/**
 * Starts a server that offers STARTTLS, sends `injected` after its response to STARTTLS, and passes the TLS
 * connection to `handle`.
 */
async function securing(injected: string, handle: (secure: TLSSocket) => void): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'tls-'))
  closers.push(() => rmSync(dir, { recursive: true }))
  const { key, cert } = await ownCertificate(dir, 'x.com', new Date())
  return server((socket) => {
    socket.write('220 hi\r\n')
    socket.once('data', () => {
      socket.write('250-x.com\r\n250-SMTPUTF8\r\n250 STARTTLS\r\n')
      socket.once('data', () => {
        socket.write(`220 go\r\n${injected}`)
        const secure = new TLSSocket(socket, { isServer: true, key, cert })
        secure.on('error', () => undefined)
        handle(secure)
      })
    })
  })
}

test('a server that never stops sending over TLS is disconnected', async () => {
  const port = await securing('', (secure) => secure.once('data', () => pour(secure, '\r\n')))
  const { rejected } = await send(port)
  expect(rejected).toEqual([
    { recipient: 'bo@x.com', reason: expect.stringContaining('more than 262144 octets'), permanent: false },
  ])
})

test('plaintext sent before the TLS handshake is ignored', async () => {
  const lines: string[] = []
  const port = await securing('250-x.com\r\n250 SMTPUTF8\r\n', (secure) =>
    talk(secure, (line) => {
      lines.push(line)
      return line.startsWith('EHLO') ? '250 x.com\r\n' : '250 ok\r\n'
    }),
  )
  const { rejected } = await send(port, {}, 'bø@x.com')
  expect(rejected).toEqual([
    { recipient: 'bø@x.com', reason: expect.stringContaining('SMTPUTF8'), permanent: true },
  ])
  expect(lines[0]).toBe('EHLO agents.localhost')
})
