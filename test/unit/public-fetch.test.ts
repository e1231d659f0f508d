import type { lookup } from 'node:dns'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPublicFetch } from '../../src/core/address/public-fetch.ts'

let server: Server
let port: number
let requests = 0
beforeAll(async () => {
  server = createServer((_, response) => {
    requests++
    response.end('inside')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** Returns a lookup that gives the next of these answers on each call, and counts the calls. */
const nameServer = (...answers: string[]) => {
  const state = { lookups: 0 }
  const look = (
    _name: string,
    _options: object,
    done: (error: null, addresses: { address: string; family: number }[]) => void,
  ) => {
    const address = answers[Math.min(state.lookups++, answers.length - 1)]!
    done(null, [{ address, family: 4 }])
  }
  return { state, lookup: look as unknown as typeof lookup }
}

const signal = () => AbortSignal.timeout(10_000)

test('a fetch connects to the address that was checked, even if the name has a different address afterwards', async () => {
  const { state, lookup } = nameServer('127.0.0.1', '127.0.0.2')
  const seen: string[] = []
  const isPublic = (address: string) => seen.push(address) > 0
  const response = await createPublicFetch({ lookup, isPublic })(
    new URL(`http://files.example:${port}/`),
    signal(),
  )
  expect(await response.text()).toBe('inside')
  expect([state.lookups, seen]).toEqual([1, ['127.0.0.1']])
})

test.each([
  ['a name that resolves to a private address', 'files.example'],
  ['a private address', '127.0.0.1'],
  ['a private address in another notation', '[::ffff:127.0.0.1]'],
])('no connection is made to %s', async (_, host) => {
  const before = requests
  const { lookup } = nameServer('127.0.0.1')
  await expect(createPublicFetch({ lookup })(new URL(`http://${host}:${port}/`), signal())).rejects.toThrow(
    'it is not on the public internet',
  )
  expect(requests).toBe(before)
  await (await fetch(`http://127.0.0.1:${port}/`)).text()
  expect(requests).toBe(before + 1)
})
