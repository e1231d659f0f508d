import { expect, test } from 'vitest'
import { pruneRefused } from '../../src/message/receiving/refused.ts'
import { pruneRates } from '../../src/workspace/limit/rate-limits.ts'
import { createFakeClock } from '../support/clock.ts'
import { fakeResolver } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { newest, post, receive } from '../support/letter.ts'
import { createTestAgent, startService, type Tenant, type TestAgent } from '../support/service.ts'
import { until } from '../support/until.ts'

/**
 * Strangers decide how much refused mail there is; these tests cover what is stored of it, and for how long.
 */

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const noon = new Date(Math.floor(Date.now() / DAY) * DAY + DAY / 2)
const clock = createFakeClock(noon)
const service = await startService({
  world: { clock, resolver: fakeResolver({ ...proves('example.com'), ...proves('stranger.example') }) },
})
const { prisma, pool, afterCommit } = service.db
await prisma.plan.create({ data: { key: 'tiny', storedMessages: 2 } })

const STRANGER = 's@stranger.example'
const agentOf = async (tenant: Tenant): Promise<TestAgent> => createTestAgent(service, tenant)
const letterTo = (agent: TestAgent, from: string, subject: string) => ({
  from,
  to: agent.address,
  subject,
  text: `About ${subject}`,
  attachments: [{ filename: 'a.txt', content: 'a file' }],
})

test('refused mail does not count towards the plan’s stored messages', async () => {
  const tenant = await service.workspace()
  await prisma.workspace.update({ where: { id: tenant.id }, data: { planKey: 'tiny' } })
  const agent = await agentOf(tenant)
  for (const subject of ['a', 'b', 'c', 'd']) await post(service, letterTo(agent, STRANGER, subject))
  expect((await tenant.api('GET', '/workspace')).body.plan.usage.storedMessages).toBe(0)
  expect(await receive(service, agent, letterTo(agent, tenant.email, 'one'))).toMatchObject({
    subject: 'one',
    status: 'received',
  })
  expect(await receive(service, agent, letterTo(agent, tenant.email, 'two'))).toMatchObject({
    subject: 'two',
    status: 'received',
  })
  const full = await receive(service, agent, letterTo(agent, tenant.email, 'three'))
  expect(full).toMatchObject({ subject: 'three', refusal: 'plan_limit', attachments: [{ name: 'a.txt' }] })
  expect((await tenant.api('GET', '/workspace')).body.plan.usage.storedMessages).toBe(2)
  const { data } = (
    await tenant.api('POST', '/graphql', { query: '{ workspace { plan { usage { storedMessages } } } }' })
  ).body
  expect(data.workspace.plan.usage.storedMessages).toBe(2)
})

test('refused mail is deleted with all of its data after the workspace’s number of days', async () => {
  const [tenant, other] = [await service.workspace(), await service.workspace()]
  const [agent, theirs] = [await agentOf(tenant), await agentOf(other)]
  const set = await tenant.api('PATCH', '/workspace', { keepRefusedDays: 2 })
  expect(set.body.settings.keepRefusedDays).toBe(2)
  const received = await receive(service, agent, letterTo(agent, tenant.email, 'received'))
  const refused = await receive(service, agent, letterTo(agent, STRANGER, 'refused'))
  await post(service, letterTo(theirs, STRANGER, 'kept for 30 days'))
  await until(async () => {
    clock.advance(1_000)
    return (await prisma.unindexedMessage.count()) === 0
  })
  clock.advance(2 * DAY - 10 * MINUTE)
  expect(await pruneRefused({ prisma, pool, afterCommit, clock }, new AbortController().signal)).toBe(0)
  await until(async () => {
    clock.advance(5 * MINUTE)
    return (await newest(agent, 10)).length === 1
  })
  expect(await newest(agent, 10)).toMatchObject([{ id: received.id, status: 'received' }])
  const rowsOf = async (table: string, id: string) =>
    (await pool.query(`select from ${table} where message_id = $1`, [id])).rowCount
  for (const table of ['message_raw', 'attachment', 'message_search']) {
    expect(await rowsOf(table, refused.id), table).toBe(0)
    expect(await rowsOf(table, received.id), table).toBe(1)
  }
  expect(await newest(theirs, 10)).toMatchObject([{ subject: 'kept for 30 days' }])
})

test('replies to and forwards of a refused message stay when it is deleted', async () => {
  const tenant = await service.workspace()
  const agent = await agentOf(tenant)
  const refused = await receive(service, agent, letterTo(agent, STRANGER, 'refused'))
  const write = async (body: object) =>
    (await agent.api('POST', `/agents/${agent.id}/messages`, { text: 'hi', ...body })).body.id as string
  const reply = await write({ replyTo: refused.id })
  const forward = await write({ forward: refused.id, to: ['bo@example.com'] })
  const linksOf = async () =>
    (
      await prisma.message.findMany({
        where: { id: { in: [reply, forward] } },
        select: { replyToId: true, forwardOfId: true },
        orderBy: { id: 'asc' },
      })
    ).map(({ replyToId, forwardOfId }) => [replyToId, forwardOfId])
  expect(await linksOf()).toEqual([
    [refused.id, null],
    [null, refused.id],
  ])
  clock.advance(31 * DAY)
  // A message is locked, and skipped, while its words are added to the search index.
  await until(async () => (await prisma.unindexedMessage.count({ where: { agentId: agent.id } })) === 0)
  await pruneRefused({ prisma, pool, afterCommit, clock }, new AbortController().signal)
  expect(await linksOf()).toEqual([
    [null, null],
    [null, null],
  ])
  expect((await newest(agent, 10)).map(({ id }: { id: string }) => id)).toEqual([forward, reply])
})

test('a backlog is deleted completely in batches, and newer refused mail is kept', async () => {
  const tenant = await service.workspace()
  const agent = await agentOf(tenant)
  await post(service, letterTo(agent, STRANGER, 'the first'))
  await prisma.$executeRaw`
    insert into message select (json_populate_record(null::message, (to_jsonb(m) || jsonb_build_object('id', gen_random_uuid(), 'fingerprint', null,
      'created_at', now() - interval '100 days'))::json)).* from message m, generate_series(1, 250) where m.agent_id = ${agent.id}::uuid`
  expect(await pruneRefused({ prisma, pool, afterCommit, clock }, AbortSignal.abort())).toBe(0)
  expect(await pruneRefused({ prisma, pool, afterCommit, clock }, new AbortController().signal)).toBe(250)
  expect(await newest(agent, 10)).toMatchObject([{ subject: 'the first' }])
})

test('the setting can be read and changed through GraphQL with the same limits', async () => {
  const { api } = await service.workspace()
  const change = async (days: number) => {
    const query =
      'mutation ($days: Int!) { updateWorkspace(input: { keepRefusedDays: $days }) { workspace { settings { keepRefusedDays } } } }'
    return (await api('POST', '/graphql', { query, variables: { days } })).body
  }
  expect((await change(7)).data.updateWorkspace.workspace.settings).toEqual({ keepRefusedDays: 7 })
  expect((await change(366)).errors[0].message).toBe('keepRefusedDays: must be a whole number from 1 to 365')
  expect((await api('GET', '/workspace')).body.settings.keepRefusedDays).toBe(7)
})

/** Simulates that this much was counted earlier in the day. */
const counted = (key: string, count: number) => {
  const day = Math.floor(clock.now().getTime() / DAY) * DAY
  return prisma.rateCount.create({
    data: { key, windowStart: new Date(day), windowEnd: new Date(day + DAY), count },
  })
}

test('a sender over its daily limit of refused messages gets 451, unless another recipient accepts the message', async () => {
  const tenant = await service.workspace()
  const [closed, open] = [await agentOf(tenant), await agentOf(tenant)]
  await tenant.api('PUT', `/agents/${open.id}/access/email`, { admit: 'anyone', senders: [] })
  await counted(`refused messages:${closed.id}:${STRANGER}`, 200)
  const answer = await until(async () => {
    clock.advance(1_000) // what this process counts is added to the counts of others
    return post(service, letterTo(closed, STRANGER, 'one more'))
      .catch((error: { response: string }) => error.response)
      .then((response) => typeof response === 'string' && response)
  })
  expect(answer).toBe('451 4.3.0 Too many messages to this recipient were refused today.')
  const before = (await newest(closed, 100)).length
  await post(service, { ...letterTo(open, STRANGER, 'to both'), to: [open.address, closed.address] })
  expect(await newest(open)).toMatchObject([{ subject: 'to both', status: 'received' }])
  expect(await newest(closed, 100)).toHaveLength(before)
  expect(await receive(service, closed, letterTo(closed, 'other@stranger.example', 'another'))).toMatchObject(
    { refusal: 'sender' },
  )
  expect(await receive(service, closed, letterTo(closed, tenant.email, 'listed'))).toMatchObject({
    status: 'received',
  })
})

test('refused mail over the agent’s daily limit in bytes is stored in part, and its checks explain that', async () => {
  const tenant = await service.workspace()
  const agent = await agentOf(tenant)
  await counted(`refused bytes:${agent.id}`, 128 * 1024 * 1024)
  const partly = await until(async () => {
    clock.advance(1_000)
    const message = await receive(service, agent, letterTo(agent, STRANGER, 'large'))
    return message.attachments.length === 0 && message
  })
  expect(partly).toMatchObject({ subject: 'large', text: 'About large', status: 'refused' })
  expect(partly.checks.at(-2)).toEqual({
    name: 'kept',
    verdict: 'partly',
    detail:
      'the first 1000 characters of its text, without attachments: messages refused today by the agent exceed 128 MiB',
  })
  expect((await agent.api('GET', `/agents/${agent.id}/messages/${partly.id}/raw`)).status).toBe(404)
})

test('daily counters are kept longer than counters of a minute', async () => {
  await counted('refused messages:long', 1)
  const at = clock.now()
  await prisma.rateCount.create({
    data: { key: 'a minute', windowStart: at, windowEnd: new Date(at.getTime() + MINUTE), count: 1 },
  })
  await prisma.rateCount.create({ data: { key: 'of an older build', windowStart: at, count: 1 } })
  const left = async () =>
    (
      await prisma.rateCount.findMany({
        where: { key: { in: ['refused messages:long', 'a minute', 'of an older build'] } },
      })
    ).map(({ key }) => key)
  await pruneRates(service.db, new Date(at.getTime() + 12 * MINUTE))
  expect(await left()).toEqual(['refused messages:long'])
  await pruneRates(service.db, new Date(at.getTime() + 2 * DAY))
  expect(await left()).toEqual([])
})
