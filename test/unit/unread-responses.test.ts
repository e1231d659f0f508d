import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { noteRequester } from '../../src/core/http/http.ts'
import { UnreadResponses } from '../../src/http/unread-responses.ts'
import { until } from '../support/until.ts'

const MIB = 1024 * 1024
const ANSWER = Buffer.alloc(24 * MIB, 'x')
/** Bytes that the kernel buffers for a client that does not read; they use no memory of this process. */
const KERNEL = 12 * MIB

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** Responds with 24 MiB to the workspace named in the path; a request to `/` has no token. */
const serve = async (unreadPerAsker: number, unread: number) => {
  const server = createServer((request, response) => {
    const workspaceId = request.url?.slice(1)
    if (workspaceId) noteRequester(response, { workspaceId, kind: 'agent', id: 'a', tokenId: 't' })
    response.end(ANSWER)
  })
  new UnreadResponses({ unreadPerAsker, unread, unreadCheckMs: 10 }).follow(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return (path: string) => {
    const state = { read: 0, closed: false }
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined)
    closing.push(() => socket.destroy())
    socket.on('close', () => {
      state.closed = true
    })
    /** Resolves when the response has begun to arrive, and stops reading. */
    const begun = new Promise<void>((resolve) => {
      socket.once('data', (chunk: Buffer) => {
        state.read += chunk.length
        socket.pause()
        socket.on('data', (more: Buffer) => {
          state.read += more.length
        })
        socket.pause()
        resolve()
      })
    })
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    return { state, socket, begun }
  }
}

/** Resumes reading and returns whether the whole response arrived. */
const reads = async ({ state, socket }: ReturnType<Awaited<ReturnType<typeof serve>>>) => {
  socket.resume()
  await until(() => state.closed || state.read > ANSWER.length)
  return state.read > ANSWER.length
}

test('when a workspace leaves too many responses unread, its oldest are aborted, and the others arrive', async () => {
  const ask = await serve(ANSWER.length + KERNEL, 1_000 * MIB)
  const first = ask('/acme')
  await first.begun
  const other = ask('/other')
  await other.begun
  for (let n = 0; n < 4; n++) await ask('/acme').begun
  const last = ask('/acme')
  await last.begun
  expect(await reads(first)).toBe(false)
  expect(await reads(last)).toBe(true)
  expect(await reads(other)).toBe(true)
})

test('when there are too many unread responses in total, those of the client with the most are aborted', async () => {
  const ask = await serve(1_000 * MIB, 3 * ANSWER.length)
  const small = ask('/small')
  await small.begun
  const strangers = []
  for (let n = 0; n < 8; n++) {
    strangers.push(ask('/'))
    await strangers.at(-1)!.begun
  }
  expect(await reads(strangers[0]!)).toBe(false)
  expect(await reads(small)).toBe(true)
})
