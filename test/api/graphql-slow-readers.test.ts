import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test, vi } from 'vitest'
import type { LoggedEvent } from '../../src/event/event.ts'
import { Readers } from '../../src/graphql/transport/readers.ts'
import { startGraphql } from '../support/graphql.ts'
import { until } from '../support/until.ts'

const service = await startGraphql()
const ours = await service.tenant()
const { hostname, port } = new URL(service.base)

const EVENTS = 3_000
/** Adds events so large that buffering them for one reader would take 60 MB. */
const fill = (agentId: string) =>
  service.deps.pool.query(
    `with fresh as (insert into event (agent_id, id, type, channel, message_id, sender, "from", created_at)
       select $1, n, 'message.received', 'email', gen_random_uuid(),
              jsonb_build_object('id', null, 'kind', 'contact', 'name', repeat('x', 20000), 'email', null, 'phone', null), 'x', now()
         from generate_series(1, ${EVENTS}) n)
     update event_log set last_id = ${EVENTS} where agent_id = $1`,
    [agentId],
  )

const QUERY = (id: string) =>
  `subscription { messageReceived(agentId: "${id}", after: 0) { id sender { name } } }`

/** A client that sends a request and reads nothing until its socket is resumed. */
const stalled = (path: string, method: string, headers: Record<string, string>, body = ''): Socket => {
  const socket = connect(Number(port), hostname)
  const head = Object.entries({
    Host: hostname,
    Authorization: `Bearer ${ours.token}`,
    'Content-Length': String(Buffer.byteLength(body)),
    ...headers,
  })
  socket.write(
    `${method} ${path} HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  )
  socket.pause()
  return socket
}

const distinct = (id: string): Socket =>
  stalled(
    '/graphql',
    'POST',
    { 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    JSON.stringify({ query: QUERY(id) }),
  )

const single = async (id: string): Promise<Socket> => {
  const url = `${service.base}/graphql/stream`
  const authorized = { Authorization: `Bearer ${ours.token}` }
  const streamToken = await (await fetch(url, { method: 'PUT', headers: authorized })).text()
  const socket = stalled('/graphql/stream', 'GET', {
    Accept: 'text/event-stream',
    'X-GraphQL-Event-Stream-Token': streamToken,
  })
  const headers = {
    ...authorized,
    'Content-Type': 'application/json',
    'X-GraphQL-Event-Stream-Token': streamToken,
  }
  const body = JSON.stringify({ query: QUERY(id), extensions: { operationId: 'a' } })
  expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(202)
  return socket
}

// What is garbage differs between versions of Node, and is not buffered.
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const memory = (): number => {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test.each([
  ['a distinct connection', distinct],
  ['the single connection', single],
])(
  'no events are buffered for a stalled reader of %s, which gets all of them once it reads',
  async (_name, open) => {
    const agent = await service.agent(ours)
    await fill(agent.id)
    const before = memory()
    const socket = await open(agent.id)
    await until(() => service.graphql.size === 1)
    await sleep(1_500) // long enough to buffer 3,000 events if there were no backpressure
    expect(memory() - before).toBeLessThan(40_000_000)

    const ids: number[] = []
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const end = text.lastIndexOf('\n')
      for (const [, id] of text.slice(0, end).matchAll(/"messageReceived":\{"id":(\d+)/g))
        ids.push(Number(id))
      text = text.slice(end)
    })
    socket.resume()
    await until(() => ids.length === EVENTS)
    expect(ids).toEqual(Array.from({ length: EVENTS }, (_, n) => n + 1))
    socket.destroy()
    await until(() => service.graphql.size === 0)
  },
)

const READERS = 200
const LIVE = 10_000
const BATCH = 500

/** Commits events as a batch of mails does: to the log first, then to the subscribers. */
const appendEvents = async (agentId: string, from: number, count: number) => {
  const events = Array.from({ length: count }, (_, n): LoggedEvent => {
    const sender = {
      id: null,
      kind: 'contact',
      name: `${from + n} ${'x'.repeat(2_000)}`,
      email: null,
      phone: null,
    } as const
    const when = { createdAt: new Date(), type: 'message.received', channel: 'email' } as const
    return { ...when, agentId, id: from + n, messageId: randomUUID(), sender, from: 'x', subject: null }
  })
  await service.deps.pool.query(
    `with fresh as (insert into event (agent_id, id, type, channel, message_id, sender, "from", created_at)
       select $1, e.id, 'message.received', 'email', e.message_id, e.sender, 'x', now()
         from unnest($2::bigint[], $3::uuid[], $4::jsonb[]) as e(id, message_id, sender))
     update event_log set last_id = $5 where agent_id = $1`,
    [
      agentId,
      events.map(({ id }) => id),
      events.map(({ messageId }) => messageId),
      events.map(({ sender }) => sender),
      from + count - 1,
    ],
  )
  service.deps.feed.committed(events)
}

test(`memory does not grow while ${READERS} readers stall during ${LIVE} events, and a resumed one gets them all`, async () => {
  const agent = await service.agent(ours)
  const sockets = Array.from({ length: READERS }, () => distinct(agent.id))
  await until(() => service.graphql.size === READERS)
  const used: number[] = []
  for (let id = 1; id <= LIVE; id += BATCH) {
    await appendEvents(agent.id, id, BATCH)
    await sleep(50)
    used.push(memory())
  }
  // The kernel buffers what a socket accepts. From the middle on, the process must not retain any of the
  // events, which are 20 MB for each reader.
  const [middle, end] = [used[used.length / 2 - 1]!, used.at(-1)!]
  process.stderr.write(
    `${READERS} stalled readers: ${Math.round(middle / 1e6)} MB after ${LIVE / 2} events, ${Math.round(end / 1e6)} MB after ${LIVE}\n`,
  )
  expect(end - middle).toBeLessThan(100_000_000)

  const [reader] = sockets as [Socket]
  let last = 0
  let text = ''
  reader.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    const cut = text.lastIndexOf('\n')
    for (const [, id] of text.slice(0, cut).matchAll(/"messageReceived":\{"id":(\d+)/g))
      last = Number(id) === last + 1 ? last + 1 : Number.NaN
    text = text.slice(cut)
  })
  reader.resume()
  await until(() => last === LIVE)
  for (const socket of sockets) socket.destroy()
  await until(() => service.graphql.size === 0)
})

test('a reader that reads nothing for 30 seconds is disconnected, but a slow one is not', () => {
  vi.useFakeTimers()
  const response = (fields: object) => ({
    writableNeedDrain: true,
    once: vi.fn(),
    destroy: vi.fn(),
    writeHead: vi.fn().mockReturnThis(),
    write: vi.fn(),
    socket: { bytesWritten: 1 },
    ...fields,
  })
  const [dead, slow, idle] = [response({}), response({}), response({ writableNeedDrain: false })]
  const readers = new Readers()
  for (const reader of [dead, slow, idle]) readers.open(reader as unknown as ServerResponse)
  for (let second = 0; second < 60; second++) {
    slow.socket.bytesWritten++
    vi.advanceTimersByTime(1_000)
    if (second === 29) expect(dead.destroy).not.toHaveBeenCalled()
  }
  expect(dead.destroy).toHaveBeenCalled()
  expect(slow.destroy).not.toHaveBeenCalled()
  expect(idle.destroy).not.toHaveBeenCalled()
  readers.stop()
  vi.useRealTimers()
})
