import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { ownCertificate } from '../../../src/channel/email/receive/tls.ts'
import { createDirect } from '../../../src/channel/email/send/direct.ts'
import { createRelay, type RelayTimeouts } from '../../../src/channel/email/send/smtp-out.ts'
import { fakeResolver } from '../../support/dns.ts'

const signal = new AbortController().signal
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A server on the loopback that does to each connection what a test wants. */
async function server(meet: (socket: Socket) => void): Promise<number> {
  const open = new Set<Socket>()
  const listening = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => undefined)
    meet(socket)
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

/** Answers each line of the client as `answer` says; null: nothing. */
const talk = (socket: Pick<Socket, 'write' | 'on'>, answer: (line: string) => string | null) => {
  let begun = ''
  socket.on('data', (chunk: Buffer) => {
    const lines = (begun + chunk.toString('latin1')).split('\r\n')
    begun = lines.pop()!
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

describe('a server that never stops talking is left', () => {
  test.each<[string, string, boolean]>([
    ['empty lines before its greeting', '\r\n', true],
    ['a greeting without an end', '220-hello\r\n', true],
    ['one line without an end', 'x', true],
    ['empty lines for an answer', '\r\n', false],
    ['an answer without an end', '250-SIZE\r\n', false],
    ['a line of blanks after the other', ' \r\n', false],
  ])('%s', async (_, text, atOnce) => {
    const port = await server((socket) => {
      if (atOnce) return pour(socket, text)
      socket.write('220 hi\r\n')
      socket.once('data', () => pour(socket, text))
    })
    const { accepted, rejected } = await send(port)
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
    // And one that means well still gets its mail.
    const friendly = await server((socket) => {
      socket.write('220 hi\r\n')
      talk(socket, (line) =>
        /^(?:EHLO|MAIL|RCPT|\.$)/.test(line) ? '250 ok\r\n' : line === 'DATA' ? '354 go\r\n' : null,
      )
    })
    expect((await send(friendly)).accepted).toEqual(['bo@x.com'])
  })
})

describe('a server that answers an octet at a time', () => {
  const drip = (socket: Socket) => {
    const timer = setInterval(() => socket.write('2'), 10)
    socket.on('close', () => clearInterval(timer))
  }
  const limits = { connectMs: 5_000, greetingMs: 5_000, idleMs: 5_000, totalMs: 300 }

  test.each<[string, (socket: Socket) => void]>([
    ['for its greeting', drip],
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
  ])('%s is left when its time is up, and tried again later', async (_, meet) => {
    const { rejected } = await send(await server(meet), limits)
    expect(rejected).toEqual([
      { recipient: 'bo@x.com', reason: expect.stringContaining('too slow'), permanent: false },
    ])
  })

  test('is left as a relay, too, and who has the mail by then does not get it again', async () => {
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
 * A server that offers STARTTLS, says `injected` behind its answer to it, and hands over what it then has.
 */
async function securing(injected: string, meet: (secure: TLSSocket) => void): Promise<number> {
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
        meet(secure)
      })
    })
  })
}

test('a server that never stops talking under TLS is left, too', async () => {
  const port = await securing('', (secure) => secure.once('data', () => pour(secure, '\r\n')))
  const { rejected } = await send(port)
  expect(rejected).toEqual([
    { recipient: 'bo@x.com', reason: expect.stringContaining('more than 262144 octets'), permanent: false },
  ])
})

test('what was said before STARTTLS, and behind its answer, counts for nothing', async () => {
  const heard: string[] = []
  const port = await securing('250-x.com\r\n250 SMTPUTF8\r\n', (secure) =>
    talk(secure, (line) => {
      heard.push(line)
      return line.startsWith('EHLO') ? '250 x.com\r\n' : '250 ok\r\n'
    }),
  )
  const { rejected } = await send(port, {}, 'bø@x.com')
  expect(rejected).toEqual([
    { recipient: 'bø@x.com', reason: expect.stringContaining('SMTPUTF8'), permanent: true },
  ])
  expect(heard[0]).toBe('EHLO agents.localhost')
})
