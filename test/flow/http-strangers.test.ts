import { connect, type Socket } from 'node:net'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { expectFailure } from '../support/failure.ts'
import { SECRET, signedHeaders } from '../support/inbound-http.ts'
import {
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/**
 * Attempts by strangers to keep others from using the HTTP port. A trusted proxy gives the source addresses;
 * time is advanced by the test.
 */

let clock: FakeClock
let service: TestService
let owner: Tenant
let agent: TestAgent
const sockets: Socket[] = []

beforeAll(async () => {
  // Limits per minute start with the minute.
  clock = createFakeClock(new Date(Math.floor(Date.now() / 60_000) * 60_000))
  service = await startService({
    environment: { INBOUND_SECRET: SECRET, TRUST_PROXY: '127.0.0.0/8,10.0.0.0/8' },
    world: { clock },
  })
  owner = await service.workspace('Acme', 'owner@example.com')
  agent = await createTestAgent(service, owner)
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

const from = (address: string) => ({ 'X-Forwarded-For': address })

describe('requests with invalid tokens', () => {
  const guess = (address: string, n = 0) =>
    apiOf(service.http, `amt_guess${n}`)('GET', '/agents', undefined, from(address))

  test('get 429 from the 31st in a minute, while a valid token from the same address and other addresses still work', async () => {
    const address = '203.0.113.1'
    for (let n = 0; n < 30; n++) expectFailure(await guess(address, n), 'unauthorized')
    const refused = await guess(address)
    expectFailure(refused, 'rate_limited', /^Too many requests with invalid tokens/)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await owner.api('GET', '/agents', undefined, from(address))).status).toBe(200)
    clock.advance(2_000) // a valid token is cached only briefly, so it is looked up again
    expect((await owner.api('GET', '/agents', undefined, from(address))).status).toBe(200)
    expectFailure(await guess('203.0.113.2'), 'unauthorized')
    const graphql = await apiOf(service.http, 'amt_guess')(
      'POST',
      '/graphql',
      { query: '{ viewer { id } }' },
      from(address),
    )
    expect(graphql.status).toBe(429)
    const stream = `/agents/${agent.id}/connections/${agent.id}/events`
    expect((await apiOf(service.http, 'amt_guess')('GET', stream, undefined, from(address))).status).toBe(429)
    clock.advance(60_000)
    expectFailure(await guess(address), 'unauthorized')
  })

  test('are counted per IPv6 network', async () => {
    // The last two digits of the fourth group differ within a /56.
    for (let n = 10; n < 40; n++) expectFailure(await guess(`2001:db8:1:2${n}::1`, n), 'unauthorized')
    expectFailure(await guess('2001:db8:1:2ff::9'), 'rate_limited')
    expectFailure(await guess('2001:db8:1:300::1'), 'unauthorized')
  })

  test('are counted for the right address even if the client sets X-Forwarded-For itself', async () => {
    const address = '203.0.113.5'
    for (let n = 0; n < 30; n++) await guess(`198.51.100.${n}, ${address}, 10.0.0.7`, n)
    expectFailure(await guess(`8.8.8.8, ${address}`), 'rate_limited')
  })

  test('are not counted from an unnamed address behind a proxy or from this machine, which may be anyone', async () => {
    const untrusting = await service.again({ TRUST_PROXY: '' })
    for (let n = 0; n < 40; n++) {
      expectFailure(
        await apiOf(untrusting.http, 'amt_guess')('GET', '/agents', undefined, from('203.0.113.9')),
        'unauthorized',
      )
      expectFailure(await guess('unknown', n), 'unauthorized')
    }
  })
})

/** Sends a request with only the beginning of its body. */
const begin = (path: string, headers: Record<string, string>, body = '') => {
  const { hostname, port } = new URL(service.http)
  const socket = connect(Number(port), hostname)
  sockets.push(socket)
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  socket.on('error', () => undefined)
  const head = Object.entries({ Host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST ${path} HTTP/1.1\r\n${head.join('')}\r\n${body}`)
  return {
    socket,
    get text() {
      return text
    },
    status: () => until(() => Number(/^HTTP\/1\.1 (?!100)(\d{3})/.exec(text)?.[1] ?? 0)),
  }
}

describe('a request body that stalls', () => {
  const json = { 'Content-Type': 'application/json', 'Content-Length': '1000' }
  test.each<[string, () => [string, Record<string, string>]]>([
    ['in REST', () => ['/agents', { ...json, Authorization: `Bearer ${owner.token}` }]],
    ['in GraphQL', () => ['/graphql', { ...json, Authorization: `Bearer ${owner.token}` }]],
    ['in GraphQL, with an unknown token', () => ['/graphql', { ...json, Authorization: 'Bearer x' }]],
    [
      'on a page',
      () => ['/join/x', { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '1000' }],
    ],
    [
      'with a handed-over mail',
      () => ['/inbound/email', { ...json, 'X-Timestamp': `${now()}`, 'X-Signature': 'a'.repeat(64) }],
    ],
  ])('%s gets 408, and the connection is closed', async (_, request) => {
    const [path, headers] = request()
    const started = begin(path, { ...headers, ...from('203.0.113.20') }, '{')
    await until(() => {
      clock.advance(1_000)
      return started.text !== ''
    })
    expect(await started.status()).toBe(408)
    expect(started.text).toMatch(/Connection: close[\s\S]*"took too long to arrive|took too long to arrive/i)
    await until(() => started.socket.destroyed || started.socket.readableEnded)
    expect((await owner.api('GET', '/agents')).status).toBe(200)
  })
})

const now = () => Math.floor(clock.now().getTime() / 1000)
const LONG = 2 * 1024 * 1024

describe('long mails handed over by HTTP', () => {
  const unproven = (address: string) =>
    begin(
      '/inbound/email',
      {
        'Content-Length': String(LONG),
        'X-Timestamp': String(now()),
        'X-Signature': 'a'.repeat(64),
        ...from(address),
      },
      'From: eve@example.com\r\n',
    )

  test('from stalling strangers do not keep out mail with a signed envelope or with the older signature', {
    timeout: 30_000,
  }, async () => {
    for (let n = 0; n < 6; n++) unproven(`203.0.113.${30 + n}`)
    const raw = (subject: string) =>
      `From: a@x.example\r\nSubject: ${subject}\r\n\r\n${`${'x'.repeat(76)}\r\n`.repeat(LONG / 78)}`
    const hand = (envelope: boolean) => {
      const handed = { raw: raw(`signed ${envelope}`), to: agent.address, envelope, timestamp: now() }
      const headers = { ...Object.fromEntries(signedHeaders(handed)), ...from('203.0.113.50') }
      return fetch(`${service.http}/inbound/email`, { method: 'POST', headers, body: handed.raw })
    }
    expect((await hand(true)).status).toBe(200)
    const older = hand(false)
    let done = false
    void older.finally(() => {
      done = true
    })
    await until(() => {
      clock.advance(500)
      return done
    })
    expect((await older).status).toBe(200)
  })
})

describe('large requests with one token', () => {
  test('have two places: a third request waits and then gets 429, and another token has its own places', {
    timeout: 40_000,
  }, async () => {
    const path = `/agents/${agent.id}/messages`
    const upload = (token: string) =>
      begin(
        path,
        {
          'Content-Type': 'application/json',
          'Content-Length': String(LONG),
          Authorization: `Bearer ${token}`,
        },
        '{',
      )
    const held = [upload(agent.token), upload(agent.token)]
    const body = { channel: 'email', to: ['bo@example.com'], text: 'hi', attachments: [file()] }
    // Repeats until the service has received the start of both requests.
    const third = await until(async () => {
      const answer = await agent.api('POST', path, body)
      return answer.status !== 201 && answer
    })
    expectFailure(third, 'rate_limited', /with this token at once/)
    expect(third.headers.get('retry-after')).toBe('5')
    expect((await owner.api('POST', path, body)).status).toBe(201)
    for (const { socket } of held) socket.destroy()
    expect((await agent.api('POST', path, body)).status).toBe(201)
    const graphql = { query: `{ agent(id: "${agent.id}") { id } }`, variables: { padding: 'x'.repeat(LONG) } }
    expect((await agent.api('POST', '/graphql', graphql)).status).not.toBe(429)
  })
})

const file = () => ({
  name: 'a.bin',
  type: 'application/octet-stream',
  content: Buffer.alloc(LONG).toString('base64'),
})

describe('pipelined requests on one connection', () => {
  /** Sends this many requests together, and reads no response until `socket.resume()`. */
  const sendAhead = (path: (n: number) => string, count: number) => {
    const { hostname, port } = new URL(service.http)
    const socket = connect(Number(port), hostname)
      .setEncoding('latin1')
      .on('error', () => undefined)
      .pause()
    sockets.push(socket)
    socket.write(
      Array.from({ length: count }, (_, n) => `GET ${path(n)} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''),
    )
    return socket
  }

  test('are answered in order', async () => {
    const socket = sendAhead((n) => (n % 2 === 0 ? `/nowhere-${n}` : '/healthz'), 40)
    let text = ''
    socket.resume().on('data', (chunk: string) => {
      text += chunk
    })
    await until(() => text.split('HTTP/1.1 ').length === 41)
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => match[1])
    expect(statuses).toEqual(Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? '404' : '200')))
  })

  test('are ended when there are hundreds, and other clients are served meanwhile', async () => {
    const flood = sendAhead(() => '/openapi.json', 1_500)
    expect((await owner.api('GET', '/agents')).status).toBe(200)
    flood.resume()
    await until(() => flood.destroyed)
    expect((await fetch(`${service.http}/healthz`)).status).toBe(200)
  })

  test('are not answered after one with Connection: close', async () => {
    const { hostname, port } = new URL(service.http)
    const socket = connect(Number(port), hostname).setEncoding('latin1')
    sockets.push(socket)
    socket.write(
      'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
    )
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(text.split('HTTP/1.1 200').length).toBe(2)
  })
})
