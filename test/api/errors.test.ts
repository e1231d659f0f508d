import { beforeAll, describe, expect, test } from 'vitest'
import { expectFailure } from '../support/failure.ts'
import { type RawAnswer, rawHttp, rawHttpInTurn } from '../support/raw-http.ts'
import {
  apiOf,
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'

let service: SharedService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
})

const MIB = 1024 * 1024
const GOOD = '{"name":"x","icon":"bot"}'
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

describe('a request body', () => {
  test.each(['{', '', '{"name":}', '{"name":"x"} extra', '\0', '[1,', '"\\u12"', "{'name':'x'}"])(
    '%j is refused because it is not valid JSON',
    async (body) => {
      expectFailure(
        await owner.api('POST', '/agents', body),
        'invalid_input',
        /^body: must be valid JSON|^body: /,
      )
    },
  )

  test.each([
    ['with bytes that are not UTF-8', Buffer.from('{"name":"\xff\xfe","icon":"bot"}', 'latin1')],
    ['with an encoded unpaired surrogate', Buffer.from('{"name":"\xed\xa0\x80","icon":"bot"}', 'latin1')],
    ['in UTF-16', Buffer.from('\ufeff{"name":"x","icon":"bot"}', 'utf16le')],
  ])('%s is refused rather than decoded differently', async (_, bytes) => {
    const head = lineOf(
      'POST',
      '/agents',
      'Content-Type: application/json',
      `Content-Length: ${bytes.length}`,
    )
    const answer = await rawHttp(service.http, head, bytes)
    expectRawFailure(answer, 400)
    expect(JSON.parse(answer.body).error.message).toBe('body: must be UTF-8')
  })

  test.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['application/xml', 415],
    ['application/merge-patch+json', 415],
    ['application/json; charset=utf-16', 415],
    ['application/json; charset=iso-8859-1', 415],
  ])('of type %s is refused with %i', async (type, status) => {
    expectFailure(
      await owner.api('POST', '/agents', GOOD, { 'Content-Type': type }),
      'invalid_input',
      /application\/json/,
      status,
    )
  })

  test.each([
    ['GET', '/agents'],
    ['DELETE', '/agents/:id/secrets/NONE'],
    ['POST', '/agents/:id/webhooks/00000000-0000-0000-0000-000000000000/test'],
  ])('that is empty needs no JSON content type: %s %s', async (method, path) => {
    const head = lineOf(
      method,
      path.replace(':id', agent.id),
      'Content-Type: application/x-www-form-urlencoded',
      'Content-Length: 0',
    )
    expect((await rawHttp(service.http, head)).status).toBe(method === 'GET' ? 200 : 404)
  })

  test('without a content type is refused with 415', async () => {
    expectRawFailure(
      await rawHttp(service.http, lineOf('POST', '/agents', `Content-Length: ${GOOD.length}`), GOOD),
      415,
    )
  })

  test.each([
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json ; charset="UTF-8"',
    'application/json;v=1',
  ])('of type %s is accepted', async (type) => {
    expect((await owner.api('POST', '/agents', GOOD, { 'Content-Type': type })).status).toBe(201)
  })

  test.each(['POST /agents', 'PUT /agents/:id/connection', 'POST /agents/:id/messages'])(
    'is required for %s',
    async (route) => {
      const [method = '', path = ''] = route.split(' ')
      const answer = await agent.api(method, path.replace(':id', agent.id))
      expect([400, 415]).toContain(answer.status)
      expectFailure(answer, 'invalid_input', /\S/, answer.status)
    },
  )

  test('of 1 MiB is accepted, and a longer one is refused with 413', async () => {
    const padded = (bytes: number) => `{"name":"x","icon":"bot"}${' '.repeat(bytes - GOOD.length)}`
    expectFailure(
      await owner.api('POST', '/agents', padded(MIB + 1)),
      'invalid_input',
      /^body: must be at most 1048576 bytes/,
      413,
    )
    expect((await owner.api('POST', '/agents', padded(MIB))).status).toBe(201)
  })

  test.each([
    ['8 MB', 8_000_000, (length: number) => `Content-Length: ${length}`, ''],
    ['8 MB in chunks', 8_000_000, () => 'Transfer-Encoding: chunked', `${(8_000_000).toString(16)}\r\n`],
  ])(
    'of %s is refused for a client that reads once it has sent everything',
    async (_, length, field, first) => {
      const head = lineOf('POST', '/agents', 'Content-Type: application/json', field(length))
      const answer = await rawHttpInTurn(
        service.http,
        head + first,
        Buffer.alloc(length, ' '),
        '\r\n0\r\n\r\n',
      )
      expectRawFailure(answer, 413)
    },
  )

  test('that is chunked is accepted up to 1 MiB and refused with 413 beyond', async () => {
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
    const head = lineOf('POST', '/agents', 'Content-Type: application/json', 'Transfer-Encoding: chunked')
    expect(
      await rawHttp(service.http, head, chunk(GOOD.slice(0, 9)), chunk(GOOD.slice(9)), '0\r\n\r\n'),
    ).toMatchObject({ status: 201 })
    expectRawFailure(await rawHttp(service.http, head, chunk(' '.repeat(MIB)), chunk(' '), '0\r\n\r\n'), 413)
  })

  test.each([
    ['20,000 levels deep', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    ['with a field called __proto__', '{"name":"x","icon":"bot","__proto__":{"a":1}}'],
    ['with a number of 400 digits', `{"name":${'9'.repeat(400)},"icon":"bot"}`],
  ])('%s is refused', async (_, body) => {
    expectFailure(await owner.api('POST', '/agents', body), 'invalid_input')
  })
})

describe('a request path', () => {
  test.each([
    '/nothing',
    '/agents/',
    '/agent',
    '/agents/x/y/z',
    '//agents',
    '/AGENTS',
    '/agents/%2e%2e/agents/x/y',
  ])('%s is not found', async (path) => {
    expectFailure(await owner.api('GET', path), 'not_found', /^There is no such path\.$/)
  })

  test('that is unknown is not found without a token, but unauthorized below /agents', async () => {
    const nobody = apiOf(service.http, null)
    expectFailure(await nobody('GET', '/nothing'), 'not_found')
    expectFailure(await nobody('GET', '/agents/x/y/z'), 'unauthorized')
  })

  test.each([
    ['DELETE', '/agents', 'GET, HEAD, POST'],
    ['PUT', '/agents/:id', 'DELETE, GET, HEAD, PATCH'],
    ['POST', '/agents/:id/connection', 'PUT'],
    ['GET', '/agents/:id/connection', 'PUT'],
    ['DELETE', '/agents/:id/messages', 'GET, HEAD, PATCH, POST'],
    ['POST', '/openapi.json', 'GET, HEAD'],
  ])(
    'with another method, %s %s, is refused with 405 and the allowed methods',
    async (method, path, allow) => {
      const answer = await agent.api(method, path.replace(':id', agent.id))
      expectFailure(answer, 'invalid_input', /is not allowed here/, 405)
      expect(answer.headers.get('allow')).toBe(allow)
    },
  )

  test('that is not valid UTF-8 or is too long is refused', async () => {
    for (const path of [
      '/agents/%ff%fe',
      '/agents/%zz',
      `/agents/${'x'.repeat(10_000)}`,
      '/agents/\\..\\x',
    ]) {
      const { status, headers, body } = await rawHttp(service.http, lineOf('GET', path))
      expect(status, path).toBeGreaterThanOrEqual(400)
      expect(status, path).toBeLessThan(500)
      expect(JSON.parse(body), path).toEqual({
        error: { code: expect.any(String), message: expect.any(String) },
      })
      expect(headers['x-request-id'], path).toMatch(/^[0-9a-f-]{36}$/)
    }
  })
})

test('HEAD responds like GET without a body', async () => {
  const found = await rawHttp(service.http, lineOf('HEAD', `/agents/${agent.id}`))
  expect(found).toMatchObject({
    status: 200,
    body: '',
    headers: { 'content-type': expect.stringContaining('json') },
  })
  const missing = await rawHttp(service.http, lineOf('HEAD', '/agents/00000000-0000-4000-8000-000000000000'))
  expect(missing).toMatchObject({ status: 404, body: '' })
})

describe('a query string', () => {
  test.each([
    ['GET', '/agents?x=1', /^x: is not a known field/],
    ['GET', '/agents/:id?name=', /^name: is not a known field/],
    ['POST', '/agents?dry-run', /^dry-run: is not a known field/],
    ['DELETE', '/agents/:id?force=true', /^force: is not a known field/],
    ['GET', '/workspace?a=1&b=2', /^a: is not a known field/],
    ['GET', '/agents/:id/messages?page=2', /^page: is not a known field/],
    ['GET', '/agents/:id/messages?limit=1&limit=2', /^limit: must be given once/],
    ['GET', '/agents/:id/messages?channel=sms&channel=email', /^channel: must be given once/],
    ['GET', '/agents/:id/messages?cursor=', /^cursor: is not a valid cursor for this list/],
    ['GET', '/agents/:id/events?cursor=1&cursor=1', /^cursor: must be given once/],
  ])('as in %s %s is refused with the name of the parameter', async (method, path, says) => {
    const answer = await owner.api(
      method,
      path.replace(':id', agent.id),
      method === 'POST' ? GOOD : undefined,
    )
    expectFailure(answer, 'invalid_input', says)
  })

  test('is checked only after authentication', async () => {
    expectFailure(await apiOf(service.http, null)('GET', '/agents?x=1'), 'unauthorized')
  })

  test('is checked for HEAD as for GET', async () => {
    expect(await rawHttp(service.http, lineOf('HEAD', `/agents/${agent.id}?name=`))).toMatchObject({
      status: 400,
      body: '',
    })
  })

  test.each(['%ff', '%ED%A0%80', '%', '%zz'])('that is not valid UTF-8, q=%s, is refused', async (q) => {
    const { status, body } = await rawHttp(service.http, lineOf('GET', `/agents/${agent.id}/messages?q=${q}`))
    expect({ status, message: JSON.parse(body).error.message }).toEqual({
      status: 400,
      message: 'query: must be percent-encoded UTF-8',
    })
  })

  test('that is empty is accepted', async () => {
    expect((await owner.api('GET', '/agents?')).status).toBe(200)
  })
})

test.each([
  ['POST', '/agents', { name: 'x' }, /^icon: is required/],
  ['POST', '/agents', { nam: 'x', icon: 'bot' }, /^nam: is not a known field/],
  ['POST', '/agents/:id/messages', { text: 'hi', to: ['a@example.com'] }, /^channel: is required to write/],
  ['POST', '/agents/:id/messages', { text: 'hi' }, /^replyTo: must contain exactly one of/],
  ['POST', '/agents', { name: 'x', icon: null }, /^icon: must be one of bot, /],
  ['POST', '/agents', { icon: 'bot' }, /^name: is required/],
  ['POST', '/agents/:id/addresses/setups', {}, /^channel: is required/],
])('%s %s with %j is refused with the name of the missing field', async (method, path, body, says) => {
  expectFailure(await owner.api(method, path.replace(':id', agent.id), body), 'invalid_input', says)
})

test('every response has its own request id', async () => {
  const answers = await Promise.all(Array.from({ length: 5 }, () => owner.api('GET', '/agents')))
  expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(5)
})

test('the health checks need no token', async () => {
  const nobody = apiOf(service.http, null)
  expect((await nobody('GET', '/healthz')).status).toBe(200)
  expect((await nobody('GET', '/readyz')).status).toBe(200)
})
