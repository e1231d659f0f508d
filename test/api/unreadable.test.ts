import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { expectFailure } from '../support/failure.ts'
import { type RawAnswer, rawHttp } from '../support/raw-http.ts'
import {
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'
import { until } from '../support/until.ts'

let service: SharedService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
})

const lineOf = (method: string, path: string, ...headers: string[]) =>
  [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${owner.token}`,
    'Connection: close',
    ...headers,
    '',
    '',
  ].join('\r\n')

/** Checks a failure that was received over a raw socket. */
const expectRawFailure = ({ status, headers, body }: RawAnswer, expected: number) => {
  expect(status).toBe(expected)
  expect(JSON.parse(body)).toEqual({ error: { code: 'invalid_input', message: expect.any(String) } })
  expect(headers['content-type']).toMatch(/^application\/json/)
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
}
/** Checks that the service still responds. */
const expectServing = async () => expect((await owner.api('GET', '/agents')).status).toBe(200)

describe('invalid HTTP', () => {
  test.each([
    ['plain text', 'hello there\r\n\r\n'],
    ['TLS', Buffer.from('16030100c8010000c40303aabbccdd', 'hex')],
    ['an unknown method and protocol', 'BREW /agents HTCPCP/1.0\r\nHost: localhost\r\n\r\n'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost localhost\r\n\r\n'],
    [
      'two Content-Length headers',
      'POST /agents HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
    ],
    [
      'a Content-Length and chunks',
      'POST /agents HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n'],
  ])('with %s gets the error body, and the service keeps running', async (_, bytes) => {
    expectRawFailure(await rawHttp(service.http, bytes), 400)
    await expectServing()
  })

  test.each([
    ['headers', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(40_000)}\r\n\r\n`],
    ['a path', `GET /${'y'.repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ])('with %s over the size limit is refused with 431', async (_, bytes) => {
    const answer = await rawHttp(service.http, bytes)
    expectRawFailure(answer, 431)
    expect(answer.body).toContain('must be at most 16384 bytes')
    await expectServing()
  })

  test('after a request whose response is being written closes the connection without another response', async () => {
    const { id } = (await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'x', machine: 'y' }))
      .body
    const head = lineOf('GET', `/agents/${agent.id}/connections/${id}/events`).replace(
      owner.token,
      agent.token,
    )
    const socket = connect(Number(new URL(service.http).port), '127.0.0.1')
    let read = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      read += chunk
    })
    socket.write(head.replace('Connection: close\r\n', ''))
    await until(() => read.includes('retry: 3000'))
    socket.write('garbage\r\n\r\n')
    await once(socket, 'close')
    expect(read.match(/HTTP\/1\.1/g)).toHaveLength(1)
  })

  test.each(['a b', 'x/y', 'evil.example\\@x', ''])('with the Host %j gets the error body', async (host) => {
    expectRawFailure(
      await rawHttp(service.http, lineOf('GET', '/agents').replace('Host: localhost', `Host: ${host}`)),
      400,
    )
    await expectServing()
  })
})

describe('a request that Node would answer by itself', () => {
  test.each([
    ['no Host', () => lineOf('GET', '/agents').replace('Host: localhost\r\n', ''), 400, /^Host: is required/],
    ['two Hosts', () => lineOf('GET', '/agents', 'Host: elsewhere'), 400, /^Host: must be given once/],
    [
      'an unknown expectation',
      () => lineOf('GET', '/agents', 'Expect: banana'),
      417,
      /^Expect: must be 100-continue/,
    ],
    ['a target that is not a path', () => lineOf('GET', 'agents'), 400, /^request: /],
    [
      'a target of another scheme',
      () => lineOf('GET', 'ftp://localhost/agents'),
      400,
      /^request: its target must be a path/,
    ],
  ])('gets the error body for %s', async (_, head, status, message) => {
    const answer = await rawHttp(service.http, head())
    expectRawFailure(answer, status)
    expect(JSON.parse(answer.body).error.message).toMatch(message)
    await expectServing()
  })

  test.each([
    ['BREW', '/agents'],
    ['get', '/agents'],
    ['CONNECT', 'example.com:443'],
  ])('gets 405 and the allowed methods for %s %s', async (method, target) => {
    const answer = await rawHttp(service.http, lineOf(method, target))
    expectRawFailure(answer, 405)
    expect(answer.headers.allow).toBe('GET, HEAD, POST, PUT, PATCH, DELETE')
    await expectServing()
  })

  test('gets the supported methods for OPTIONS *', async () => {
    expect(await rawHttp(service.http, lineOf('OPTIONS', '*'))).toMatchObject({
      status: 204,
      headers: { allow: expect.stringContaining('PATCH') },
    })
  })

  test('is served without a Host in HTTP/1.0', async () => {
    const head = lineOf('GET', '/agents').replace('HTTP/1.1', 'HTTP/1.0').replace('Host: localhost\r\n', '')
    expect(await rawHttp(service.http, head)).toMatchObject({ status: 200 })
  })
})

test.each(['/agents?', '/healthz', '/graphql?query=%7B__typename%7D', '/openapi.json'])(
  'the path %s is also served in absolute form',
  async (path) => {
    expect(await rawHttp(service.http, lineOf('GET', `http://ams.example.com${path}`))).toMatchObject({
      status: 200,
    })
  },
)

test.each([
  ['POST', '/healthz', 'GET, HEAD'],
  ['DELETE', '/metrics', 'GET, HEAD'],
  ['PUT', '/readyz', 'GET, HEAD'],
  ['POST', '/agents/x/connections/y/events', 'GET'],
])('%s %s is refused with 405 and the allowed methods', async (method, path, allow) => {
  const answer = await owner.api(method, path)
  expectFailure(answer, 'invalid_input', /is not allowed here/, 405)
  expect(answer.headers.get('allow')).toBe(allow)
})

test('HEAD /healthz is served', async () => {
  expect(await rawHttp(service.http, lineOf('HEAD', '/healthz'))).toMatchObject({ status: 200, body: '' })
})
