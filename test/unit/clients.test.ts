import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { sourceOf } from '../../src/core/address/source.ts'
import { noteRequester } from '../../src/core/http/http.ts'
import { createClients } from '../../src/http/client.ts'
import { Connections } from '../../src/http/connections.ts'
import { until } from '../support/until.ts'

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:0::/56'],
  ['2001:db8:1:2::', '2001:db8:1:0::/56'],
  ['2001:db8:1:ff::1', '2001:db8:1:0::/56'],
  ['2001:db8:1:100::1', '2001:db8:1:100::/56'],
  ['fe80::1%br-lan', 'fe80:0:0:0::/56'],
  ['', ''],
  ['not an address', ''],
])('the address %j is counted as %j', (address, source) => {
  expect(sourceOf(address)).toBe(source)
})

test.each<[string, string | undefined, string]>([
  ['198.51.100.1', '203.0.113.7', '198.51.100.1'],
  ['fe80::1%br-lan', '203.0.113.7', 'fe80:0:0:0::/56'],
  ['10.0.0.1', 'fe80::1%eth0.7', 'fe80:0:0:0::/56'],
  ['127.0.0.1', '203.0.113.7', ''],
  ['10.0.0.1', undefined, ''],
  ['10.0.0.1', '203.0.113.7', '203.0.113.7'],
  ['::ffff:10.0.0.1', '203.0.113.7', '203.0.113.7'],
  ['10.0.0.1', '198.51.100.1, 203.0.113.7', '203.0.113.7'],
  ['10.0.0.1', '198.51.100.1, 203.0.113.7, 10.1.2.3', '203.0.113.7'],
  ['10.0.0.1', '203.0.113.7:4711', '203.0.113.7'],
  ['10.0.0.1', '[2001:db8:1:2::3]:4711', '2001:db8:1:0::/56'],
  ['10.0.0.1', '203.0.113.7, unknown', ''],
  ['10.0.0.1', '203.0.113.7, 10.0.0.2, nonsense, 10.0.0.3', ''],
  ['10.0.0.1', '10.0.0.2', ''],
])('a request from %s with X-Forwarded-For %j is counted as %j', (remoteAddress, forwarded, source) => {
  const request = {
    socket: { remoteAddress },
    headers: { 'x-forwarded-for': forwarded },
  } as unknown as IncomingMessage
  expect(createClients(['10.0.0.0/8']).of(request)).toBe(source)
})

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** More than the kernel buffers for a client that does not read. */
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'x')

/**
 * Starts a server that counts connections from this machine too. `/known` authenticates the client, `/slow`
 * never ends its response, and `/large` has a long response.
 */
const serve = async (unprovenPerSource: number) => {
  const server = createServer((request, response) => {
    if (request.url === '/known')
      noteRequester(response, { workspaceId: 'w', kind: 'agent', id: 'a', tokenId: 't' })
    response.write('ok')
    if (request.url === '/large') response.write(LARGE)
    if (request.url !== '/slow') response.end()
  })
  new Connections({ unprovenPerSource, unproven: 100 }, () => false).follow(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const open = async () => {
    const socket: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    closing.push(() => socket.destroy())
    const state = { closed: false, output: '' }
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        state.output += chunk
      })
    socket.on('close', () => {
      state.closed = true
    })
    await new Promise((resolve) => socket.once('connect', resolve))
    const ask = async (path: string) => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
      await until(() => state.output.includes('ok'))
    }
    /** Requests a long response, reads only its beginning, and sends another request behind it. */
    const stall = async () => {
      socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n')
      await until(() => state.output.includes('ok'))
      socket.pause()
    }
    return { state, ask, stall, socket }
  }
  return { open }
}

test('one connection too many from an address closes its oldest idle connection and serves the new one', async () => {
  const { open } = await serve(3)
  const [first, second, third] = [await open(), await open(), await open()]
  await first.ask('/')
  const fourth = await open()
  await fourth.ask('/')
  await until(() => first.state.closed)
  expect([second, third, fourth].map(({ state }) => state.closed)).toEqual([false, false, false])
})

test('connections with a valid token do not count towards the limit', async () => {
  const { open } = await serve(2)
  const known = []
  for (let n = 0; n < 10; n++) {
    const connection = await open()
    await connection.ask('/known')
    known.push(connection)
  }
  const [silent, newcomer] = [await open(), await open()]
  await (await open()).ask('/')
  await until(() => silent.state.closed)
  expect(newcomer.state.closed).toBe(false)
  expect(known.every(({ state }) => !state.closed)).toBe(true)
})

test('a new connection is closed when all existing ones have a request in progress', async () => {
  const { open } = await serve(2)
  const busy = [await open(), await open()]
  for (const { ask } of busy) await ask('/slow')
  const settled = await open()
  await until(() => settled.state.closed)
  expect(busy.every(({ state }) => !state.closed)).toBe(true)
})

test('a client that does not read its response is disconnected before a new one is refused', async () => {
  const { open } = await serve(2)
  const [stalled, busy] = [await open(), await open()]
  await stalled.stall()
  await busy.ask('/slow')
  const newcomer = await open()
  await newcomer.ask('/')
  stalled.socket.resume()
  await until(() => stalled.state.closed)
  expect([busy, newcomer].map(({ state }) => state.closed)).toEqual([false, false])
})
