import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Prisma } from '../../src/db/generated/prisma/client.ts'
import { createFakeClock } from '../support/clock.ts'
import { openEvents } from '../support/events.ts'
import { post } from '../support/letter.ts'
import { openMcp } from '../support/mcp.ts'
import { createReceiver } from '../support/receiver.ts'
import { createTestAgent, startService, type Tenant, type TestAgent } from '../support/service.ts'
import { until } from '../support/until.ts'

const [MINUTE, HOUR] = [60_000, 3_600_000]

const clock = createFakeClock()
const service = await startService({ world: { clock } })
const { prisma } = service.db

const ask = async (tenant: Pick<Tenant, 'api'>, query: string, variables: object = {}) => {
  const { body } = await tenant.api('POST', '/graphql', { query, variables })
  return body.errors ? body : body.data
}

const openAgent = async (tenant: Tenant, name?: string) => {
  const agent = await createTestAgent(service, tenant, name)
  await tenant.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  return agent
}
const letterTo = (agent: TestAgent) =>
  post(service, { from: 'ann@example.com', to: agent.address, text: randomUUID() })

const stateOf = async (tenant: Tenant, { id }: TestAgent) => {
  const query = `query ($id: UUID!) { agent(id: $id) { listening { now since } unheardCount heldCount refusedCount activity } }`
  return (await ask(tenant, query, { id })).agent
}

const rowOf = (agent: TestAgent, workspaceId: string, more: object): Prisma.MessageCreateManyInput => ({
  ...{ id: randomUUID(), workspaceId, agentId: agent.id, addressId: randomUUID(), channel: 'email' },
  ...{ direction: 'inbound', status: 'received', counterpart: 'ann@example.com', text: '' },
  ...{ to: [], threadReferences: [], threadId: randomUUID(), createdAt: clock.now(), ...more },
})

test('an agent that never listened has heard nothing; what a client is connected for is heard', async () => {
  const owner = await service.workspace()
  const agent = await openAgent(owner)
  expect((await stateOf(owner, agent)).listening).toEqual({ now: false, since: null })
  await letterTo(agent)
  expect(await stateOf(owner, agent)).toMatchObject({ listening: { since: null }, unheardCount: 1 })

  clock.advance(MINUTE)
  const { body: connection } = await agent.api('PUT', `/agents/${agent.id}/connection`, {
    client: 'Bot',
    machine: 'laptop',
  })
  const begun = clock.now().toISOString()
  const url = `${service.http}/agents/${agent.id}/connections/${connection.id}/events`
  const stream = await openEvents(url, agent.token)
  await until(async () => (await stateOf(owner, agent)).listening.now)
  clock.advance(MINUTE / 6) // its lease is still valid
  await letterTo(agent)
  expect(await stateOf(owner, agent)).toMatchObject({
    listening: { now: true, since: begun },
    unheardCount: 1,
  })

  const ended = clock.now().toISOString()
  stream.close()
  await until(async () => !(await stateOf(owner, agent)).listening.now)
  clock.advance(MINUTE)
  await letterTo(agent)
  expect(await stateOf(owner, agent)).toMatchObject({
    listening: { now: false, since: ended },
    unheardCount: 2,
  })

  // Another client begins after the message: the first one is replaced, and nobody was given it.
  await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'Bot', machine: 'desk' })
  expect((await stateOf(owner, agent)).unheardCount).toBe(2)
  const { items } = (await agent.api('GET', `/agents/${agent.id}/messages`)).body
  await agent.api('PATCH', `/agents/${agent.id}/messages`, {
    ids: items.map(({ id }: { id: string }) => id),
    read: true,
  })
  expect((await stateOf(owner, agent)).unheardCount).toBe(0)
})

test('calls that wait one after another are one listener, and have heard what they returned', async () => {
  const owner = await service.workspace()
  const agent = await openAgent(owner)
  const mcp = await openMcp(service.http, agent.token)
  const begun = clock.now().toISOString()
  const call = mcp.call('wait_for_messages', { seconds: 30 })
  await until(async () => (await stateOf(owner, agent)).listening.now)
  await letterTo(agent)
  await call
  expect(await stateOf(owner, agent)).toMatchObject({
    listening: { now: false, since: begun },
    unheardCount: 0,
  })
  await letterTo(agent)
  expect((await stateOf(owner, agent)).unheardCount).toBe(1)
  clock.advance(MINUTE / 2)
  await mcp.call('wait_for_messages', { seconds: 1 })
  const again = mcp.call('wait_for_messages', { seconds: 30 })
  await until(async () => (await stateOf(owner, agent)).listening.now)
  expect((await stateOf(owner, agent)).listening.since).toBe(begun)
  await letterTo(agent)
  await again
  await mcp.close()
})

test('what a webhook accepted is heard; what it refuses is not, and blocks the others', async () => {
  const owner = await service.workspace()
  const agent = await openAgent(owner)
  const other = await openAgent(owner, 'Other')
  const receiver = await createReceiver()
  const add = async (to: TestAgent, path: string) =>
    (await owner.api('POST', `/agents/${to.id}/webhooks`, { url: receiver.url + path })).body.id
  const since = clock.now().toISOString()
  const [well, ill] = [await add(other, '/well'), await add(agent, '/ill')]
  await letterTo(other)
  await receiver.got('/well', 1)
  await until(async () => (await stateOf(owner, other)).unheardCount === 0)
  expect((await stateOf(owner, other)).listening).toEqual({ now: true, since })

  clock.advance(MINUTE)
  receiver.always('/ill', { status: 500, body: 'no room' })
  await letterTo(agent)
  await letterTo(agent)
  await until(async () => (await stateOf(owner, agent)).listening.now === false)
  const state = await stateOf(owner, agent)
  expect(state).toMatchObject({ listening: { since: clock.now().toISOString() }, unheardCount: 2 })

  const query = `query ($failing: Boolean) { workspace { webhooks(failing: $failing) {
    id agentId failingSince blocking { status attempts { status answer { body } } } } } }`
  const listed = async (failing?: boolean) => (await ask(owner, query, { failing })).workspace.webhooks
  const blocking = { status: 'pending', attempts: [{ status: 500, answer: { body: 'no room' } }] }
  const failing = { id: ill, agentId: agent.id, failingSince: clock.now().toISOString(), blocking }
  const working = { id: well, agentId: other.id, failingSince: null, blocking: null }
  expect(await listed()).toEqual([failing, working])
  expect(await listed(true)).toEqual([failing])
  expect(await listed(false)).toEqual([working])
  const foreign = await service.workspace('Foreign')
  expect((await ask(foreign, query)).workspace.webhooks).toEqual([])
  expect((await ask(agent, query)).errors[0].extensions.code).toBe('forbidden')
  expect((await ask(owner, '{ workspace { webhooks(first: 201) { id } } }')).errors[0].message).toBe(
    'first: must be a whole number from 1 to 200',
  )
  await receiver.close()
})

test('activity has an hour each; held and refused messages are counted up to a limit', async () => {
  const owner = await service.workspace()
  const [agent, idle] = [await openAgent(owner), await openAgent(owner, 'Idle')]
  const hoursAgo = (hours: number) => ({ createdAt: new Date(clock.now().getTime() - hours * HOUR + MINUTE) })
  const row = (more: object) => rowOf(agent, owner.id, more)
  const rows = [
    ...Array.from({ length: 230 }, () => row(hoursAgo(1))),
    row(hoursAgo(3)),
    row({ ...hoursAgo(3), channel: 'sms' }),
    row({ ...hoursAgo(24), status: 'received' }),
    row(hoursAgo(25)),
    row({ ...hoursAgo(2), direction: 'outbound', status: 'sent' }),
    row({ ...hoursAgo(2), status: 'imported' }),
    ...Array.from({ length: 101 }, () => row({ status: 'refused', refusal: 'spam', ...hoursAgo(100) })),
    row({ status: 'refused', refusal: 'spam', ...hoursAgo(24 * 7 + 1) }),
    ...['approval', 'schedule', 'approval'].map((holdReason, n) =>
      row({
        ...{ direction: 'outbound', status: 'sending', holdReason },
        holdUntil: new Date(clock.now().getTime() + (n === 2 ? -1 : HOUR)),
      }),
    ),
  ]
  await prisma.message.createMany({ data: rows })
  const activity = Array.from({ length: 24 }, () => 0)
  ;[activity[0], activity[21], activity[23]] = [1, 2, 200]
  expect(await stateOf(owner, agent)).toMatchObject({ activity, heldCount: 1, refusedCount: 100 })
  expect(await stateOf(owner, idle)).toMatchObject({
    activity: Array(24).fill(0),
    heldCount: 0,
    refusedCount: 0,
  })
})

test('the health of mail counts the recipients of each domain, of the last days', async () => {
  const owner = await service.workspace()
  const agent = await openAgent(owner)
  const sent = async (
    recipients: [address: string, status: string, detail?: string][],
    more: object = {},
  ) => {
    const row = rowOf(agent, owner.id, { direction: 'outbound', status: 'sent', ...more })
    await prisma.message.create({ data: row as Prisma.MessageUncheckedCreateInput })
    await prisma.recipient.createMany({
      data: recipients.map(([address, status, detail = null]) => ({
        ...{ messageId: row.id!, agentId: agent.id, address, detail },
        status: status as 'sent',
      })),
    })
  }
  await sent([
    ['ann@Example.com', 'sent'],
    ['bo@example.com', 'sent', 'complained: spam'],
    ['cy@other.example', 'sending'],
  ])
  await sent([['gone@example.com', 'failed', '550 no such user']], { status: 'failed' })
  await sent([['di@other.example', 'sent', 'complained: spam']], { status: 'reported' })
  await sent([['old@example.com', 'sent']], { createdAt: new Date(clock.now().getTime() - 8 * 24 * HOUR) })
  await sent([['+15550001', 'sent']], { channel: 'sms' })
  const query =
    'query ($days: Int) { workspace { mailHealth(days: $days) { domain sent bounced complained } } }'
  const health = async (tenant: Pick<Tenant, 'api'>, days?: number) =>
    (await ask(tenant, query, { days })).workspace?.mailHealth
  const other = { domain: 'other.example', sent: 1, bounced: 0, complained: 1 }
  expect(await health(owner)).toEqual([{ domain: 'example.com', sent: 3, bounced: 1, complained: 1 }, other])
  expect((await health(owner, 30))[0]).toMatchObject({ sent: 4 })
  expect(await health(await service.workspace('Foreign'))).toEqual([])
  for (const days of [0, 91])
    expect((await ask(owner, query, { days })).errors[0].message).toBe(
      'days: must be a whole number from 1 to 90',
    )
  expect((await ask(agent, query)).errors[0].extensions.code).toBe('forbidden')
})
