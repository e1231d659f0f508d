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
import { SOON_MS, until } from '../support/until.ts'

let service: TestService
let owner: Tenant
beforeAll(async () => {
  service = await startService()
  owner = await service.workspace()
})

/** Creates an agent that accepts mail from anyone. */
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
  test('counts towards the quota of its token when it is opened', async () => {
    const agent = await createOpenAgent()
    const path = await connectClient(agent)
    const partOf = (quota: string | null, name: 'r' | 't') =>
      Number(new RegExp(`${name}=(\\d+)`).exec(quota ?? '')?.[1])
    const requests = async () => {
      const { headers } = await agent.api('GET', `/agents/${agent.id}/addresses`)
      const stream = await open(agent, path)
      stream.close()
      return [headers.get('ratelimit'), stream.headers.get('ratelimit')] as const
    }
    let [before, after] = await requests()
    // A minute ended between the two.
    if (partOf(after, 't') > partOf(before, 't')) [before, after] = await requests()
    expect(partOf(after, 'r')).toBe(partOf(before, 'r') - 1)
  })

  test('starts with its retry time, and has headers that keep proxies from buffering it', async () => {
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

  test('sends frames exactly as specified', async () => {
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

  test.each(['c', '-1', '1.5', 'NaN', '99999999999999999999', ' '])(
    'is refused with the invalid position %j',
    async (position) => {
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
    },
  )
})

describe('the position where a stream starts', () => {
  test('is by default that of the connection, not of the stream', async () => {
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

  test('is given by `after` or by Last-Event-ID, which takes precedence', async () => {
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

  test('may be beyond the last event, and then the next event is sent', async () => {
    const agent = await createOpenAgent()
    const stream = await open(agent, `${await connectClient(agent)}?after=1000`)
    await mail(agent)
    await stream.got(1)
    expect(idsOf(stream)).toEqual([1])
    stream.close()
  })

  test('can be used to resume repeatedly while mail arrives, without losing or repeating an event', async () => {
    const agent = await createOpenAgent()
    const path = await connectClient(agent)
    const writing = Promise.all(Array.from({ length: 4 }, () => mails(agent, 10)))
    const received: (number | null)[] = []
    while (received.length < 40) {
      const stream = await open(agent, path, { 'Last-Event-ID': String(received.at(-1) ?? 0) })
      await until(() => stream.frames.length > 0)
      stream.close()
      received.push(...idsOf(stream))
    }
    await writing
    expect(received).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
  })

  test('is followed by a truncated event with the next available ID if the log was pruned', async () => {
    const agent = await createOpenAgent()
    await mails(agent, 3)
    await service.db.pool.query(
      "update event set created_at = now() - interval '8 days' where agent_id = $1 and id <= 2",
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

describe('a stream ends', () => {
  test('with a replaced event when another client connects, and is then refused with 204', async () => {
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

  test('when the same connection opens another stream', async () => {
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

  test('within a second after its agent is deleted', async () => {
    const agent = await createOpenAgent()
    const stream = await open(agent, await connectClient(agent))
    const started = performance.now()
    await owner.api('DELETE', `/agents/${agent.id}`)
    await stream.ended
    expect(performance.now() - started).toBeLessThan(SOON_MS)
    expect(stream.frames).toEqual([])
  })
})

describe('with two processes', () => {
  test('a client connected to one process can stream from the other', async () => {
    const other = await service.again({ ROLES: 'api' })
    const agent = await createOpenAgent()
    const path = await connectClient(agent)
    const stream = await open(agent, path, {}, other.http)
    const started = performance.now()
    await mail(agent)
    await stream.got(1)
    expect(performance.now() - started).toBeLessThan(SOON_MS)
    expect(stream.frames[0]!.data.messageId).toBe((await newest(agent))[0].id)
    expect((await agent.api('GET', `/agents/${agent.id}/listeners`)).body).toEqual([
      { kind: 'client', client: 'c', machine: 'm' },
    ])
    const replacing = await open(agent, await connectClient(agent))
    await stream.ended
    expect(stream.frames.at(-1)!.event).toBe('replaced')
    replacing.close()
  })

  test('a token revoked in one process closes its stream in the other within a second', async () => {
    const other = await service.again({ ROLES: 'api' })
    const agent = await createOpenAgent()
    const stream = await open(agent, await connectClient(agent), {}, other.http)
    const [token] = (await owner.api('GET', `/agents/${agent.id}/tokens`)).body
    const started = performance.now()
    await owner.api('DELETE', `/agents/${agent.id}/tokens/${token.id}`)
    await stream.ended
    expect(performance.now() - started).toBeLessThan(SOON_MS)
    expectFailure(await apiOf(other.http, agent.token)('GET', `/agents/${agent.id}`), 'unauthorized')
  })
})

test('a stalled reader does not increase memory use or delay other readers', async () => {
  const [stalled, lively] = [await createOpenAgent(), await createOpenAgent()]
  const EVENTS = 60_000
  // About 20 MB of frames, more than socket buffers hold.
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
  await until(() => last.includes(`id: ${EVENTS}\n`))
  expect(text).toBeGreaterThan(15 * 1024 * 1024)
  socket.destroy()
  stream.close()
})
