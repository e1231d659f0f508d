import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAllow } from '../../../src/outgoing-http/allowed-address.ts'
import { Dialler } from '../../../src/outgoing-http/dial.ts'
import { createGet } from '../../../src/outgoing-http/get.ts'
import { createLookup } from '../../../src/outgoing-http/lookup.ts'

const getWith = (...entries: string[]) => {
  const allow = createAllow(entries)
  return createGet(new Dialler({ allow, lookup: createLookup(allow, []) }))
}

const answers: Record<string, (response: ServerResponse) => void> = {
  '/a?b=c': (response) => response.end('hello'),
  '/none': (response) => response.writeHead(404).end('hello'),
  '/elsewhere': (response) => response.writeHead(302, { Location: '/a?b=c' }).end(),
  '/long': (response) => response.end('x'.repeat(65 * 1024)),
  '/cut': (response) => {
    response.writeHead(200, { 'Content-Length': 10 }).write('hello')
    response.destroy()
  },
}
const requests: string[] = []
let base: string
const server = createServer((request, response) => {
  requests.push(`${request.method} ${request.url}`)
  answers[request.url!]!(response)
})
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

test('a document is returned completely on 200', async () => {
  expect((await getWith('127.0.0.1')(`${base}/a?b=c`)).toString()).toBe('hello')
  expect(requests.at(-1)).toBe('GET /a?b=c')
})

test.each([
  ['/none', /the response status was 404/],
  ['/elsewhere', /the response status was 302/],
  ['/long', /longer than 65536 bytes/],
  ['/cut', /./],
])('the response of %s is refused', async (path, says) => {
  await expect(getWith('127.0.0.1')(base + path)).rejects.toThrow(says)
})

test('no request is sent to a private address', async () => {
  const before = requests.length
  await expect(getWith()(`${base}/a?b=c`)).rejects.toThrow()
  expect(requests).toHaveLength(before)
})
