import { beforeAll, describe, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { expectFailure } from '../support/failure.ts'
import { newest, post } from '../support/letter.ts'
import { createTestAgent, startService, type Tenant, type TestService } from '../support/service.ts'

let clock: FakeClock
let service: TestService
beforeAll(async () => {
  clock = createFakeClock()
  service = await startService({ world: { clock } })
  // Plans are rows: this one has limits that a test can reach.
  await service.db.prisma.plan.create({ data: { key: 'tiny', sendsPerDay: 2, storedMessages: 2 } })
})

const tenantOn = async (plan: string): Promise<Tenant> => {
  const tenant = await service.workspace()
  await service.db.prisma.workspace.update({ where: { id: tenant.id }, data: { planKey: plan } })
  return tenant
}
const mail = { channel: 'email', to: ['bo@example.com'], text: 'hi' }
const newAgent = ({ api }: Tenant, name = 'x') => api('POST', '/agents', { name, icon: 'bot' })

test.each([
  [
    'unlimited',
    {
      agents: null,
      members: null,
      ownDomains: null,
      webhooks: null,
      sendsPerDay: null,
      storedMessages: null,
    },
    true,
  ],
  [
    'team',
    { agents: 50, members: 20, ownDomains: 5, webhooks: 100, sendsPerDay: 5000, storedMessages: 500_000 },
    true,
  ],
  [
    'free',
    { agents: 3, members: 3, ownDomains: 0, webhooks: 3, sendsPerDay: 100, storedMessages: 5000 },
    false,
  ],
])('the plan %s has the expected limits', async (key, limits, changeAddress) => {
  const { api } = await tenantOn(key)
  expect((await api('GET', '/workspace')).body.plan).toMatchObject({ key, limits, changeAddress })
})

describe('the plan free', () => {
  test('allows 3 agents, also for concurrent requests, and another one after a deletion', async () => {
    const tenant = await tenantOn('free')
    const answers = await Promise.all(Array.from({ length: 12 }, () => newAgent(tenant)))
    const made = answers.filter(({ status }) => status === 201)
    expect(made).toHaveLength(3)
    for (const answer of answers.filter(({ status }) => status !== 201))
      expectFailure(answer, 'plan_limit', /The plan free includes 3 agents/)
    expect((await tenant.api('GET', '/workspace')).body.plan.usage.agents).toBe(3)
    await tenant.api('DELETE', `/agents/${made[0]!.body.id}`)
    expect((await newAgent(tenant)).status).toBe(201)
  })

  test('allows 3 webhooks over all agents, also for concurrent requests', async () => {
    const tenant = await tenantOn('free')
    const agents = await Promise.all([
      createTestAgent(service, tenant, 'A'),
      createTestAgent(service, tenant, 'B'),
    ])
    const urls = Array.from({ length: 4 }, (_, n) => `http://127.0.0.1:9/${n}`)
    const add = (id: string, url: string) => tenant.api('POST', `/agents/${id}/webhooks`, { url })
    const answers = await Promise.all(agents.flatMap(({ id }) => urls.map((url) => add(id, url))))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
    for (const answer of answers.filter(({ status }) => status !== 201))
      expectFailure(answer, 'plan_limit', /3 webhooks/)
    // Adding an existing one again creates no webhook.
    const existing = answers.findIndex(({ status }) => status === 201)
    expect((await add(agents[Math.floor(existing / 4)]!.id, urls[existing % 4]!)).status).toBe(200)
  })

  test('does not allow changing an address, but reports an invalid address first', async () => {
    const tenant = await tenantOn('free')
    const agent = await createTestAgent(service, tenant, 'Fixed')
    const [{ id }] = (await agent.api('GET', `/agents/${agent.id}/addresses`)).body
    const change = (value: string) => agent.api('PATCH', `/agents/${agent.id}/addresses/${id}`, { value })
    expectFailure(await change('free-to-change@agents.localhost'), 'plan_limit', /The plan free includes/)
    expectFailure(await change('no address'), 'invalid_input')
    await service.db.prisma.workspace.update({ where: { id: tenant.id }, data: { planKey: 'team' } })
    expect((await change('free-to-change@agents.localhost')).status).toBe(200)
  })
})

test('the sends of all agents together are limited per day by the plan', async () => {
  const tenant = await tenantOn('tiny')
  const [one, two] = await Promise.all([
    createTestAgent(service, tenant, 'One'),
    createTestAgent(service, tenant, 'Two'),
  ])
  expect((await one.api('POST', `/agents/${one.id}/messages`, mail)).status).toBe(201)
  expect((await two.api('POST', `/agents/${two.id}/messages`, mail)).status).toBe(201)
  expectFailure(await one.api('POST', `/agents/${one.id}/messages`, mail), 'plan_limit', /2 messages a day/)
  expect((await tenant.api('GET', '/workspace')).body.plan.usage).toMatchObject({
    sendsPerDay: 2,
    storedMessages: 2,
  })
  clock.advance(24 * 3_600_000 + 1)
  expect((await tenant.api('GET', '/workspace')).body.plan.usage.sendsPerDay).toBe(0)
  expect((await one.api('POST', `/agents/${one.id}/messages`, mail)).status).toBe(201)
})

test('concurrent sends do not exceed the plan, with or without an Idempotency-Key', async () => {
  const tenant = await tenantOn('tiny')
  const agent = await createTestAgent(service, tenant, 'Busy')
  const send = (headers: Record<string, string>) =>
    agent.api('POST', `/agents/${agent.id}/messages`, mail, headers)
  const keyed = (n: number): Record<string, string> => (n % 2 ? { 'Idempotency-Key': String(n) } : {})
  const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => send(keyed(n))))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(2)
  for (const answer of answers.filter(({ status }) => status !== 201))
    expectFailure(answer, 'plan_limit', /2 messages a day/)
  expect((await tenant.api('GET', '/workspace')).body.plan.usage.sendsPerDay).toBe(2)
})

test('mail over the limit of stored messages is refused with plan_limit and creates no event', async () => {
  const tenant = await tenantOn('tiny')
  const agent = await createTestAgent(service, tenant, 'Full')
  await tenant.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  const letter = (subject: string) =>
    post(service, { from: 'ann@example.com', to: agent.address, subject, text: 'hi' })
  await letter('one')
  await letter('two')
  await letter('three')
  expect(await newest(agent, 3)).toMatchObject([
    { subject: 'three', status: 'refused', refusal: 'plan_limit', admission: null },
    { subject: 'two', status: 'received', refusal: null },
    { subject: 'one', status: 'received', refusal: null },
  ])
  expect((await agent.api('GET', `/agents/${agent.id}/events`)).body.items).toHaveLength(2)
  await service.db.prisma.workspace.update({ where: { id: tenant.id }, data: { planKey: 'unlimited' } })
  clock.advance(10_000)
  await letter('four')
  expect(await newest(agent)).toMatchObject([{ subject: 'four', status: 'received' }])
})
