import { connect } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { pruneEvents } from '../../src/event/log.ts'
import { type EventStream, openEvents } from '../support/events.ts'
import { expectFailure } from '../support/failure.ts'
import { newest, post } from '../support/letter.ts'
import {
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

let service: TestService
let owner: Tenant
beforeAll(async () => {
  service = await startService()
  owner = await service.workspace()
})

/** An agent that takes mail from anyone. */
const createOpenAgent = async (): Promise<TestAgent> => {
  const agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  return agent
}
const connectClient = async (agent: TestAgent, base = service.http): Promise<string> => {
  const { body } = await apiOf(base, agent.token)('PUT', `/agents/${agent.id}/connection`, {
    client: 'c',
    machine: 'm',
  })
  return `/agents/${agent.id}/connections/${body.id}/events`
}
const open = (agent: TestAgent, path: string, headers: Record<string, string> = {}, base = service.http) =>
  openEvents(base + path, agent.token, headers)
let count = 0
/** Raises one event. */
const mail = (agent: TestAgent, text = 'hi') =>
  post(service, { from: `s${count++}@example.com`, to: agent.address, subject: 'Hi', text })
const mails = async (agent: TestAgent, times: number) => {
  for (let n = 0; n < times; n++) await mail(agent)
}
const idsOf = (stream: EventStream) => stream.frames.map(({ id }) => id)

describe('a stream', () => {
  test('opens with its retry time, under headers that keep proxies from holding it back', async () => {
    const agent = await createOpenAgent()
    const stream = await open(agent, await connectClient(agent))
    expect(stream.status).toBe(200)
    expect(Object.fromEntries(stream.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    })
    await until(() => stream.opening === 'retry: 3000\n\n')
    stream.close()
  })

  test('speaks the frames of the specification, byte for byte', async () => {
    const agent = await createOpenAgent()
    const path = await connectClient(agent)
    const socket = connect(Number(new URL(service.http).port), '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${agent.token}\r\n\r\n`)
    await until(() => text.includes('retry: 3000\n\n'))
    await mail(agent)
    const [event] = (await agent.api('GET', `/agents/${agent.id}/events`)).body.items
    await until(() => text.includes(`id: 1\nevent: message.received\ndata: ${JSON.stringify(event)}\n\n`))
    socket.destroy()
  })

  test.each(['c', '-1', '1.5', 'NaN', '99999999999999999999', ' '])('resumes at no %j', async (position) => {
    const agent = await createOpenAgent()
    const path = await connectClient(agent)
    expectFailure(
      await agent.api('GET', `${path}?after=${encodeURIComponent(position)}`),
      'invalid_input',
      /^after: /,
    )
    if (position.trim())
      expectFailure(
        await agent.api('GET', path, undefined, { 'Last-Event-ID': position }),
        'invalid_input',
        /^Last-Event-ID: /,
      )
  })
})

describe('where a stream begins', () => {
  test('without a position: at the moment of the connection, not of the stream', async () => {
    const agent = await createOpenAgent()
    await mails(agent, 2)
    const path = await connectClient(agent)
    await mail(agent)
    const stream = await open(agent, path)
    await mail(agent)
    await stream.got(2)
    expect(idsOf(stream)).toEqual([3, 4])
    stream.close()
  })

  test('after=0: at the beginning; after=2: behind 2; Last-Event-ID wins over it', async () => {
    const agent = await createOpenAgent()
    await mails(agent, 4)
    const path = await connectClient(agent)
    const begins = async (query: string, headers: Record<string, string>, ids: number[]) => {
      const stream = await open(agent, path + query, headers)
      await stream.got(ids.length)
      expect(idsOf(stream)).toEqual(ids)
      stream.close()
      await stream.ended.catch(() => undefined)
    }
    await begins('?after=0', {}, [1, 2, 3, 4])
    await begins('?after=2', {}, [3, 4])
    await begins('', { 'Last-Event-ID': '3' }, [4])
    await begins('?after=0', { 'Last-Event-ID': '3' }, [4])
    await begins('?after=3', { 'Last-Event-ID': '0' }, [1, 2, 3, 4])
  })

  test('beyond the end: with the next event', async () => {
    const agent = await createOpenAgent()
    const stream = await open(agent, `${await connectClient(agent)}?after=1000`)
    await mail(agent)
    await stream.got(1)
    expect(idsOf(stream)).toEqual([1])
    stream.close()
  })

  test('broken off again and again while mail comes in: nothing is lost, nothing twice', async () => {
    const agent = await createOpenAgent()
    const path = await connectClient(agent)
    const writing = Promise.all(Array.from({ length: 4 }, () => mails(agent, 10)))
    const heard: (number | null)[] = []
    while (heard.length < 40) {
      const stream = await open(agent, path, { 'Last-Event-ID': String(heard.at(-1) ?? 0) })
      await until(() => stream.frames.length > 0)
      stream.close()
      heard.push(...idsOf(stream))
    }
    await writing
    expect(heard).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
  })

  test('where the log was pruned: truncated says with which event it goes on', async () => {
    const agent = await createOpenAgent()
    await mails(agent, 3)
    await service.db.pool.query(
      "update event set created_at = created_at - interval '8 days' where agent_id = $1 and id <= 2",
      [agent.id],
    )
    await pruneEvents(service.db, new Date())
    const path = await connectClient(agent)
    const stream = await open(agent, `${path}?after=0`)
    await stream.got(2)
    expect(stream.frames[0]).toEqual({ id: 2, event: 'truncated', data: { nextId: 3 } })
    expect(stream.frames[1]).toMatchObject({ id: 3, event: 'message.received' })
    stream.close()
    await mail(agent)
    const kept = await open(agent, `${path}?after=2`)
    await kept.got(2)
    expect(idsOf(kept)).toEqual([3, 4])
    kept.close()
  })
})

describe('who holds a stream', () => {
  test('another client replaces it: told so, ended, then 204', async () => {
    const agent = await createOpenAgent()
    const path = await connectClient(agent)
    const first = await open(agent, path)
    await mail(agent)
    await first.got(1)
    const second = await open(agent, await connectClient(agent))
    await first.ended
    expect(first.frames.at(-1)).toEqual({ id: null, event: 'replaced', data: {} })
    expect((await open(agent, path)).status).toBe(204)
    await mail(agent)
    await second.got(1)
    expect(idsOf(second)).toEqual([2])
    second.close()
  })

  test('the same connection opened again takes the stream over', async () => {
    const agent = await createOpenAgent()
    const path = await connectClient(agent)
    const first = await open(agent, path)
    const second = await open(agent, path)
    await first.ended
    await mail(agent)
    await second.got(1)
    expect(first.frames).toEqual([])
    second.close()
  })

  test('deleting the agent ends it within a second', async () => {
    const agent = await createOpenAgent()
    const stream = await open(agent, await connectClient(agent))
    const started = performance.now()
    await owner.api('DELETE', `/agents/${agent.id}`)
    await stream.ended
    expect(performance.now() - started).toBeLessThan(1_000)
    expect(stream.frames).toEqual([])
  })
})

describe('over two processes', () => {
  test('connected on one, streamed from the other, mail into the first', async () => {
    const other = await service.again({ ROLES: 'api' })
    const agent = await createOpenAgent()
    const path = await connectClient(agent)
    const stream = await open(agent, path, {}, other.http)
    const started = performance.now()
    await mail(agent)
    await stream.got(1)
    expect(performance.now() - started).toBeLessThan(2_000)
    expect(stream.frames[0]!.data.messageId).toBe((await newest(agent))[0].id)
    expect((await agent.api('GET', `/agents/${agent.id}/listeners`)).body).toEqual([
      { kind: 'client', client: 'c', machine: 'm' },
    ])
    const replacing = await open(agent, await connectClient(agent))
    await stream.ended
    expect(stream.frames.at(-1)!.event).toBe('replaced')
    replacing.close()
  })

  test('a token revoked on one closes the stream on the other within a second', async () => {
    const other = await service.again({ ROLES: 'api' })
    const agent = await createOpenAgent()
    const stream = await open(agent, await connectClient(agent), {}, other.http)
    const [token] = (await owner.api('GET', `/agents/${agent.id}/tokens`)).body
    const started = performance.now()
    await owner.api('DELETE', `/agents/${agent.id}/tokens/${token.id}`)
    await stream.ended
    expect(performance.now() - started).toBeLessThan(1_000)
    expectFailure(await apiOf(other.http, agent.token)('GET', `/agents/${agent.id}`), 'unauthorized')
  })
})

test('a reader that stalls grows no memory and stops no other', async () => {
  const [stalled, lively] = [await createOpenAgent(), await createOpenAgent()]
  const EVENTS = 60_000
  // Some 20 MB of frames, which no socket's buffers hold.
  await service.db.pool.query(
    `with head as (update event_log set last_id = $2 where agent_id = $1)
     insert into event (agent_id, id, type, channel, message_id, sender, "from", subject, created_at)
     select $1, n, 'message.received', 'email', gen_random_uuid(), jsonb_build_object('name', repeat('x', 200)), 'x', 'x', now()
       from generate_series(1, $2::int) n`,
    [stalled.id, EVENTS],
  )
  const path = await connectClient(stalled)
  const socket = connect(Number(new URL(service.http).port), '127.0.0.1')
  socket.pause()
  socket.write(`GET ${path}?after=0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${stalled.token}\r\n\r\n`)
  const stream = await open(lively, await connectClient(lively))
  global.gc?.()
  const before = process.memoryUsage().arrayBuffers
  await mails(lively, 10)
  await stream.got(10)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10 * 1024 * 1024)
  let text = 0
  let last = ''
  socket.on('data', (chunk) => {
    text += chunk.length
    last = (last + chunk.toString()).slice(-2_000)
  })
  socket.resume()
  await until(() => last.includes(`id: ${EVENTS}\n`), 15_000)
  expect(text).toBeGreaterThan(15 * 1024 * 1024)
  socket.destroy()
  stream.close()
})
