import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { fakeResolver } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { expectFailure } from '../support/failure.ts'
import { receive } from '../support/letter.ts'
import {
  type Api,
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** Letting refused messages in. */

let service: TestService
let owner: Tenant
let agent: TestAgent
let path: string
beforeAll(async () => {
  service = await startService({
    environment: { RATE_LIMIT: '100000' },
    world: { resolver: fakeResolver(proves('example.com')) },
  })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}/messages`
})

const refused = async (from = 'eve@elsewhere.org', to = agent) => {
  const message = await receive(service, to, { from, to: to.address, subject: 'Offer', text: 'hi' })
  expect(message.status).toBe('refused')
  return message
}
const release = (id: string, body: unknown = {}, { api }: { api: Api } = owner, headers = {}) =>
  api('POST', `${path}/${id}/release`, body, headers)
const eventsOf = async ({ id, api }: TestAgent) =>
  (await api('GET', `/agents/${id}/events?after=0&limit=100`)).body.items as {
    id: number
    messageId: string
  }[]
const eventsAbout = async (id: string) => (await eventsOf(agent)).filter(({ messageId }) => messageId === id)
const graphql = async (query: string, variables: object) =>
  (await owner.api('POST', '/graphql', { query, variables })).body

test('a released message is received, raises its event, counts as unread and says who released it', async () => {
  const message = await refused()
  const released = await release(message.id)
  expect(released).toMatchObject({ status: 200, body: { id: message.id, status: 'received', refusal: null } })
  expect(released.body).toEqual({
    ...message,
    status: 'received',
    refusal: null,
    admission: 'anyone',
    checks: [
      ...message.checks,
      {
        name: 'release',
        verdict: 'anyone',
        detail: `released by the member ${owner.email}; it was refused as sender`,
      },
    ],
  })
  expect((await agent.api('GET', `${path}/${message.id}`)).body).toEqual(released.body)
  expect((await agent.api('GET', `${path}?unread=true`)).body.items[0].id).toBe(message.id)
  expect(await eventsAbout(message.id)).toMatchObject([
    {
      type: 'message.received',
      channel: 'email',
      sender: { id: null, kind: 'contact', email: 'eve@elsewhere.org' },
    },
  ])
  const [record] = (await owner.api('GET', '/audit?action=message.release')).body.items
  expect(record).toMatchObject({
    agentId: agent.id,
    actor: { kind: 'member', id: owner.member },
    detail: { messages: [message.id] },
  })
})

test('its event is as new as the release, however old the message is, so that it is kept and retried', async () => {
  const { id } = await refused()
  await service.db.pool.query(
    `update message set created_at = created_at - interval '20 days' where id = $1`,
    [id],
  )
  const before = Date.now()
  await release(id)
  const [event] = (await eventsAbout(id)) as unknown as { createdAt: string }[]
  expect(Date.parse(event!.createdAt)).toBeGreaterThanOrEqual(before)
})

test('released many times at once and by two processes, it raises one event', async () => {
  const other = apiOf((await service.again()).http, owner.token)
  const { id } = await refused()
  const all = await Promise.all(
    Array.from({ length: 8 }, (_, n) => release(id, {}, n % 2 ? owner : { api: other })),
  )
  expect(all.map(({ status, body }) => [status, body.status])).toEqual(all.map(() => [200, 'received']))
  expect(await eventsAbout(id)).toHaveLength(1)
  expect(
    (await release(id)).body.checks.filter(({ name }: { name: string }) => name === 'release'),
  ).toHaveLength(1)
})

test('the admission is the one that the sender would have now', async () => {
  const message = await refused('ann@example.com')
  await owner.api('POST', `/agents/${agent.id}/access/email/senders`, { sender: 'ann@example.com' })
  expect((await release(message.id)).body.admission).toBe('listed')
  const fromOwner = async () => {
    await owner.api('POST', `/agents/${agent.id}/access/email/blocked`, { sender: owner.email })
    const { id } = await refused(owner.email)
    return id
  }
  const blocked = await fromOwner()
  expect((await release(blocked)).body.admission).toBe('anyone')
  const unblocked = await fromOwner()
  await owner.api('DELETE', `/agents/${agent.id}/access/email/blocked/${owner.email}`)
  expect((await release(unblocked)).body.admission).toBe('team')
  expect(await eventsAbout(unblocked)).toMatchObject([{ sender: { id: owner.member, kind: 'member' } }])
})

test('listSender lists the sender too, so that the next message is received', async () => {
  const { id } = await refused('bo@example.com')
  expect((await release(id, { listSender: true })).body.admission).toBe('listed')
  const { senders } = (await owner.api('GET', `/agents/${agent.id}/access`)).body.email
  expect(senders).toContain('bo@example.com')
  expect((await owner.api('GET', '/audit?action=access.set')).body.items[0].detail).toEqual({
    channel: 'email',
    senders: { added: ['bo@example.com'] },
  })
  const next = await receive(service, agent, { from: 'bo@example.com', to: agent.address, text: 'again' })
  expect(next).toMatchObject({ status: 'received', admission: 'listed' })
})

test('with an idempotency key, the first answer is repeated', async () => {
  const { id } = await refused()
  const headers = { 'Idempotency-Key': randomUUID() }
  const first = await release(id, {}, owner, headers)
  expect(first).toMatchObject({ status: 200, body: { status: 'received' } })
  const again = await release(id, {}, owner, headers)
  expect(again.headers.get('Idempotency-Replayed')).toBe('true')
  expect(again.body).toEqual(first.body)
  expect(await eventsAbout(id)).toHaveLength(1)
})

describe('many messages', () => {
  test('are released oldest first, those that are received already stay as they are', async () => {
    const [one, other, third] = [await refused(), await refused(), await refused()]
    await release(other.id)
    const ids = [third.id, other.id, one.id]
    const { status, body } = await owner.api('POST', `${path}/release`, { ids })
    expect({ status, body }).toEqual({
      status: 200,
      body: ids.map((id) => ({ id, status: 'received', admission: 'anyone' })),
    })
    const raised = (await eventsOf(agent)).map(({ messageId }) => messageId).filter((id) => ids.includes(id))
    expect(raised).toEqual([other.id, one.id, third.id])
  })

  test('are all released or none', async () => {
    const { id } = await refused()
    const sent = (await agent.api('POST', path, { channel: 'email', to: ['bo@example.com'], text: 'hi' }))
      .body
    const many = (ids: unknown) => owner.api('POST', `${path}/release`, { ids })
    expectFailure(
      await many([id, randomUUID()]),
      'invalid_input',
      /^ids\[1\]: is not a message of this agent/,
    )
    expectFailure(await many([id, sent.id]), 'conflict', new RegExp(`The message ${sent.id} was not refused`))
    expectFailure(await many([]), 'invalid_input', /^ids: must contain 1 to 100 ids/)
    expect((await agent.api('GET', `${path}/${id}`)).body.status).toBe('refused')
    expectFailure(await release(randomUUID()), 'not_found', /no message with this id/)
    expectFailure(await release(id, { listSender: 1 }), 'invalid_input', /^listSender: must be a boolean/)
  })

  test('can be released by GraphQL', async () => {
    const [one, other] = [await refused(), await refused()]
    const single = `mutation ($input: ReleaseMessageInput!) { releaseMessage(input: $input) { message { status admission } } }`
    const input = { agentId: agent.id, messageId: one.id }
    expect((await graphql(single, { input })).data.releaseMessage.message).toEqual({
      status: 'received',
      admission: 'anyone',
    })
    const many = `mutation ($input: ReleaseMessagesInput!) { releaseMessages(input: $input) { messages { id status } } }`
    const both = { agentId: agent.id, ids: [other.id, one.id] }
    expect((await graphql(many, { input: both })).data.releaseMessages.messages).toEqual([
      { id: one.id, status: 'received' },
      { id: other.id, status: 'received' },
    ])
  })
})

test('an agent can release its messages only if it may set access', async () => {
  const { id } = await refused()
  await owner.api('PATCH', '/workspace', { agentsMaySetAccess: false })
  expectFailure(await release(id, {}, agent), 'forbidden', /only members can set access/)
  expectFailure(await agent.api('POST', `${path}/release`, { ids: [id] }), 'forbidden')
  await owner.api('PATCH', '/workspace', { agentsMaySetAccess: true })
  const { checks } = (await release(id, {}, agent)).body
  expect(checks.at(-1).detail).toBe('released by the agent Support Bot; it was refused as sender')
})

test('a release needs room in the plan, also when several are released at once', async () => {
  await service.db.prisma.plan.create({ data: { key: 'tiny', storedMessages: 2 } })
  const tenant = await service.workspace('Tiny')
  await service.db.prisma.workspace.update({ where: { id: tenant.id }, data: { planKey: 'tiny' } })
  const held = await createTestAgent(service, tenant)
  const ids: string[] = []
  for (let n = 0; n < 4; n++) ids.push((await refused('eve@elsewhere.org', held)).id)
  const answers = await Promise.all(
    ids.map((id) => tenant.api('POST', `/agents/${held.id}/messages/${id}/release`, {})),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
  for (const answer of answers.filter(({ status }) => status !== 200))
    expectFailure(answer, 'plan_limit', /The plan tiny includes 2 stored messages/)
  expect(await eventsOf(held)).toHaveLength(2)
  expect((await tenant.api('GET', '/workspace')).body.plan.usage.storedMessages).toBe(2)
})
