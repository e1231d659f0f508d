import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAllow } from '../../../src/outgoing-http/allowed-address.ts'
import { Dialler } from '../../../src/outgoing-http/dial.ts'
import { createGet } from '../../../src/outgoing-http/get.ts'
import { createLookup } from '../../../src/outgoing-http/lookup.ts'
import { createPostForm } from '../../../src/outgoing-http/post-form.ts'

const diallerWith = (...entries: string[]) => {
  const allow = createAllow(entries)
  return new Dialler({ allow, lookup: createLookup(allow, []) })
}
const getWith = (...entries: string[]) => createGet(diallerWith(...entries))

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
const bodies: string[] = []
let base: string
const server = createServer((request, response) => {
  requests.push(`${request.method} ${request.url}`)
  request.on('data', (chunk) => bodies.push(`${request.headers['content-type']} ${chunk}`))
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

test('a form is posted, and the status of the response is the result, also that of a redirect', async () => {
  const post = createPostForm(diallerWith('127.0.0.1'))
  const form = 'List-Unsubscribe=One-Click'
  expect(await post(`${base}/a?b=c`, form)).toBe(200)
  expect(requests.at(-1)).toBe('POST /a?b=c')
  expect(bodies.at(-1)).toBe(`application/x-www-form-urlencoded ${form}`)
  const before = requests.length
  expect(await post(`${base}/elsewhere`, form)).toBe(302)
  expect(await post(`${base}/long`, form)).toBe(200)
  expect(requests).toHaveLength(before + 2)
})

test('no form is posted to a private address', async () => {
  const before = requests.length
  await expect(createPostForm(diallerWith())(`${base}/a?b=c`, 'a=b')).rejects.toThrow()
  expect(requests).toHaveLength(before)
})
