import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dump, holds } from '../support/dump.ts'
import { openEvents } from '../support/events.ts'
import { expectFailure } from '../support/failure.ts'
import { createTestLog } from '../support/log.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import {
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

const log = createTestLog()
let service: TestService
let owner: Tenant
let receiver: Receiver
let elsewhere: string
beforeAll(async () => {
  service = await startService({ log })
  owner = await service.workspace()
  receiver = await createReceiver()
  elsewhere = (await service.again()).http
})
afterAll(() => receiver.close())

const PATHS: [string, (id: string) => string][] = [
  ['/a/{id}', (id) => `/a/${id}`],
  ['/agents/{id}/url', (id) => `/agents/${id}/url`],
]
const say = (agent: { id: string }, text: string, by: Pick<Tenant, 'api'> = owner) =>
  by.api('POST', `/a/${agent.id}`, { text })

const connect = async (agent: TestAgent, http = service.http) => {
  const { body } = await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
  const stream = await openEvents(`${http}/agents/${agent.id}/connections/${body.id}/events`, agent.token)
  await until(async () => (await agent.api('GET', `/agents/${agent.id}/listeners`)).body.length > 0)
  return stream
}

const addWebhook = async (agent: TestAgent) => {
  const path = `/${agent.id}`
  const { body } = await agent.api('POST', `/agents/${agent.id}/webhooks`, { url: receiver.url + path })
  receiver.expect(path, body.secret)
  return path
}

test('a message reaches a stream on any process with its whole text', async () => {
  for (const http of [service.http, elsewhere]) {
    const agent = await createTestAgent(service, owner, 'Hearing')
    const stream = await connect(agent, http)
    const text = `${'😀'.repeat(1_990)} ${randomUUID().slice(0, 8)}`
    const { status, body } = await say(agent, text)
    expect(status).toBe(200)
    expect(body).toEqual({
      id: 1,
      type: 'message.received',
      channel: 'url',
      messageId: expect.any(String),
      createdAt: expect.any(String),
      text,
      sender: { id: owner.member, kind: 'member', name: null, email: owner.email, phone: null },
      mayInstruct: true,
      ...{ threadId: null, conversation: null, addressed: null },
    })
    const [frame] = await stream.got(1)
    expect(frame).toEqual({ id: 1, event: 'message.received', data: body })
    stream.close()
  }
})

test('a webhook receives a message with its whole text, its sender and a signature', async () => {
  const agent = await createTestAgent(service, owner, 'Hooked')
  const path = await addWebhook(agent)
  const { body } = await say(agent, 'Deploy the new release, please.')
  const [delivery] = await receiver.got(path, 1)
  expect(delivery!.verified).toMatchObject({
    name: 'message.received',
    data: {
      agent: { id: agent.id, name: 'Hooked' },
      message: {
        id: body.messageId,
        channel: 'url',
        text: 'Deploy the new release, please.',
        sender: { id: owner.member, kind: 'member' },
      },
    },
    cursor: '1',
  })
})

test('a job is created only for webhooks that subscribe to the type of the event', async () => {
  const agent = await createTestAgent(service, owner, 'Selective')
  const { body: other } = await agent.api('POST', `/agents/${agent.id}/webhooks`, {
    url: `${receiver.url}/other`,
  })
  await service.db.prisma.webhook.updateMany({
    where: { id: other.id },
    data: { types: ['message.other'] },
  })
  const path = await addWebhook(agent)
  await say(agent, 'For one webhook of two.')
  const [delivery] = await receiver.got(path, 1)
  expect(delivery!.verified).toMatchObject({ name: 'message.received', cursor: '1' })
  const jobs = await service.db.prisma.job.findMany({ where: { agentId: agent.id, kind: 'webhook' } })
  expect(jobs).toHaveLength(1)
  expect(jobs[0]!.lane).not.toBe(other.id)
})

test('another agent of the workspace can send once it is on the access list', async () => {
  const agent = await createTestAgent(service, owner, 'Callee')
  const caller = await createTestAgent(service, owner, 'Caller')
  const path = await addWebhook(agent)
  expectFailure(await say(agent, 'hi', caller), 'forbidden', /not on the access list/)
  expectFailure(await say(agent, 'hi', agent), 'forbidden', /not on the access list/)
  await owner.api('PUT', `/agents/${agent.id}/access/url`, { senders: [caller.id] })
  const { body } = await say(agent, 'hi', caller)
  expect(body.sender).toEqual({
    id: caller.id,
    kind: 'agent',
    name: 'Caller',
    email: caller.address,
    phone: null,
  })
  expectFailure(await say(agent, 'hi'), 'forbidden', /not on the access list/)
  await owner.api('PUT', `/agents/${agent.id}/access/url`, { admit: 'team', senders: [] })
  expect((await say(agent, 'hi')).status).toBe(200)
  await receiver.got(path, 2)
})

describe.each(PATHS)('on %s', (_, path) => {
  test('a message to an agent without a connected client or a working webhook is a conflict', async () => {
    const agent = await createTestAgent(service, owner, 'Alone')
    const send = () => owner.api('POST', path(agent.id), { text: 'anybody?' })
    expectFailure(await send(), 'conflict', /no listener/)
    await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
    expectFailure(await send(), 'conflict', /no listener/)
    const stream = await connect(agent)
    expect((await send()).status).toBe(200)
    stream.close()
    await until(async () => (await agent.api('GET', `/agents/${agent.id}/listeners`)).body.length === 0)
    expectFailure(await send(), 'conflict', /no listener/)
    const hook = await addWebhook(agent)
    receiver.always(hook, 503)
    expect((await send()).status).toBe(200)
    await receiver.got(hook, 1)
    await until(async () => (await agent.api('GET', `/agents/${agent.id}/listeners`)).body.length === 0)
    expectFailure(await send(), 'conflict', /no listener/)
  })

  test('the access list is checked before the listeners', async () => {
    const agent = await createTestAgent(service, owner, 'Shut')
    await owner.api('PUT', `/agents/${agent.id}/access/url`, { senders: [] })
    expectFailure(
      await owner.api('POST', path(agent.id), { text: 'hi' }),
      'forbidden',
      /not on the access list/,
    )
  })

  test('a message to an agent of another workspace fails with the same not_found as to an unknown id', async () => {
    const agent = await createTestAgent(service, owner, 'Ours')
    await addWebhook(agent)
    const foreign = await service.workspace('Foreign')
    const stranger = await createTestAgent(service, foreign, 'Stranger')
    for (const { api } of [foreign, stranger]) {
      const theirs = await api('POST', path(agent.id), { text: 'hi' })
      expectFailure(theirs, 'not_found', /^There is no agent with this id\.$/)
      expect(theirs.text).toBe((await api('POST', path(randomUUID()), { text: 'hi' })).text)
    }
  })

  test.each([
    [{}, /^text: is required/],
    [{ text: '' }, /^text: must be 1 to 2000 characters/],
    [{ text: 'x'.repeat(2_001) }, /^text: must be 1 to 2000/],
    [{ text: '😀'.repeat(2_001) }, /^text: must be 1 to 2000/],
    [{ text: 'a\0b' }, /^text: .*NUL/],
    [{ text: 'a\ud800' }, /^text: .*surrogate/],
    [{ text: 'hi', subject: 'x' }, /^subject: is not a known field/],
  ])('the body %j is refused', async (body, says) => {
    expectFailure(await owner.api('POST', path(randomUUID()), body), 'invalid_input', says)
  })
})

describe('the text of a message', () => {
  test('is not stored or logged when it is delivered to a stream', async () => {
    const agent = await createTestAgent(service, owner, 'Discreet')
    const stream = await connect(agent)
    const text = `the launch code is ${randomUUID()}`
    const { body } = await say(agent, text)
    await stream.got(1)
    expect(holds(await dump(service.db), text)).toBe(false)
    expect(holds(log.text(), text)).toBe(false)
    stream.close()
    const { items } = (await agent.api('GET', `/agents/${agent.id}/events`)).body
    expect(items).toMatchObject([{ id: body.id, channel: 'url', messageId: body.messageId }])
    expectFailure(await agent.api('GET', `/agents/${agent.id}/messages/${body.messageId}`), 'not_found')
    expect((await agent.api('GET', `/agents/${agent.id}/messages`)).body.items).toEqual([])
  })

  test('is stored encrypted for a webhook until it is delivered', async () => {
    const agent = await createTestAgent(service, owner, 'Sealed')
    const path = await addWebhook(agent)
    let deliver: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      deliver = resolve
    })
    receiver.answer(path, (response) => void held.then(() => response.writeHead(204).end()))
    const text = `the safe opens with ${randomUUID()}`
    await say(agent, text)
    await receiver.got(path, 1)
    const sealed = () =>
      service.db.pool.query(
        "select payload is not null as kept from job where agent_id = $1 and kind = 'webhook'",
        [agent.id],
      )
    expect((await sealed()).rows).toEqual([{ kept: true }])
    expect(holds(await dump(service.db), text)).toBe(false)
    deliver()
    await until(async () => (await sealed()).rows.every(({ kept }) => !kept))
    expect(holds(await dump(service.db), text)).toBe(false)
    expect(holds(log.text(), text)).toBe(false)
  })
})

describe('with a MESSAGE_URL_BASE, Message URLs', () => {
  test('work with and without the path of the base, and are documented with the base', async () => {
    const { http } = await service.again({ MESSAGE_URL_BASE: 'https://m.example.com/to/' })
    const agent = await createTestAgent(service, owner, 'Elsewhere')
    const stream = await connect(agent)
    for (const path of [`/to/a/${agent.id}`, `/a/${agent.id}`]) {
      const { status, body } = await apiOf(http, owner.token)('POST', path, { text: path })
      expect({ status, text: body.text }).toEqual({ status: 200, text: path })
    }
    expectFailure(
      await apiOf(http, owner.token)('GET', `/to/agents/${agent.id}`),
      'not_found',
      /no such path/,
    )
    const { paths, servers } = (await apiOf(http, null)('GET', '/openapi.json')).body
    expect(paths['/a/{id}'].servers).toMatchObject([{ url: 'https://m.example.com/to' }])
    expect(servers[0].url).toMatch(/^http:\/\/localhost:/)
    stream.close()
  })
})
