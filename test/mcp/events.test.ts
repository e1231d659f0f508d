import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { pruneEvents } from '../../src/event/log.ts'
import { hashToken, newToken } from '../../src/workspace/token/token.ts'
import { openEvents } from '../support/events.ts'
import { newest, post } from '../support/letter.ts'
import { type McpClient, NAME, openMcp, postRpc, type RpcStream, rpc, streamRpc } from '../support/mcp.ts'
import {
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { SOON_MS, until } from '../support/until.ts'

/** The Events extension: what can be heard, by asking and by listening. */

let service: TestService
let owner: Tenant
const opened: { close(): unknown }[] = []
beforeAll(async () => {
  service = await startService({ environment: { RATE_LIMIT: '100000' } })
  owner = await service.workspace()
})
afterAll(() => Promise.all(opened.map((one) => one.close())))

const createOpenAgent = async (): Promise<TestAgent> => {
  const agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  return agent
}
let senders = 0
const mail = (agent: TestAgent, times = 1) =>
  Promise.all(
    Array.from({ length: times }, () =>
      post(service, { from: `s${senders++}@example.com`, to: agent.address, subject: 'Hi', text: 'hi' }),
    ),
  )
const text = (agent: TestAgent, words: string) =>
  owner.api('POST', `/agents/${agent.id}/url`, { text: words })

const ask = async (token: string, method: string, params: object = {}) => {
  const { body } = await postRpc(service.http, token, method, {
    name: 'message.received',
    arguments: {},
    ...params,
  })
  return body
}
const stream = async (token: string, params: object = {}, base = service.http): Promise<RpcStream> => {
  const made = await streamRpc(base, token, 'events/stream', {
    name: 'message.received',
    arguments: {},
    ...params,
  })
  opened.push(made)
  return made
}
const EVENT = 'notifications/events/event'
const cursorsOf = (one: RpcStream) => one.of(EVENT).map(({ params }) => params.cursor)
const listeners = async (agent: TestAgent) => (await agent.api('GET', `/agents/${agent.id}/listeners`)).body
const active = (one: RpcStream) => until(() => one.of('notifications/events/active')[0])

describe('what can be heard', () => {
  test('every type of the log, by push, poll and webhook, with what it takes and tells', async () => {
    const agent = await createOpenAgent()
    const { result } = await ask(agent.token, 'events/list')
    const types = ['received', 'refused', 'held', 'sent', 'failed', 'reported']
    const names = [...types.map((name) => `message.${name}`), 'question.answered']
    expect(result.events).toEqual(
      names.map((name) => ({
        name,
        description: expect.any(String),
        delivery: ['push', 'poll', 'webhook'],
        inputSchema: expect.objectContaining({ type: 'object', additionalProperties: false }),
        payloadSchema: expect.objectContaining({
          type: 'object',
          required: expect.arrayContaining(['agent', 'message']),
        }),
      })),
    )
    expect((await ask(owner.token, 'events/list')).result.events[0].inputSchema.required).toEqual(['agentId'])
  })

  test.each<[string, object, number]>([
    ['another event', { name: 'message.deleted' }, -32011],
    ['an event that every object has', { name: 'constructor' }, -32011],
    ['an argument that there is not', { arguments: { color: 'red' } }, -32602],
    ['a channel that there is not', { arguments: { channels: ['fax'] } }, -32602],
    ['arguments that are no object', { arguments: 'x' }, -32602],
    ['a cursor that was never given', { cursor: '7' }, -32602],
    ['a cursor that is no number', { cursor: 'abc' }, -32602],
    ['a negative age', { maxAgeMs: -1 }, -32602],
  ])('%s is refused, and replaces no client', async (_name, params, code) => {
    const agent = await createOpenAgent()
    const client = await stream(agent.token)
    await active(client)
    for (const method of ['events/poll', 'events/stream'])
      expect((await ask(agent.token, method, params)).error.code).toBe(code)
    await mail(agent)
    await until(() => cursorsOf(client).length === 1)
    client.close()
  })

  test('a client that declares the extension gets the codes of its specification, on streams too', async () => {
    const agent = await createOpenAgent()
    const post = async (method: string, params: object) => {
      const { headers, body } = rpc(method, { arguments: {}, ...params })
      const capabilities = { extensions: { 'io.modelcontextprotocol/events': {} } }
      const meta = { ...body.params._meta, 'io.modelcontextprotocol/clientCapabilities': capabilities }
      return fetch(`${service.http}/mcp`, {
        method: 'POST',
        headers: { ...headers, Authorization: `Bearer ${agent.token}` },
        body: JSON.stringify({ ...body, params: { ...body.params, _meta: meta } }),
      })
    }
    const refused = async (params: object) => (await (await post('events/poll', params)).json()).error
    expect(await refused({ name: 'message.deleted' })).toMatchObject({
      code: -32023,
      data: { kind: 'event' },
    })
    expect(await refused({ name: 'message.received', cursor: 'abc' })).toMatchObject({ code: -32602 })
    const held = await post('events/stream', { name: 'message.received' })
    await until(async () => (await listeners(agent)).length > 0)
    const next = await stream(agent.token) // replaces it
    expect(await held.text()).toContain('"code":-32025')
    next.close()
  })

  test('each type that the agent logs, on a stream of its own: only that of new messages is its client', async () => {
    const agent = await createOpenAgent()
    await owner.api('PATCH', `/agents/${agent.id}`, { eventTypes: ['message.held', 'message.failed'] })
    const failed = await stream(agent.token, { name: 'message.failed' })
    await active(failed)
    expect(await listeners(agent)).toEqual([])
    const received = await stream(agent.token)
    await active(received)
    expect(await listeners(agent)).toMatchObject([{ kind: 'client' }])
    const sendAt = new Date(Date.now() + 3_600_000).toISOString()
    const message = { channel: 'email', to: ['bo@example.com'], text: 'hi', sendAt }
    const { id } = (await agent.api('POST', `/agents/${agent.id}/messages`, message)).body
    await agent.api('POST', `/agents/${agent.id}/messages/${id}/cancel`)
    await mail(agent)
    await until(() => cursorsOf(received).length === 1 && cursorsOf(failed).length === 1)
    expect(cursorsOf(received)).toEqual(['3'])
    const [told] = failed.of(EVENT)
    expect(told?.params).toMatchObject({ name: 'message.failed', cursor: '2' })
    expect(told?.params.data.message).toMatchObject({ id, error: 'Cancelled by Support Bot' })
    const held = (await ask(agent.token, 'events/poll', { name: 'message.held', cursor: '0' })).result
    expect(held.cursor).toBe('3')
    expect(held.events.map(({ data }: { data: { message: object } }) => data.message)).toMatchObject([
      { id, hold: { reason: 'schedule', until: sendAt } },
    ])
    failed.close()
    received.close()
  })

  test('a client that begins with initialize hears of events too', async () => {
    const agent = await createOpenAgent()
    const mcp = await openMcp(service.http, agent.token, 'legacy')
    opened.push(mcp)
    const { events } = await mcp.request('events/list')
    expect(events.map(({ name }: { name: string }) => name)).toContain('message.received')
    await mail(agent)
    const polled = await mcp.request('events/poll', { name: 'message.received', arguments: {}, cursor: '0' })
    expect(polled).toMatchObject({ events: [{ name: 'message.received' }], hasMore: false })
    await expect(mcp.request('events/poll', { name: 'nothing' })).rejects.toMatchObject({ code: -32011 })
  })
})

describe('polling', () => {
  test('begins now, goes on from its cursor, and says when there is more', async () => {
    const agent = await createOpenAgent()
    await mail(agent, 2)
    expect((await ask(agent.token, 'events/poll')).result).toMatchObject({
      events: [],
      cursor: '2',
      truncated: false,
      hasMore: false,
      nextPollMs: 5_000,
    })
    await mail(agent, 3)
    const first = (await ask(agent.token, 'events/poll', { cursor: '2', maxEvents: 2 })).result
    expect(first).toMatchObject({ cursor: '4', hasMore: true })
    expect(first.events.map(({ cursor }: { cursor: string }) => cursor)).toEqual(['3', '4'])
    const last = (await ask(agent.token, 'events/poll', { cursor: first.cursor })).result
    expect(last).toMatchObject({ cursor: '5', hasMore: false })
    // Messages of one moment are listed in another order than their events.
    const told = last.events[0].data.message.id
    const message = (await newest(agent, 5)).find(({ id }: { id: string }) => id === told)
    expect(last.events).toEqual([
      {
        eventId: `evt_${agent.id.replaceAll('-', '')}_5`,
        name: 'message.received',
        timestamp: message.createdAt,
        data: {
          agent: { id: agent.id, name: 'Support Bot' },
          message: {
            id: message.id,
            channel: 'email',
            from: message.counterpart,
            subject: 'Hi',
            mayInstruct: false,
          },
          messageId: message.id,
          from: message.counterpart,
          threadId: message.threadId,
          conversation: null,
          addressed: 'to',
        },
        cursor: '5',
      },
    ])
  })

  test('filters by channel, and passes over the rest', async () => {
    const agent = await createOpenAgent()
    await owner.api('POST', `/agents/${agent.id}/webhooks`, { url: 'http://127.0.0.1:9/x' })
    await text(agent, 'psst')
    await mail(agent)
    const only = async (channels: string[]) =>
      (await ask(agent.token, 'events/poll', { cursor: '0', arguments: { channels } })).result
    expect((await only(['email'])).events.map(({ cursor }: { cursor: string }) => cursor)).toEqual(['2'])
    expect((await only(['sms'])).cursor).toBe('2')
    const [told] = (await only(['url'])).events
    // What the service keeps no copy of is told to whoever listens, not to whoever asks later.
    expect(told.data.message).toMatchObject({ channel: 'url', sender: { id: owner.member } })
    expect(told.data.message.text).toBeUndefined()
  })

  test('from where it is no longer kept, or too old: later, and it says so', async () => {
    const agent = await createOpenAgent()
    await mail(agent, 3)
    await service.db.pool.query(
      "update event set created_at = created_at - interval '1 hour' where agent_id = $1 and id <= 2",
      [agent.id],
    )
    expect((await ask(agent.token, 'events/poll', { cursor: '0', maxAgeMs: 60_000 })).result).toMatchObject({
      truncated: true,
      events: [{ cursor: '3' }],
    })
    await service.db.pool.query(
      "update event set created_at = created_at - interval '8 days' where agent_id = $1 and id = 1",
      [agent.id],
    )
    await pruneEvents(service.db, new Date())
    expect((await ask(agent.token, 'events/poll', { cursor: '0' })).result).toMatchObject({
      truncated: true,
      events: [{ cursor: '2' }, { cursor: '3' }],
    })
    expect((await ask(agent.token, 'events/poll', { cursor: '1' })).result.truncated).toBe(false)
  })
})

describe('a stream', () => {
  test('of a real client: it is active, hears what comes, and aborts', async () => {
    const agent = await createOpenAgent()
    const { client, close }: McpClient = await openMcp(service.http, agent.token)
    const heard: { name: string; cursor: string }[] = []
    let isActive = false
    client.setNotificationHandler('notifications/events/active', { params: z.looseObject({}) }, () => {
      isActive = true
    })
    client.setNotificationHandler(
      EVENT,
      { params: z.looseObject({ name: z.string(), cursor: z.string() }) },
      (params) => {
        heard.push(params)
      },
    )
    const leaving = new AbortController()
    const params = { name: 'message.received', arguments: {}, cursor: null }
    const listening = client.request({ method: 'events/stream', params }, z.any(), {
      timeout: 60_000,
      signal: leaving.signal,
    })
    listening.catch(() => undefined)
    await until(() => isActive)
    expect(await listeners(agent)).toEqual([
      { kind: 'client', client: `${NAME.name} ${NAME.version}`, machine: 'MCP' },
    ])
    await mail(agent)
    await until(() => heard.length === 1)
    expect(heard[0]).toMatchObject({ name: 'message.received', cursor: '1' })
    leaving.abort()
    await expect(listening).rejects.toThrow()
    await until(async () => (await listeners(agent)).length === 0)
    await close()
  })

  test('begins with where it stands, replays from its cursor, and carries the id of its request', async () => {
    const agent = await createOpenAgent()
    await mail(agent, 3)
    const one = await stream(agent.token, { cursor: '1' })
    await until(() => cursorsOf(one).length === 2)
    await mail(agent)
    await until(() => cursorsOf(one).length === 3)
    expect(one.notices[0]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/events/active',
      params: {
        cursor: '1',
        truncated: false,
        _meta: { 'io.modelcontextprotocol/subscriptionId': expect.any(String) },
      },
    })
    expect(cursorsOf(one)).toEqual(['2', '3', '4'])
    const ids = one.notices.map(({ params }) => params._meta['io.modelcontextprotocol/subscriptionId'])
    expect(new Set(ids).size).toBe(1)
    one.close()
  })

  test('carries a text for the Message URL whole, for it listens; members hear too and are no listeners', async () => {
    const agent = await createOpenAgent()
    const member = await stream(owner.token, { arguments: { agentId: agent.id } })
    await active(member)
    expect((await text(agent, 'nobody')).status).toBe(409)
    const one = await stream(agent.token)
    await active(one)
    expect((await text(agent, 'wake up')).status).toBe(200)
    for (const heard of [one, member]) {
      await until(() => cursorsOf(heard).length === 1)
      expect(heard.of(EVENT)[0]!.params.data.message).toMatchObject({ channel: 'url', text: 'wake up' })
    }
    one.close()
    member.close()
  })

  test('filters by channel', async () => {
    const agent = await createOpenAgent()
    const one = await stream(agent.token, { arguments: { channels: ['url'] } })
    await active(one)
    await mail(agent)
    await text(agent, 'now')
    await until(() => cursorsOf(one).length === 1)
    expect(cursorsOf(one)).toEqual(['2'])
    one.close()
  })

  test('beats with its position, also when nothing was for it', async () => {
    const agent = await createOpenAgent()
    const one = await stream(agent.token, { arguments: { channels: ['sms'] } })
    await active(one)
    await mail(agent)
    const beat = await until(() =>
      one.of('notifications/events/heartbeat').find(({ params }) => params.cursor === '1'),
    )
    expect(beat.params._meta).toEqual(one.notices[0]!.params._meta)
    expect(cursorsOf(one)).toEqual([])
    one.close()
  })

  test('a hundred of one token are enough', async () => {
    const params = { arguments: { agentId: (await createOpenAgent()).id } }
    const many = await Promise.all(Array.from({ length: 100 }, () => stream(owner.token, params)))
    await Promise.all(many.map(active))
    const { error } = await ask(owner.token, 'events/stream', params)
    expect(error).toMatchObject({ code: -32013, data: { limit: 'streams', max: 100 } })
    for (const one of many) one.close()
    await until(async () => /ams_mcp_streams 0/.test((await owner.api('GET', '/metrics')).text))
  })
})

describe('the one connected client', () => {
  const replacedBy = {
    code: -32013,
    message: 'Another client is connected now.',
    data: { limit: 'connectedClients', max: 1, reason: 'replaced' },
  }
  const connectClient = async (agent: TestAgent) => {
    const { body } = await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
    return body.id as string
  }
  const expectTerminated = async (one: RpcStream) => {
    await one.ended
    expect(one.of('notifications/events/terminated')[0]!.params.error).toEqual(replacedBy)
    // Then its result: it ended in order, and is not to come again by itself.
    expect(one.notices.at(-1)).toMatchObject({ result: { resultType: 'complete' } })
  }

  test('an MCP client takes over from another, which is told and ends', async () => {
    const agent = await createOpenAgent()
    const first = await stream(agent.token)
    await active(first)
    const second = await stream(agent.token)
    await active(second)
    await expectTerminated(first)
    await mail(agent)
    await until(() => cursorsOf(second).length === 1)
    expect(cursorsOf(first)).toEqual([])
    second.close()
  })

  test('from an event stream, and an event stream from it', async () => {
    const agent = await createOpenAgent()
    const path = `${service.http}/agents/${agent.id}/connections`
    const before = await openEvents(`${path}/${await connectClient(agent)}/events`, agent.token)
    const one = await stream(agent.token)
    await before.ended
    expect(before.frames.at(-1)).toMatchObject({ event: 'replaced' })
    expect(await listeners(agent)).toEqual([{ kind: 'client', client: 'test-client 9.9', machine: 'MCP' }])
    const after = await openEvents(`${path}/${await connectClient(agent)}/events`, agent.token)
    await expectTerminated(one)
    await mail(agent)
    await after.got(1)
    after.close()
  })

  test('from a GraphQL client, and a GraphQL client from it', async () => {
    const agent = await createOpenAgent()
    const query = `subscription ($id: UUID!, $connection: UUID!) { messageReceived(agentId: $id, connectionId: $connection) { id } }`
    const follow = async () => {
      const variables = { id: agent.id, connection: await connectClient(agent) }
      const response = await fetch(`${service.http}/graphql`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'text/event-stream',
          Authorization: `Bearer ${agent.token}`,
        },
        body: JSON.stringify({ query, variables }),
      })
      return { text: response.text() }
    }
    const before = await follow()
    await until(async () => (await listeners(agent)).length === 1)
    const one = await stream(agent.token)
    expect(await before.text).toContain('Another client is connected now.')
    const after = await follow()
    await expectTerminated(one)
    const last = await stream(agent.token)
    expect(await after.text).toContain('Another client is connected now.')
    last.close()
  })

  test('from a client of another process', async () => {
    const other = await service.again({ ROLES: 'api' })
    const agent = await createOpenAgent()
    const first = await stream(agent.token, {}, other.http)
    await active(first)
    await mail(agent)
    await until(() => cursorsOf(first).length === 1)
    const second = await stream(agent.token, { cursor: '0' })
    await expectTerminated(first)
    await until(() => cursorsOf(second).length === 1)
    second.close()
    await until(async () => (await listeners(agent)).length === 0)
  })

  test('which goes on where it stood, whichever process it comes back to, with nothing lost and nothing twice', async () => {
    const other = await service.again({ ROLES: 'api' })
    const agent = await createOpenAgent()
    const writing = (async () => {
      for (let n = 0; n < 10; n++) await mail(agent, 4)
    })()
    const heard: string[] = []
    for (let turn = 0; heard.length < 40; turn++) {
      const one = await stream(
        agent.token,
        { cursor: heard.at(-1) ?? '0' },
        [service.http, other.http][turn % 2],
      )
      await until(() => cursorsOf(one).length > 0)
      one.close()
      heard.push(...cursorsOf(one))
    }
    await writing
    expect(heard).toEqual(Array.from({ length: 40 }, (_, index) => String(index + 1)))
  })
})

describe('losing the right to listen', () => {
  test('a revoked token ends it within a second, with the reason, on every process', async () => {
    const other = await service.again({ ROLES: 'api' })
    const agent = await createOpenAgent()
    const one = await stream(agent.token, {}, other.http)
    await active(one)
    const [token] = (await owner.api('GET', `/agents/${agent.id}/tokens`)).body
    const started = performance.now()
    await owner.api('DELETE', `/agents/${agent.id}/tokens/${token.id}`)
    await one.ended
    expect(performance.now() - started).toBeLessThan(SOON_MS)
    expect(one.of('notifications/events/terminated')[0]!.params.error).toMatchObject({ code: -32012 })
    expect(await listeners({ ...agent, api: owner.api })).toEqual([])
  })

  test('so does the deletion of the agent, for members too', async () => {
    const agent = await createOpenAgent()
    const one = await stream(agent.token)
    const member = await stream(owner.token, { arguments: { agentId: agent.id } })
    await Promise.all([active(one), active(member)])
    await owner.api('DELETE', `/agents/${agent.id}`)
    await one.ended
    expect(one.of('notifications/events/terminated')).toHaveLength(1)
    await until(() => member.of('notifications/events/terminated')[0])
  })

  test('a service that stops ends it without a reason: the client comes back with its cursor', async () => {
    const other = await service.again({ ROLES: 'api' })
    const agent = await createOpenAgent()
    const one = await stream(agent.token, {}, other.http)
    await active(one)
    await other.stop(1_000)
    await one.ended
    expect(one.notices.at(-1)).toMatchObject({ result: { resultType: 'complete' } })
    expect(one.of('notifications/events/terminated')).toEqual([])
  })
})

describe('resources', () => {
  test('a client that listens to an inbox is told that it changed, in either process, and ends with its token', async () => {
    const other = await service.again({ ROLES: 'api' })
    const [agent, stranger] = [await createOpenAgent(), await createOpenAgent()]
    const asked = {
      notifications: { resourceSubscriptions: [`inbox://${agent.id}`, `inbox://${stranger.id}`] },
    }
    const one = await streamRpc(other.http, agent.token, 'subscriptions/listen', asked)
    opened.push(one)
    const [acknowledged] = await until(() => (one.notices.length > 0 ? one.notices : null))
    expect(acknowledged).toMatchObject({
      params: { notifications: { resourceSubscriptions: [`inbox://${agent.id}`] } },
    })
    await mail(stranger)
    await mail(agent)
    const [changed] = await until(() =>
      one.of('notifications/resources/updated').length > 0 ? one.of('notifications/resources/updated') : null,
    )
    expect(changed!.params.uri).toBe(`inbox://${agent.id}`)
    expect(JSON.stringify(one.notices)).not.toContain(stranger.id)
    const [token] = (await owner.api('GET', `/agents/${agent.id}/tokens`)).body
    await owner.api('DELETE', `/agents/${agent.id}/tokens/${token.id}`)
    await one.ended
  })
})

test('twenty streams of one token listen to resources, no more', async () => {
  const agent = await createOpenAgent()
  const params = { notifications: { resourceSubscriptions: [`inbox://${agent.id}`] } }
  const listen = () => streamRpc(service.http, agent.token, 'subscriptions/listen', params)
  const many = await Promise.all(Array.from({ length: 20 }, listen))
  await until(() => many.every((one) => one.notices.length === 1))
  expect((await listen()).status).toBe(429)
  for (const one of many) one.close()
  await until(async () => {
    const one = await listen()
    one.close()
    return one.status === 200
  })
})

test('a reader that stalls grows no memory and stops no other', async () => {
  const [stalled, lively] = [await createOpenAgent(), await createOpenAgent()]
  const EVENTS = 40_000
  // Some 20 MB of frames, which no socket's buffers hold.
  await service.db.pool.query(
    `with head as (update event_log set last_id = $2 where agent_id = $1)
     insert into event (agent_id, id, type, channel, message_id, sender, "from", subject, created_at)
     select $1, n, 'message.received', 'email', gen_random_uuid(), '{}', repeat('x', 200), 'x', now() from generate_series(1, $2::int) n`,
    [stalled.id, EVENTS],
  )
  const { headers, body } = rpc('events/stream', { name: 'message.received', arguments: {}, cursor: '0' })
  const sent = JSON.stringify(body)
  const lines = Object.entries({
    ...headers,
    Host: 'localhost',
    Authorization: `Bearer ${stalled.token}`,
    'Content-Length': sent.length,
  })
  const socket = connect(Number(new URL(service.http).port), '127.0.0.1')
  socket.pause()
  socket.write(
    `POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n${sent}`,
  )
  const one = await stream(lively.token)
  await active(one)
  global.gc?.()
  const before = process.memoryUsage().arrayBuffers
  await mail(lively, 10)
  await until(() => cursorsOf(one).length === 10)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10 * 1024 * 1024)
  let last = ''
  let size = 0
  socket.on('data', (chunk) => {
    size += chunk.length
    last = (last + chunk.toString()).slice(-2_000)
  })
  socket.resume()
  await until(() => last.includes(`"cursor":"${EVENTS}"`))
  expect(size).toBeGreaterThan(15 * 1024 * 1024)
  socket.destroy()
  one.close()
})

test('two hundred open streams each hear their own event', async () => {
  const COUNT = 200
  const { rows } = await service.db.pool.query<{ id: string }>(
    `with made as (
       insert into agent (id, workspace_id, name, icon) select gen_random_uuid(), $1, 'Crowd', 'bot' from generate_series(1, $2::int) returning id
     ), logs as (insert into event_log (agent_id) select id from made)
     select id from made`,
    [owner.id, COUNT],
  )
  const tokens = rows.map(() => newToken('agent'))
  await service.db.pool.query(
    `insert into token (id, workspace_id, agent_id, hash) select gen_random_uuid(), $1, a, h from unnest($2::uuid[], $3::bytea[]) as u(a, h)`,
    [owner.id, rows.map(({ id }) => id), tokens.map(hashToken)],
  )
  const streams: RpcStream[] = []
  for (let from = 0; from < COUNT; from += 50) {
    streams.push(...(await Promise.all(tokens.slice(from, from + 50).map((token) => stream(token)))))
  }
  await until(() => streams.every((one) => one.notices.length > 0))
  const api = apiOf(service.http, owner.token)
  await service.db.pool.query(
    "insert into access (agent_id, channel, admit, senders) select a, 'url', 'team', '{}' from unnest($1::uuid[]) a",
    [rows.map(({ id }) => id)],
  )
  for (let from = 0; from < COUNT; from += 50) {
    const answers = await Promise.all(
      rows.slice(from, from + 50).map(({ id }) => api('POST', `/agents/${id}/url`, { text: `for ${id}` })),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  }
  await until(() => streams.every((one) => one.notices.length > 1))
  await until(() => streams.every((one) => cursorsOf(one).length === 1))
  for (const [index, one] of streams.entries())
    expect(one.of(EVENT)[0]!.params.data.message.text).toBe(`for ${rows[index]!.id}`)
  for (const one of streams) one.close()
  await until(async () => /ams_mcp_streams 0/.test((await owner.api('GET', '/metrics')).text))
})
