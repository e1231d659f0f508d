import { createClient } from 'graphql-sse'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import { openEvents } from '../support/events.ts'
import { deliver } from '../support/mail.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { SOON_MS, until } from '../support/until.ts'

/**
 * One service in several processes with different roles: listeners in one process receive the events of the
 * others.
 */
let service: TestService
let smtp: App
let otherApi: App
let owner: Tenant
let receiver: Receiver
const leaving: (() => void)[] = []
beforeAll(async () => {
  service = await startService({ environment: { ROLES: 'api' } })
  smtp = await service.again({ ROLES: 'smtp' })
  otherApi = await service.again({ ROLES: 'api' })
  owner = await service.workspace()
  receiver = await createReceiver()
})
afterAll(async () => {
  for (const leave of leaving) leave()
  await receiver.close()
})

let sent = 0
const mail = (agent: TestAgent) =>
  deliver(smtp.smtp!, { from: `s${sent++}@example.com`, to: agent.address, subject: 'Hi', text: 'hi' })

const createOpenAgent = async (): Promise<TestAgent> => {
  const agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  return agent
}

const addWebhook = async ({ id, api }: TestAgent): Promise<string> => {
  const path = `/${id}`
  const { body } = await api('POST', `/agents/${id}/webhooks`, { url: receiver.url + path })
  receiver.expect(path, body.secret)
  return path
}

/** Connects to the first process and opens the stream on another one. */
const listen = async (agent: TestAgent) => {
  const { body } = await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
  const stream = await openEvents(
    `${otherApi.http}/agents/${agent.id}/connections/${body.id}/events`,
    agent.token,
  )
  leaving.push(() => stream.close())
  return stream
}

const QUERY = 'subscription ($agentId: UUID!) { messageReceived(agentId: $agentId, after: 0) { id } }'
const subscribe = (agent: TestAgent): { ids: number[] } => {
  const client = createClient({
    url: `${otherApi.http}/graphql`,
    headers: { Authorization: `Bearer ${agent.token}` },
    retryAttempts: 0,
  })
  leaving.push(() => client.dispose())
  const ids: number[] = []
  client.subscribe<{ messageReceived: { id: number } }>(
    { query: QUERY, variables: { agentId: agent.id } },
    {
      next: ({ data }) => void (data && ids.push(data.messageReceived.id)),
      error: () => undefined,
      complete: () => undefined,
    },
  )
  return { ids }
}

const cursors = (path: string) =>
  receiver.received.filter((one) => one.path === path).map(({ verified }) => Number(verified?.cursor))
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** Creates an agent with one listener of each kind; `received` waits until each has this many events. */
const withEveryListener = async () => {
  const agent = await createOpenAgent()
  const path = await addWebhook(agent)
  const stream = await listen(agent)
  const subscription = subscribe(agent)
  const received = async (count: number, ms = SOON_MS) => {
    await until(
      () =>
        stream.frames.length >= count && subscription.ids.length >= count && cursors(path).length >= count,
      ms,
    )
    expect(stream.frames.map(({ id }) => id)).toEqual(upTo(count))
    expect(subscription.ids).toEqual(upTo(count))
    expect(cursors(path)).toEqual(upTo(count))
  }
  return { agent, path, stream, subscription, received }
}

describe('with the API, streams, SMTP and webhooks in separate processes', () => {
  let worker: App
  beforeAll(async () => {
    worker = await service.again({ ROLES: 'worker' })
  })
  afterAll(() => worker.stop(1_000))

  test('an event reaches every listener immediately', async () => {
    const { agent, received } = await withEveryListener()
    await mail(agent)
    await received(1)
    for (let n = 0; n < 3; n++) await mail(agent)
    await received(4)
  })

  test('nothing is lost or repeated while the connections that listen are ended again and again', async () => {
    const { agent, received } = await withEveryListener()
    const MAILS = 12
    let ended = 0
    for (let n = 0; n < MAILS; n++) {
      const { rows } = await service.db.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'ams-listen/%' and datname = current_database()`,
      )
      ended += rows.length
      await mail(agent)
    }
    expect(ended).toBeGreaterThan(0)
    await received(MAILS, 60_000)
  })

  test('a client that reconnected to another process still counts as listening when its first stream is found closed', async () => {
    const agent = await createOpenAgent()
    const { body } = await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
    const open = ({ http }: { http: string }) =>
      openEvents(`${http}/agents/${agent.id}/connections/${body.id}/events`, agent.token)
    const first = await open(service)
    const second = await open(otherApi)
    leaving.push(() => second.close())
    const leaseUntil = async () =>
      (await service.db.prisma.connection.findFirstOrThrow({ where: { id: body.id } })).leaseUntil
    const before = await until(leaseUntil)
    first.close()
    // Ended, and renewed long before the next heartbeat.
    await until(async () => ((await leaseUntil()) ?? 0) > before)
    expect((await agent.api('GET', `/agents/${agent.id}/listeners`)).body).toEqual([
      { kind: 'client', client: 'c', machine: 'm' },
    ])
  })

  test('a Message URL text that was lost on its way to the streaming process is requested again', async () => {
    const agent = await createOpenAgent()
    const stream = await listen(agent)
    const { pool } = service.db
    const original = pool.query
    let lost = 0
    pool.query = ((...given: unknown[]) => {
      if (lost > 0 || !JSON.stringify(given).includes('\\"texts\\"'))
        return Reflect.apply(original, pool, given)
      lost++
      return Promise.resolve({ rows: [], rowCount: 0 })
    }) as typeof pool.query
    try {
      expect((await owner.api('POST', `/a/${agent.id}`, { text: 'words for the client alone' })).status).toBe(
        200,
      )
      expect((await stream.got(1))[0]!.data.text).toBe('words for the client alone')
    } finally {
      pool.query = original
    }
    expect(lost).toBe(1)
  })

  describe('when every notification between processes is lost', () => {
    const query = { original: undefined as unknown }
    beforeEach(() => {
      const { pool } = service.db
      query.original = pool.query
      pool.query = ((...given: unknown[]) => {
        const [statement] = given as [string | { text: string }]
        if (/pg_notify/i.test(typeof statement === 'string' ? statement : statement.text))
          return Promise.resolve({ rows: [], rowCount: 0 })
        return Reflect.apply(query.original as typeof pool.query, pool, given)
      }) as typeof pool.query
      return () => {
        pool.query = query.original as typeof pool.query
      }
    })

    test('events arrive within 2 s, both at idle listeners and at those that have just received one', async () => {
      const { agent, received } = await withEveryListener()
      for (let count = 1; count <= 4; count++) {
        await mail(agent)
        await received(count)
      }
    })

    test('a client replaced by another one is notified on the other process within 2 s', async () => {
      const { agent, stream } = await withEveryListener()
      const from = performance.now()
      await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'd', machine: 'm' })
      await stream.ended
      expect(performance.now() - from).toBeLessThan(SOON_MS)
      expect(stream.frames.map(({ event }) => event)).toEqual(['replaced'])
    })

    test('a revoked token closes its stream on the other process within about a second', async () => {
      const { agent, stream, received } = await withEveryListener()
      await mail(agent)
      await received(1)
      const [token] = (await owner.api('GET', `/agents/${agent.id}/tokens`)).body
      const from = performance.now()
      await owner.api('DELETE', `/agents/${agent.id}/tokens/${token.id}`)
      await stream.ended
      expect(performance.now() - from).toBeLessThan(SOON_MS)
    })
  })
})

test('a worker that stops releases its lanes immediately instead of when its leases end', async () => {
  const first = await service.again({ ROLES: 'worker' })
  const agents = await Promise.all(Array.from({ length: 10 }, createOpenAgent))
  const paths = await Promise.all(agents.map(addWebhook))
  for (const path of paths)
    receiver.always(path, (res) => void setTimeout(() => res.writeHead(204).end(), 20))
  for (let n = 0; n < 10; n++) await Promise.all(agents.map(mail))
  await Promise.all(paths.map((path) => receiver.got(path, 1)))
  await service.again({ ROLES: 'worker' })
  const from = performance.now()
  await first.stop(5_000)
  await Promise.all(paths.map((path) => receiver.got(path, 10)))
  expect(performance.now() - from).toBeLessThan(SOON_MS)
  for (const path of paths) expect(cursors(path)).toEqual(upTo(10))
  expect(receiver.mostAtOnce).toBe(1)
})
