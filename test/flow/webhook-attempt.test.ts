import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { generate } from 'selfsigned'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { createAllow } from '../../src/outgoing-http/allowed-address.ts'
import { type Connection, type DialDeps, Dialler } from '../../src/outgoing-http/dial.ts'
import type { Lookup } from '../../src/outgoing-http/lookup.ts'
import { deliver, type Outcome, readRetryAfter } from '../../src/webhook/post/post.ts'
import { createReceiver } from '../support/receiver.ts'
import { SOON_MS, until } from '../support/until.ts'

const certificate = async (name: string) => {
  const made = await generate([{ name: 'commonName', value: name }], {
    extensions: [
      { name: 'subjectAltName', altNames: [{ type: 2, value: name }] },
      { name: 'basicConstraints', cA: true },
    ],
  })
  return { key: made.private, cert: made.cert }
}
const tls = await certificate('hooks.example.com')
const plain = await createReceiver()
const secure = await createReceiver({ tls })
afterAll(() => Promise.all([plain.close(), secure.close()]))

const named: Lookup = async () => [{ address: '127.0.0.1', family: 4 }]
const local = (deps: Partial<DialDeps> = {}) =>
  new Dialler({ allow: createAllow(['127.0.0.0/8']), lookup: named, ...deps })
const open: Connection[] = []
afterEach(() => {
  for (const connection of open.splice(0)) connection.destroy(new Error('the test is over'))
})
const attempt = (url: string, { dialler = local(), timeoutMs = 5000 } = {}): Promise<Outcome> => {
  const connection = dialler.connectionTo(url)
  open.push(connection)
  return deliver(connection, {
    headers: ['content-type', 'application/json'],
    body: Buffer.from('{}'),
    now: new Date(),
    timeoutMs,
  })
}

/** Starts a server that sends raw bytes, for responses that no HTTP server would send. */
const raw = async (speak: (socket: Socket) => void): Promise<string> => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => speak(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

describe('the response to an attempt', () => {
  test.each([
    [200, { kind: 'delivered', status: 200 }],
    [204, { kind: 'delivered', status: 204 }],
    [299, { kind: 'delivered', status: 299 }],
    [301, { kind: 'failed', status: 301 }],
    [302, { kind: 'failed', status: 302 }],
    [304, { kind: 'failed', status: 304 }],
    [308, { kind: 'failed', status: 308 }],
    [400, { kind: 'failed', status: 400 }],
    [401, { kind: 'failed', status: 401 }],
    [404, { kind: 'failed', status: 404 }],
    [410, { kind: 'gone', status: 410 }],
    [413, { kind: 'too_large', status: 413 }],
    [429, { kind: 'failed', status: 429, retryAfterMs: 0 }],
    [500, { kind: 'failed', status: 500 }],
    [503, { kind: 'failed', status: 503, retryAfterMs: 0 }],
    [599, { kind: 'failed', status: 599 }],
  ])('has the right outcome for status %i', async (status, outcome) => {
    plain.answer('/status', status)
    expect(await attempt(`${plain.url}/status`)).toMatchObject(outcome)
  })

  test('is judged by its status, and a body over 64 KiB is not read', async () => {
    const announced = { status: 200, headers: { 'content-length': '1000000' }, body: 'x'.repeat(1_000_000) }
    plain.answer('/long', announced, (res) => {
      res.writeHead(500)
      const more = () => {
        while (!res.destroyed && res.write('x'.repeat(10_000)));
      }
      res.on('drain', more)
      more()
    })
    expect(await attempt(`${plain.url}/long`)).toMatchObject({ kind: 'delivered', status: 200 })
    expect(await attempt(`${plain.url}/long`)).toMatchObject({ kind: 'failed', status: 500 })
  })

  test('may follow informational responses', async () => {
    const url = await raw((socket) =>
      socket.end(
        'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
      ),
    )
    expect(await attempt(url)).toMatchObject({ kind: 'delivered', status: 200 })
  })
})

describe('a hostile or broken receiver', () => {
  const head = 'HTTP/1.1 200 OK\r\n'
  const drip = (text: string) => (socket: Socket) => {
    const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write(text)), 20)
  }
  test.each<[string, (socket: Socket) => void, string]>([
    ['sends nothing', () => undefined, 'timeout: no answer in time'],
    ['sends no status line', drip('X-A: b\r\n'), 'answer: not HTTP'],
    [
      'sends headers forever',
      (socket) => {
        socket.write(head)
        drip('X-A: b\r\n')(socket)
      },
      'timeout: no answer in time',
    ],
    [
      'sends the body forever',
      (socket) => {
        socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`)
        drip('1\r\nx\r\n')(socket)
      },
      'timeout: the answer did not end in time',
    ],
    [
      'never ends the body',
      (socket) => socket.write(`${head}Content-Length: 10\r\n\r\nx`),
      'timeout: the answer did not end in time',
    ],
    [
      'truncates the body',
      (socket) => socket.end(`${head}Content-Length: 10\r\n\r\nx`),
      'answer: the connection was lost',
    ],
    [
      'closes the connection',
      (socket) => socket.end(),
      'request: the connection was closed without an answer',
    ],
    [
      'resets the connection',
      (socket) => socket.resetAndDestroy(),
      'request: the connection was closed without an answer',
    ],
    ['speaks SSH', (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'), 'answer: not HTTP'],
    [
      'sends oversized headers',
      (socket) => socket.write(head + `X-A: ${'b'.repeat(1000)}\r\n`.repeat(100)),
      'answer: its headers are too large',
    ],
    [
      'sends two Content-Length headers',
      (socket) => socket.end(`${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`),
      'request: the connection was closed without an answer',
    ],
    [
      'switches protocols without a request',
      (socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      'request: the connection was closed without an answer',
    ],
  ])('that %s fails the attempt in time', async (_, speak, error) => {
    const outcome = await attempt(await raw(speak), { timeoutMs: 300 })
    expect(outcome).toMatchObject({ kind: 'failed', error: expect.stringContaining(error) })
    expect(outcome.ms).toBeLessThan(SOON_MS)
  })

  test('that does not listen on its port fails the attempt', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    expect(await attempt(`http://127.0.0.1:${port}/`)).toMatchObject({
      kind: 'failed',
      error: 'connect: refused',
    })
  })
})

describe('TLS', () => {
  const at = (host: string) => `https://${host}:${secure.port}/tls`
  test('verifies the certificate’s host name', async () => {
    expect(await attempt(at('hooks.example.com'), { dialler: local({ ca: tls.cert }) })).toMatchObject({
      kind: 'delivered',
    })
    expect(await attempt(at('other.example.com'), { dialler: local({ ca: tls.cert }) })).toMatchObject({
      error: 'tls: the certificate is for another host name',
    })
  })

  test('refuses an untrusted certificate, whatever the environment says', async () => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      expect(await attempt(at('hooks.example.com'))).toMatchObject({
        error: 'tls: the certificate is self-signed',
      })
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    }
  })

  test('fails with a server that does not support it', async () => {
    const url = await raw((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    expect(await attempt(url.replace('http:', 'https:'))).toMatchObject({
      error: expect.stringMatching(/^tls: the handshake failed/),
    })
  })

  test('fails in time if the handshake never ends', async () => {
    const url = await raw(() => undefined)
    expect(await attempt(url.replace('http:', 'https:'), { timeoutMs: 200 })).toMatchObject({
      error: 'timeout: no connection in time (tls)',
    })
  })
})

describe('a host name', () => {
  const answering =
    (...answers: string[]): Lookup =>
    async () =>
      answers.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  const guarded = (lookup: Lookup) => new Dialler({ allow: createAllow([]), lookup })
  const forbidden = 'connect: the host resolves to an address that webhooks are not allowed to reach'

  test.each([
    ['127.0.0.1'],
    ['10.0.0.1', '192.168.0.1'],
    ['169.254.169.254'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['64:ff9b::7f00:1'],
    ['64:ff9b:1::7f00:1'],
    ['2002:7f00:1::'],
    ['fe80::1'],
    ['fd00:ec2::254'],
    ['0.0.0.0'],
    ['not an address'],
    [''],
  ])('that resolves to %j is refused', async (...answers) => {
    const before = secure.connections
    const outcome = await attempt(`https://rebound.example.com:${secure.port}/`, {
      dialler: guarded(answering(...answers)),
    })
    expect(outcome).toMatchObject({ kind: 'failed', error: forbidden })
    expect(secure.connections).toBe(before)
  })

  test('that resolves to another address later is checked again', async () => {
    const answers = ['127.0.0.1', '127.0.0.2']
    const lookup: Lookup = async () => [{ address: answers.shift()!, family: 4 }]
    const dialler = new Dialler({ allow: createAllow(['127.0.0.1']), lookup })
    const url = `http://rebound.example.com:${plain.port}/rebound`
    expect(await attempt(url, { dialler })).toMatchObject({ kind: 'delivered' })
    expect(await attempt(url, { dialler })).toMatchObject({ error: forbidden })
  })

  test('with several addresses is connected to only at an allowed one', async () => {
    const dialler = new Dialler({
      allow: createAllow(['127.0.0.1']),
      lookup: answering('10.255.255.1', '127.0.0.1'),
    })
    expect(await attempt(`http://mixed.example.com:${plain.port}/mixed`, { dialler })).toMatchObject({
      kind: 'delivered',
    })
  })

  test('for plain http is refused unless the operator allowed its address', async () => {
    expect(
      await attempt('http://93.184.215.14/', { dialler: guarded(answering('93.184.215.14')) }),
    ).toMatchObject({ error: forbidden })
  })

  test.each([
    ['ENOTFOUND', 'dns: the host name does not exist'],
    ['ETIMEOUT', 'dns: the name servers did not answer'],
    ['ESERVFAIL', 'dns: the name servers failed'],
  ])('that fails to resolve with %s fails the attempt with an explanation', async (code, error) => {
    const lookup: Lookup = () => Promise.reject(Object.assign(new Error('queryA 10.1.2.3'), { code }))
    expect(await attempt('https://gone.example.com/', { dialler: guarded(lookup) })).toMatchObject({
      kind: 'failed',
      error,
    })
  })

  test('whose name server does not respond fails the attempt in time', async () => {
    const lookup: Lookup = () => new Promise(() => undefined)
    expect(
      await attempt('https://slow.example.com/', { dialler: guarded(lookup), timeoutMs: 100 }),
    ).toMatchObject({
      error: 'timeout: no connection in time (dns)',
    })
  })

  test('is reached without a proxy from the environment', async () => {
    const before = plain.connections
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'ALL_PROXY'])
      process.env[name] = plain.url
    try {
      expect(
        await attempt(`https://hooks.example.com:${secure.port}/`, { dialler: local({ ca: tls.cert }) }),
      ).toMatchObject({
        kind: 'delivered',
      })
    } finally {
      for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'ALL_PROXY'])
        delete process.env[name]
    }
    expect(plain.connections).toBe(before)
  })
})

test('a connection is reused for the next request', async () => {
  const before = plain.connections
  const connection = local().connectionTo(`${plain.url}/kept`)
  open.push(connection)
  for (let i = 0; i < 5; i++)
    await deliver(connection, { headers: [], body: Buffer.from('{}'), now: new Date() })
  expect(plain.connections).toBe(before + 1)
})

test('idle connections over the maximum are closed', async () => {
  const dialler = local({ maxIdle: 0 })
  const connection = dialler.connectionTo(`${plain.url}/kept`)
  await deliver(connection, { headers: [], body: Buffer.from('{}'), now: new Date() })
  expect(connection.idleMs).toBe(0)
})

const post = async (connection: Connection): Promise<number> => {
  open.push(connection)
  await deliver(connection, { headers: [], body: Buffer.from('{}'), now: new Date() })
  return plain.connections
}

test('a connection that is not needed any more is kept for the next user of its key, if the URL is the same', async () => {
  const dialler = local()
  const connection = dialler.connectionOf('a', `${plain.url}/kept`)
  const before = await post(connection)
  dialler.keep(connection)
  expect(await post(dialler.connectionOf('b', `${plain.url}/kept`))).toBe(before + 1)
  const again = dialler.connectionOf('a', `${plain.url}/kept`)
  expect(await post(again)).toBe(before + 1)
  dialler.keep(again)
  expect(await post(dialler.connectionOf('a', `${plain.url}/other`))).toBe(before + 2)
  await until(() => dialler.open === 2)
})

test('a connection that the receiver has closed, or that failed, is not kept', async () => {
  const dialler = local()
  const closing = dialler.connectionOf(
    'a',
    await raw((socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n')),
  )
  await post(closing)
  dialler.keep(closing)
  await until(() => dialler.open === 0)
  expect(dialler.connectionOf('a', closing.url)).not.toBe(closing)
  const failing = dialler.connectionOf('b', await raw((socket) => void socket.destroy()))
  await post(failing)
  dialler.keep(failing)
  expect(dialler.connectionOf('b', failing.url)).not.toBe(failing)
})

test('kept connections give their places to those in use, the oldest first', async () => {
  const dialler = local({ maxIdle: 2 })
  const [first, second, third] = ['a', 'b', 'c'].map((key) => dialler.connectionOf(key, `${plain.url}/kept`))
  for (const connection of [first!, second!]) {
    await post(connection)
    dialler.keep(connection)
  }
  await post(third!)
  await until(() => dialler.open === 2)
  expect([first, second, third].map((connection) => connection!.isOpen)).toEqual([false, true, true])
  dialler.closeKept()
  await until(() => dialler.open === 1)
})

test.each([
  ['7', 7000],
  ['0', 0],
  ['-5', 0],
  ['1e9', 0],
  ['soon', 0],
  ['', 0],
  ['Fri, 20 Nov 2026 12:01:00 GMT', 60_000],
  ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
])('Retry-After: %j is read as %i ms', (value, ms) => {
  expect(readRetryAfter(value, new Date('2026-11-20T12:00:00Z'))).toBe(ms)
})

test('a response that arrived in time counts, even if this process was busy meanwhile', async () => {
  const receiver = new Worker(
    `const { createServer } = require('node:http')
     const { parentPort } = require('node:worker_threads')
     const server = createServer((request, response) => response.writeHead(204).end())
     server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`,
    { eval: true },
  )
  const [port] = await once(receiver, 'message')
  const connection = local().connectionTo(`http://127.0.0.1:${port}/`)
  open.push(connection)
  const post = (timeoutMs: number) =>
    deliver(connection, { headers: [], body: Buffer.from('{}'), now: new Date(), timeoutMs })
  expect(await post(5000)).toMatchObject({ kind: 'delivered' })
  const outcome = post(200)
  await turn()
  for (const until = performance.now() + 400; performance.now() < until; );
  expect(await outcome).toMatchObject({ kind: 'delivered', status: 204 })
  await receiver.terminate()
})
