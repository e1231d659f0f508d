import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { rawHttp } from '../support/raw-http.ts'
import { createTestAgent, sharedService } from '../support/service.ts'

const service = await sharedService()
const owner = await service.workspace()
const agent = await createTestAgent(service, owner)

const headOf = (path: string, ...headers: string[]) =>
  [
    `POST ${path.replace(':id', agent.id)} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${owner.token}`,
    'Connection: close',
    ...headers,
    '',
    '',
  ].join('\r\n')

test.each([
  ['/agents/:id/tokens', 'Content-Length: 0', ''],
  ['/agents/:id/tokens', 'Transfer-Encoding: chunked', '0\r\n\r\n'],
  ['/tokens', 'Content-Length: 0', ''],
])('a body that may be left out may be empty: %s with %s', async (path, length, body) => {
  const answer = await rawHttp(service.http, headOf(path, 'Content-Type: application/json', length), body)
  expect(answer.status).toBe(201)
  expect(JSON.parse(answer.body).token).toMatch(/^a[am]t_/)
})

test.each([
  ['/agents', 'application/json'],
  ['/graphql', 'application/json'],
  ['/agents/:id/imports', 'message/rfc822'],
])('a compressed body is refused with 415: %s', async (path, type) => {
  const body = gzipSync('{"name":"x","icon":"bot"}')
  const sized = `Content-Length: ${body.length}`
  const head = headOf(path, `Content-Type: ${type}`, 'Content-Encoding: gzip', sized)
  const answer = await rawHttp(service.http, head, body)
  expect(answer.status).toBe(415)
  expect(answer.headers['accept-encoding']).toBe('identity')
  expect(answer.body).toContain('body: must have no Content-Encoding')
})
