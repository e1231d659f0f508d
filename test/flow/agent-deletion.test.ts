import { beforeAll, expect, test } from 'vitest'
import { removeAtOnce } from '../../src/background/agent-removal.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { receive } from '../support/letter.ts'
import { deliver } from '../support/mail.ts'
import { storeCopies } from '../support/many-messages.ts'
import {
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** An agent of any size is gone for everybody when its deletion is answered; its rows follow in batches. */

const MESSAGES = 1_200
const TABLES = [
  ...['message', 'message_raw', 'attachment', 'recipient', 'message_search', 'unindexed_message'],
  ...['event', 'job', 'event_log', 'webhook', 'address'],
]

let clock: FakeClock
let service: TestService
let tenant: Tenant
beforeAll(async () => {
  clock = createFakeClock()
  service = await startService({ world: { clock } })
  tenant = await service.workspace()
})

const usage = async () => (await tenant.api('GET', '/workspace')).body.plan.usage
const countOf = async (table: string, { id }: TestAgent) =>
  (await service.db.pool.query(`select count(*)::int as n from ${table} where agent_id = $1`, [id])).rows[0].n
const counts = async (agent: TestAgent) =>
  Object.fromEntries(await Promise.all(TABLES.map(async (table) => [table, await countOf(table, agent)])))
const none = Object.fromEntries(TABLES.map((table) => [table, 0]))

const fill = async (agent: TestAgent, messageId: string) => {
  await storeCopies(service.db, agent.id, messageId, MESSAGES)
  expect(await countOf('message', agent)).toBeGreaterThan(MESSAGES)
}

const agentWithMail = async (name: string) => {
  const agent = await createTestAgent(service, tenant, name)
  await tenant.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  const webhook = await agent.api('POST', `/agents/${agent.id}/webhooks`, { url: 'http://127.0.0.1:9/' })
  expect(webhook.status).toBe(201)
  const message = await receive(service, agent, {
    from: tenant.email,
    to: agent.address,
    subject: 'Hi',
    text: 'a needle',
    attachments: [{ filename: 'a.txt', content: 'a file' }],
  })
  return { agent, message }
}

const graphql = async (query: string) => (await tenant.api('POST', '/graphql', { query })).body

test('an agent with many messages is gone from every interface when the deletion is answered', async () => {
  const before = await usage()
  const { agent, message } = await agentWithMail('Large')
  await fill(agent, message.id)
  expect((await tenant.api('GET', '/messages')).body.items).not.toEqual([])
  const rawLink = await tenant.api('POST', `/agents/${agent.id}/messages/${message.id}/raw/link`)
  const link = (await tenant.api('POST', `/agents/${agent.id}/messages/${message.id}/attachments/0/link`))
    .body
  expect((await usage()).storedMessages).toBe(before.storedMessages + MESSAGES + 1)

  expect((await tenant.api('DELETE', `/agents/${agent.id}`)).status).toBe(204)
  expect(await countOf('message', agent)).toBeGreaterThan(0)
  const url = `/agents/${agent.id}`
  for (const path of [url, `${url}/messages`, `${url}/messages/${message.id}`, `${url}/messages?q=needle`])
    expect(await tenant.api('GET', path), path).toMatchObject({ status: 404 })
  expect((await tenant.api('DELETE', url)).status).toBe(404)
  expect((await apiOf(service.http, agent.token)('GET', '/agents')).status).toBe(401)
  expect((await tenant.api('GET', '/agents')).body).toEqual([])
  for (const query of ['', '?q=needle', '?status=received'])
    expect((await tenant.api('GET', `/messages${query}`)).body.items, query).toEqual([])
  for (const { url } of [link, rawLink.body]) expect((await fetch(url)).status).toBe(404)
  expect((await graphql(`{ message(id: "${message.id}") { id } }`)).errors[0].extensions.code).toBe(
    'not_found',
  )
  expect((await graphql(`{ thread(id: "${message.id}") { subject } }`)).errors[0].extensions.code).toBe(
    'not_found',
  )
  expect((await graphql('{ agents { id } }')).data.agents).toEqual([])
  const refused = deliver(`${service.smtp.host}:${service.smtp.port}`, {
    from: tenant.email,
    to: agent.address,
    subject: 'Still there?',
    text: 'hi',
  })
  await expect(refused).rejects.toMatchObject({ responseCode: 550 })
  expect(await usage()).toMatchObject({ agents: before.agents, webhooks: before.webhooks })

  await until(async () => {
    clock.advance(5_000)
    return (await countOf('message', agent)) === 0
  })
  await until(async () => {
    clock.advance(5_000)
    return (await service.db.prisma.deletedAgent.count({ where: { agentId: agent.id, emptyAt: null } })) === 0
  })
  expect(await counts(agent)).toEqual(none)
  expect(await usage()).toEqual({ ...before, sendsPerDay: 0 })
})

test('a small agent has left nothing when the deletion is answered, and the usage is exact', async () => {
  const before = await usage()
  const { agent } = await agentWithMail('Small')
  expect((await usage()).storedMessages).toBe(before.storedMessages + 1)
  expect((await tenant.api('DELETE', `/agents/${agent.id}`)).status).toBe(204)
  expect(await usage()).toEqual(before)
  expect(await counts(agent)).toMatchObject({ message: 0, message_raw: 0, attachment: 0, event: 0 })
})

test('what a request that was in progress stores after the deletion is deleted too, and the agent is forgotten', async () => {
  const { agent, message } = await agentWithMail('Late')
  const { rows } = await service.db.pool.query('select * from message where id = $1', [message.id])
  await tenant.api('DELETE', `/agents/${agent.id}`)
  const left = () => service.db.prisma.deletedAgent.findFirst({ where: { agentId: agent.id } })
  await until(async () => {
    clock.advance(5_000)
    return (await left())?.emptyAt
  })
  await service.db.pool.query(
    `insert into message select (json_populate_record(null::message, $1::json)).*`,
    [JSON.stringify(rows[0])],
  )
  await until(async () => {
    clock.advance(60_000)
    return (await left()) === null
  })
  expect(await countOf('message', agent)).toBe(0)
})

test('two workers at once, one of them ended halfway, delete each message once', async () => {
  const before = await usage()
  const { agent, message } = await agentWithMail('Shared')
  await fill(agent, message.id)
  await tenant.api('DELETE', `/agents/${agent.id}`)
  const some = removeAtOnce({ ...service.db, clock, log: silentLogger })
  while ((await countOf('message', agent)) > 0)
    await Promise.all([some(agent.id), some(agent.id), some(agent.id)])
  expect(await counts(agent)).toMatchObject({ message: 0, recipient: 0, message_raw: 0 })
  expect((await usage()).storedMessages).toBe(before.storedMessages)
})
