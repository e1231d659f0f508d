import { createClient } from 'graphql-sse'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fakeResolver } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { openEvents } from '../support/events.ts'
import { newest, post } from '../support/letter.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

const SENDERS = 10
const EACH = 20
const ALL = Array.from({ length: SENDERS * EACH }, (_, index) => index + 1)

let service: TestService
let owner: Tenant
let receiver: Receiver
beforeAll(async () => {
  service = await startService({ world: { resolver: fakeResolver(proves('example.com')) } })
  owner = await service.workspace()
  receiver = await createReceiver()
})
afterAll(() => receiver.close())

const connect = async (agent: TestAgent) => {
  const { body } = await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
  return openEvents(`${service.http}/agents/${agent.id}/connections/${body.id}/events`, agent.token)
}

const addWebhook = async (agent: TestAgent) => {
  const path = `/${agent.id}`
  const { body } = await agent.api('POST', `/agents/${agent.id}/webhooks`, { url: receiver.url + path })
  receiver.expect(path, body.secret)
  return path
}

const QUERY =
  'subscription ($agentId: UUID!, $after: SafeInt) { messageReceived(agentId: $agentId, after: $after) { id } }'
/** Collects the events of a GraphQL subscription until `leave`. */
const subscribe = (agent: TestAgent, token: string) => {
  const client = createClient({
    url: `${service.http}/graphql`,
    headers: { Authorization: `Bearer ${token}` },
    retryAttempts: 0,
  })
  const events: { id: number }[] = []
  const results = client.iterate<{ messageReceived: { id: number } }>({
    query: QUERY,
    variables: { agentId: agent.id, after: 0 },
  })
  const reading = (async () => {
    for await (const { data, errors } of results) {
      if (errors) throw new Error(JSON.stringify(errors))
      events.push(data!.messageReceived)
    }
  })()
  reading.catch(() => undefined)
  const got = async (count: number) => {
    await Promise.race([until(() => events.length >= count), reading])
    return events
  }
  return { got, leave: () => client.dispose() }
}

test('a mail reaches the stream, a GraphQL subscription and a webhook as one event with the same ID', async () => {
  const agent = await createTestAgent(service, owner, 'Listening Bot')
  const path = await addWebhook(agent)
  const stream = await connect(agent)
  const dashboard = subscribe(agent, owner.token)
  await post(service, {
    from: { name: 'Ann', address: owner.email },
    to: agent.address,
    subject: 'Wake up',
    text: 'hello',
  })
  const [message] = await newest(agent)
  const [frame] = await stream.got(1)
  expect(frame).toEqual({
    id: 1,
    event: 'message.received',
    data: {
      id: 1,
      type: 'message.received',
      channel: 'email',
      messageId: message.id,
      createdAt: message.createdAt,
      sender: { id: owner.member, kind: 'member', name: 'Ann', email: owner.email, phone: null },
      mayInstruct: true,
      ...{ threadId: message.threadId, conversation: null, addressed: 'to' },
    },
  })
  expect(await dashboard.got(1)).toEqual([{ id: 1 }])
  const [delivery] = await receiver.got(path, 1)
  expect(delivery!.verified).toEqual({
    eventId: expect.stringMatching(/^[^.]*_1$/),
    name: 'message.received',
    timestamp: message.createdAt,
    data: {
      agent: { id: agent.id, name: 'Listening Bot' },
      message: {
        id: message.id,
        channel: 'email',
        from: `Ann <${owner.email}>`,
        subject: 'Wake up',
        mayInstruct: true,
      },
      messageId: message.id,
      from: `Ann <${owner.email}>`,
      ...{ threadId: message.threadId, conversation: null, addressed: 'to' },
    },
    cursor: '1',
  })
  expect(delivery!.headers['webhook-id']).toBe(delivery!.verified.eventId)
  expect(delivery!.body).not.toContain('hello')
  expect((await agent.api('GET', `/agents/${agent.id}/events`)).body.items).toEqual([frame!.data])
  stream.close()
  dashboard.leave()
})

test(`${ALL.length} mails from ${SENDERS} concurrent senders reach every listener as events 1 to ${ALL.length} in order`, async () => {
  const agent = await createTestAgent(service, owner, 'Busy Bot')
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { senders: ['*@example.com'] })
  const path = await addWebhook(agent)
  const stream = await connect(agent)
  const dashboard = subscribe(agent, agent.token)
  const write = async (sender: number) => {
    for (let n = 0; n < EACH; n++) {
      await post(service, {
        from: `sender${sender}@example.com`,
        to: agent.address,
        subject: `${sender}/${n}`,
        text: 'hi',
      })
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, (_, sender) => write(sender)))
  const frames = await stream.got(ALL.length)
  expect(frames.map(({ id }) => id)).toEqual(ALL)
  expect((await dashboard.got(ALL.length)).map(({ id }) => id)).toEqual(ALL)
  const deliveries = await receiver.got(path, ALL.length)
  expect(deliveries.map(({ verified }) => Number(verified.cursor))).toEqual(ALL)
  // The mails of each sender are in the log in the order in which it sent them.
  const subjects = deliveries.map(({ verified }) => verified.data.message.subject as string)
  for (let sender = 0; sender < SENDERS; sender++) {
    const own = subjects.filter((subject) => subject.startsWith(`${sender}/`))
    expect(own).toEqual(Array.from({ length: EACH }, (_, n) => `${sender}/${n}`))
  }
  stream.close()
  dashboard.leave()
})
