import { beforeAll, expect, test } from 'vitest'
import { addUpUsage } from '../../src/workspace/usage/usage.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { newest, post } from '../support/letter.ts'
import { createTestAgent, startService, type Tenant, type TestService } from '../support/service.ts'

let clock: FakeClock
let service: TestService
beforeAll(async () => {
  clock = createFakeClock()
  service = await startService({ world: { clock } })
})

const usage = async ({ api }: Tenant) => (await api('GET', '/workspace')).body.plan.usage

/** What the usage says, counted. */
const counted = async ({ id }: Tenant) => {
  const { prisma } = service.db
  const where = { workspaceId: id }
  return {
    agents: await prisma.agent.count({ where }),
    webhooks: await prisma.webhook.count({ where: { ...where, kind: 'webhook' } }),
    storedMessages: await prisma.message.count({ where: { ...where, status: { not: 'refused' } } }),
  }
}

const mail = { channel: 'email', to: ['bo@example.com'], text: 'hi' }

test('the usage is exact while messages, agents and webhooks come and go and changes are added up', async () => {
  const tenant = await service.workspace()
  const agents = await Promise.all(
    Array.from({ length: 6 }, (_, n) => createTestAgent(service, tenant, `Busy ${n}`)),
  )
  const [first, second] = agents
  await tenant.api('PUT', `/agents/${first!.id}/access/email`, { admit: 'anyone', senders: [] })
  const work = agents.flatMap(({ id, address, api }, n) => [
    ...Array.from({ length: 3 }, () => api('POST', `/agents/${id}/messages`, mail)),
    // The first agent admits this sender, the others refuse the mail.
    post(service, { from: `ann${n}@example.com`, to: address, text: `hi ${n}` }),
    api('POST', `/agents/${id}/webhooks`, { url: `http://127.0.0.1:9/${n}` }),
  ])
  const adding = Array.from({ length: 10 }, () => addUpUsage({ ...service.db, clock }, 3))
  await Promise.all([...work, ...adding])
  expect(await usage(tenant)).toMatchObject(await counted(tenant))
  expect(await usage(tenant)).toMatchObject({ agents: 6, webhooks: 6, storedMessages: 19, sendsPerDay: 18 })

  const [webhook] = (await first!.api('GET', `/agents/${first!.id}/webhooks`)).body
  await Promise.all([
    tenant.api('DELETE', `/agents/${second!.id}`),
    first!.api('DELETE', `/agents/${first!.id}/webhooks/${webhook.id}`),
    addUpUsage({ ...service.db, clock }),
  ])
  expect(await usage(tenant)).toMatchObject({ agents: 5, webhooks: 4, storedMessages: 16, sendsPerDay: 18 })
  expect(await usage(tenant)).toMatchObject(await counted(tenant))
  while ((await addUpUsage({ ...service.db, clock })) > 0);
  expect(await usage(tenant)).toMatchObject({ agents: 5, webhooks: 4, storedMessages: 16, sendsPerDay: 18 })
})

test('messages sent are counted for 24 hours, and their minutes are deleted then', async () => {
  const tenant = await service.workspace()
  const agent = await createTestAgent(service, tenant, 'Sender')
  await agent.api('POST', `/agents/${agent.id}/messages`, mail)
  await addUpUsage({ ...service.db, clock })
  clock.advance(23 * 3_600_000)
  await agent.api('POST', `/agents/${agent.id}/messages`, mail)
  expect((await usage(tenant)).sendsPerDay).toBe(2)
  clock.advance(2 * 3_600_000)
  expect(await usage(tenant)).toMatchObject({ sendsPerDay: 1, storedMessages: 2 })
  while ((await addUpUsage({ ...service.db, clock })) > 0);
  const rows = await service.db.prisma.workspaceUsage.findMany({ where: { workspaceId: tenant.id } })
  expect(rows.map(({ sent }) => sent).sort()).toEqual([0, 1])
  expect(await usage(tenant)).toMatchObject({ sendsPerDay: 1, storedMessages: 2 })
})

test('a mail that arrives twice counts once', async () => {
  const tenant = await service.workspace()
  const agent = await createTestAgent(service, tenant, 'Once')
  await tenant.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  const raw = `From: ann@example.com\r\nTo: ${agent.address}\r\nMessage-ID: <1@example.com>\r\nSubject: Hi\r\n\r\nhi\r\n`
  const letter = { envelope: { from: 'ann@example.com', to: [agent.address] }, raw }
  await post(service, letter)
  await post(service, letter)
  expect(await newest(agent, 10)).toHaveLength(1)
  expect((await usage(tenant)).storedMessages).toBe(1)
})
