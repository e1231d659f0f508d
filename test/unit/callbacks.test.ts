import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Route, RouteCall } from '../../src/core/channel/callback-route.ts'
import { AppError } from '../../src/core/errors.ts'
import { type HttpServer, startHttp } from '../../src/http/server.ts'
import { ServiceMetrics } from '../../src/observability/metrics.ts'
import { createTestLog } from '../support/log.ts'

const calls: RouteCall[] = []
const log = createTestLog()
const metrics = new ServiceMetrics()
let answer: () => Promise<{ status: number; type?: string; body?: string }>
let server: HttpServer

const callback: Route = {
  method: 'POST',
  path: '/channels/test',
  maxBytes: 1_000,
  handle: (call) => {
    calls.push(call)
    return answer()
  },
}
const notFound = async () => {
  throw new AppError('not_found', 'nothing else is here')
}

beforeAll(async () => {
  const interfaces = {
    rest: notFound,
    graphql: notFound,
    mcp: notFound,
    web: notFound,
    oauth: notFound,
    stream: notFound,
    metrics: () => metrics.page(),
    ready: async () => undefined,
  }
  server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    api: true,
    interfaces,
    callbacks: [callback],
    log,
    metrics,
  })
})
afterAll(() => server.stop(100))

const call = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(server.url + path, { method: 'POST', body: 'a=1', ...init })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
const counted = async (outcome: string) =>
  Number(
    new RegExp(`ams_callbacks_total{outcome="${outcome}"} (\\d+)`).exec((await metrics.page()).text)?.[1] ??
      0,
  )

test('a callback receives the exact body, URL and headers, and its response has a request ID', async () => {
  answer = async () => ({ status: 200, type: 'text/xml', body: '<Response/>' })
  const body = Buffer.from([0xff, 0x00, 0x61])
  const { status, headers, text } = await call('/channels/test/below?key=value%20&b', {
    body,
    headers: { 'X-Signature': 's' },
  })
  expect({ status, text, type: headers.get('content-type') }).toEqual({
    status: 200,
    text: '<Response/>',
    type: 'text/xml',
  })
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(calls.at(-1)).toMatchObject({
    url: '/channels/test/below?key=value%20&b',
    headers: { 'x-signature': 's' },
    body,
  })
  expect(await counted('taken')).toBe(1)
  // The query of a provider's URL is not logged.
  expect(log.text()).toContain('/channels/test/below')
  expect(log.text()).not.toContain('key=value')
})

test.each([
  [
    'a refusal by the route',
    403,
    'forbidden',
    async () => Promise.reject(new AppError('forbidden', 'The signature does not match.')),
  ],
  ['a failure of the route', 500, 'internal', async () => Promise.reject(new Error('inside'))],
])('%s is returned as an error body with status %i', async (_, status, code, fails) => {
  answer = fails
  const before = await counted(status === 403 ? 'refused' : 'failed')
  const refused = await call('/channels/test')
  expect({ status: refused.status, code: JSON.parse(refused.text).error.code }).toEqual({ status, code })
  expect(refused.text).not.toContain('inside')
  expect(await counted(status === 403 ? 'refused' : 'failed')).toBe(before + 1)
})

test('a wrong method, a body that is too large and a similar path do not reach the route', async () => {
  const before = calls.length
  const wrongMethod = await call('/channels/test', { method: 'PUT' })
  expect({ status: wrongMethod.status, allow: wrongMethod.headers.get('allow') }).toEqual({
    status: 405,
    allow: 'POST',
  })
  const tooMuch = await call('/channels/test', { body: 'x'.repeat(1_001) })
  expect({ status: tooMuch.status, code: JSON.parse(tooMuch.text).error.code }).toEqual({
    status: 413,
    code: 'invalid_input',
  })
  expect((await call('/channels/testing')).status).toBe(404)
  expect(calls).toHaveLength(before)
})
