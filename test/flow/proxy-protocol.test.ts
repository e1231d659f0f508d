import { connect, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { beforeAll, describe, expect, test } from 'vitest'
import { proxyHeaderOf, takeProxyHeader } from '../../src/core/address/proxy-header.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { startHttp } from '../../src/http/server.ts'
import { fakeResolver } from '../support/dns.ts'
import { newest } from '../support/letter.ts'
import { createTestLog } from '../support/log.ts'
import { createTestAgent, startService, type TestAgent, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** The PROXY protocol, from trusted addresses and from others. */

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const binary = (family: number, addresses: number[], { command = 0x21, more = [] as number[] } = {}) => {
  const rest = [...addresses, ...more]
  return Buffer.from([...SIGNATURE, command, family, rest.length >> 8, rest.length & 255, ...rest])
}
const IPV4 = [203, 0, 113, 7, 192, 0, 2, 1, 0xdc, 0x04, 0, 25]
const IPV6 = [
  ...[0x20, 0x01, 0x0d, 0xb8, ...Array<number>(11).fill(0), 7],
  ...[0x20, 0x01, 0x0d, 0xb8, ...Array<number>(11).fill(0), 1],
  ...[0xdc, 0x04, 0, 25],
]
const CLIENT = { address: '203.0.113.7', port: 56_324 }

describe('a header', () => {
  test.each([
    [binary(0x11, IPV4), CLIENT],
    [binary(0x11, IPV4, { more: [0x04, 0, 3, 1, 2, 3] }), CLIENT],
    [binary(0x21, IPV6), { address: '2001:db8::7', port: 56_324 }],
    [binary(0x11, IPV4, { command: 0x20 }), null],
    [binary(0, []), null],
    [Buffer.from('PROXY TCP4 203.0.113.7 192.0.2.1 56324 25\r\n'), CLIENT],
    [
      Buffer.from('PROXY TCP6 2001:db8::7 2001:db8::1 56324 25\r\n'),
      { address: '2001:db8::7', port: 56_324 },
    ],
    [
      Buffer.from('PROXY TCP6 fe80::7%br-lan fe80::1%br-lan 56324 25\r\n'),
      { address: 'fe80::7', port: 56_324 },
    ],
    [Buffer.from('PROXY UNKNOWN\r\n'), null],
  ])('%# is read to its end, whatever follows, and however it is cut', (bytes, client) => {
    expect(proxyHeaderOf(Buffer.concat([bytes, Buffer.from('EHLO x\r\n')]))).toEqual({
      size: bytes.length,
      client,
    })
    for (let end = 0; end < bytes.length; end++) expect(proxyHeaderOf(bytes.subarray(0, end))).toBe('more')
  })

  test.each([
    binary(0x11, IPV4, { command: 0x11 }),
    binary(0x11, IPV4, { command: 0x22 }),
    binary(0x12, IPV4),
    binary(0x31, IPV4),
    binary(0x11, IPV4.slice(0, 8)),
    binary(0x21, IPV4),
    binary(0x11, IPV4, { more: Array<number>(3_000).fill(0) }),
    Buffer.from('PROXY TCP4 2001:db8::7 192.0.2.1 56324 25\r\n'),
    Buffer.from('PROXY TCP4 x 192.0.2.1 56324 25\r\n'),
    Buffer.from(`PROXY TCP4 ${'1'.repeat(200)}`),
    Buffer.from('PROXY UDP4 203.0.113.7 192.0.2.1 1 2\r\n'),
  ])('%# is broken', (bytes) => {
    expect(proxyHeaderOf(bytes)).toBe('broken')
  })

  test.each(['GET / HTTP/1.1\r\n', 'PROPFIND / HTTP/1.1', 'EHLO x\r\n', '\r\nGET /'])(
    '%j is none',
    (text) => {
      expect(proxyHeaderOf(Buffer.from(text))).toBe('none')
    },
  )
})

test.each(['', 'PROXY TCP4 '])('a connection that ends after %j is not waited for', async (text) => {
  const socket = new PassThrough()
  const taken = takeProxyHeader(socket as never, 60_000)
  socket.end(text)
  await expect(taken).rejects.toThrow('broken PROXY header')
})

interface Spoken {
  socket: Socket
  text(): string
}
const speak = (to: { host: string; port: number }, ...first: (Buffer | string)[]): Spoken => {
  let text = ''
  const socket = connect(to.port, to.host)
  socket.on('data', (bytes) => {
    text += bytes
  })
  socket.on('error', () => undefined)
  for (const bytes of first) socket.write(bytes)
  return { socket, text: () => text }
}
const says = (spoken: Spoken, what: RegExp) => until(async () => what.test(spoken.text()))
const ends = ({ socket }: Spoken) => until(async () => socket.closed || socket.destroyed)

/** Each service is asked from this machine, whose address one of them trusts. */
const log = createTestLog()
let trusting: TestService
let other: TestService
let agent: TestAgent
beforeAll(async () => {
  const world = {
    resolver: fakeResolver({ 'example.com': { TXT: ['v=spf1 ip4:203.0.113.7 -all'] } }),
  }
  trusting = await startService({ environment: { TRUST_PROXY: '127.0.0.1' }, world, log })
  other = await startService({ world })
  const owner = await trusting.workspace()
  agent = await createTestAgent(trusting, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
})
const httpOf = ({ http }: TestService) => {
  const { hostname: host, port } = new URL(http)
  return { host, port: Number(port) }
}

describe('SMTP', () => {
  const deliver = async (...header: Buffer[]) => {
    const spoken = speak(trusting.smtp, ...header)
    await says(spoken, /^220 /)
    spoken.socket.write('EHLO mx.example.com\r\n')
    await says(spoken, /250[ -].*\r\n$/)
    spoken.socket.write(`MAIL FROM:<ann@example.com>\r\nRCPT TO:<${agent.address}>\r\nDATA\r\n`)
    await says(spoken, /354 /)
    spoken.socket.write('From: ann@example.com\r\nSubject: Hi\r\n\r\nhi\r\n.\r\nQUIT\r\n')
    await says(spoken, /221 /)
    const [{ checks }] = await newest(agent)
    return checks.find(({ name }: { name: string }) => name === 'spf')
  }

  test('takes the client from a trusted proxy: SPF is about its address', async () => {
    expect(await deliver(binary(0x11, IPV4, { more: [0x04, 0, 1, 0] }))).toMatchObject({ verdict: 'pass' })
    expect(log.text()).toContain('"remoteAddress":"203.0.113.7"')
    expect(await deliver(Buffer.from('PROXY TCP4 203.0.113.8 192.0.2.1 1 2\r\n'))).toMatchObject({
      verdict: 'fail',
    })
  })

  test('takes it in pieces, and greets a trusted client that sends none', async () => {
    const header = binary(0x11, IPV4)
    expect(await deliver(header.subarray(0, 5), header.subarray(5))).toMatchObject({ verdict: 'pass' })
    expect((await deliver()).verdict).not.toBe('pass')
  })

  test('ends a connection with a broken header, and one that stops within it', async () => {
    for (const bytes of [binary(0x31, IPV4), binary(0x11, IPV4).subarray(0, 20)]) {
      const spoken = speak(trusting.smtp, bytes)
      await ends(spoken)
      expect(spoken.text()).toBe('')
    }
  })

  test('refuses a header from any other address', async () => {
    for (const bytes of [binary(0x11, IPV4), Buffer.from('PROXY TCP4 203.0.113.7 192.0.2.1 1 2\r\n')]) {
      const spoken = speak(other.smtp, bytes, 'EHLO x\r\nMAIL FROM:<a@example.com>\r\n')
      await ends(spoken)
      expect(spoken.text()).toMatch(/^(?:421|221) /m)
      expect(spoken.text()).not.toMatch(/^250/m)
    }
    const late = speak(other.smtp)
    await says(late, /^220 /)
    late.socket.write('PROXY TCP4 203.0.113.7 192.0.2.1 1 2\r\n')
    await ends(late)
    expect(late.text()).toContain('PROXY headers are not accepted from your address')
  })
})

describe('HTTP', () => {
  const REQUEST = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'

  test('takes the client from a trusted proxy, and requests without a header', async () => {
    for (const first of [
      [binary(0x11, IPV4), REQUEST],
      [Buffer.concat([binary(0x21, IPV6), Buffer.from(REQUEST)])],
      [REQUEST],
    ]) {
      const spoken = speak(httpOf(trusting), ...first)
      await says(spoken, /^HTTP\/1\.1 200 /)
      // The connection stays usable.
      spoken.socket.write(REQUEST)
      await until(async () => spoken.text().split('HTTP/1.1 200 ').length === 3)
      spoken.socket.destroy()
    }
  })

  test('counts what fails for the client that the header names', async () => {
    const bad = 'GET /agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer amt_wrong\r\n\r\n'
    const from = (last: number) => binary(0x11, [198, 51, 100, last, ...IPV4.slice(4)])
    let limited: Spoken | undefined
    for (let n = 0; n < 300 && !limited; n++) {
      const spoken = speak(httpOf(trusting), from(1), bad)
      await says(spoken, /^HTTP\/1\.1 4/)
      spoken.socket.destroy()
      if (/^HTTP\/1\.1 429 /.test(spoken.text())) limited = spoken
    }
    expect(limited).toBeDefined()
    const another = speak(httpOf(trusting), from(2), bad)
    await says(another, /^HTTP\/1\.1 401 /)
    another.socket.destroy()
  })

  test('ends a connection with a broken header, and refuses one from any other address', async () => {
    const broken = speak(httpOf(trusting), binary(0x31, IPV4), REQUEST)
    await ends(broken)
    expect(broken.text()).toBe('')
    for (const bytes of [binary(0x11, IPV4), Buffer.from('PROXY TCP4 203.0.113.7 192.0.2.1 1 2\r\n')]) {
      const spoken = speak(httpOf(other), bytes, REQUEST)
      await ends(spoken)
      expect(spoken.text()).toMatch(/^HTTP\/1\.1 400 /)
      expect(spoken.text()).not.toContain(' 200 ')
    }
  })
})

test('a connection of a proxy that says nothing does not keep a server from stopping', async () => {
  const none = () => Promise.reject(new Error('nothing is here'))
  const server = await startHttp({
    ...{ host: '127.0.0.1', port: 0, api: true, log: silentLogger, trustProxy: ['127.0.0.1'] },
    interfaces: {
      ...{ rest: none, graphql: none, mcp: none, web: none, oauth: none },
      ...{ stream: none, metrics: none, ready: none },
    },
  })
  const socket = connect(server.port, '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await server.stop(100)
  await closed
})
