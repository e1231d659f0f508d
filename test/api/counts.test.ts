import { beforeAll, expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { applyBounce } from '../../src/message/receiving/bounce.ts'
import { pruneDayCounts } from '../../src/workspace/usage/day-counts.ts'
import { addUpUsage } from '../../src/workspace/usage/usage.ts'
import { afterFile } from '../support/after-file.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { newest, post } from '../support/letter.ts'
import { createReceiver } from '../support/receiver.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

let clock: FakeClock
let service: TestService
beforeAll(async () => {
  clock = createFakeClock()
  service = await startService({ world: { clock } })
})

const today = () => clock.now().toISOString().slice(0, 10)
const ofAgent = async ({ id, api }: TestAgent) => (await api('GET', `/agents/${id}/counts`)).body
const ofWorkspace = async ({ api }: Tenant) => (await api('GET', `/counts?from=${today()}`)).body[0]
const addUp = async () => {
  while ((await addUpUsage({ ...service.db, clock })) > 0);
}

const openAgent = async (tenant: Tenant) => {
  const agent = await createTestAgent(service, tenant)
  await tenant.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  return agent
}

const NOTHING = {
  received: 0,
  refused: 0,
  refusals: [],
  sent: 0,
  failed: 0,
  bounced: 0,
  reported: 0,
  deliveriesAccepted: 0,
  deliveriesFailed: 0,
}

test('messages and deliveries are counted with the change, and the same after they are added up', async () => {
  const receiver = await createReceiver()
  afterFile(() => receiver.close())
  const tenant = await service.workspace()
  const [agent, closed] = [await openAgent(tenant), await createTestAgent(service, tenant)]
  receiver.answer('/hook', 413)
  await agent.api('POST', `/agents/${agent.id}/webhooks`, { url: `${receiver.url}/hook` })
  await post(service, { from: 'ann@example.com', to: agent.address, text: 'one' })
  await post(service, { from: 'ann@example.com', to: agent.address, text: 'two' })
  await post(service, { from: 'ann@example.com', to: closed.address, text: 'refused' })
  const [refused] = await newest(closed)
  const { body: sent } = await agent.api('POST', `/agents/${agent.id}/messages`, {
    channel: 'email',
    to: ['bo@example.com'],
    text: 'hi',
  })
  await until(
    async () => (await agent.api('GET', `/agents/${agent.id}/messages/${sent.id}`)).body.status === 'sent',
  )
  const first = { ...NOTHING, day: today(), received: 2, sent: 1, deliveriesFailed: 1, deliveriesAccepted: 1 }
  const second = { ...NOTHING, day: today(), refused: 1, refusals: [{ reason: refused.refusal, count: 1 }] }
  await until(async () => (await ofAgent(agent)).at(-1).deliveriesAccepted === 1)
  const shows = async () => {
    expect((await ofAgent(agent)).at(-1)).toEqual(first)
    expect((await ofAgent(closed)).at(-1)).toEqual(second)
    const { refused: count, refusals } = second
    expect(await ofWorkspace(tenant)).toEqual({ ...first, refused: count, refusals })
  }
  await shows()
  await addUp()
  await shows()

  await tenant.api('POST', `/agents/${closed.id}/messages/${refused.id}/release`, {})
  expect((await ofAgent(closed)).at(-1)).toMatchObject({ received: 1, refused: 1 })
  await addUp()
  await tenant.api('DELETE', `/agents/${closed.id}`)
  expect(await ofWorkspace(tenant)).toMatchObject({ received: 3, refused: 1 })
})

test('a message that bounces after it was sent counts as sent and as failed, once', async () => {
  const tenant = await service.workspace()
  const agent = await openAgent(tenant)
  const { body: sent } = await agent.api('POST', `/agents/${agent.id}/messages`, {
    channel: 'email',
    to: ['gone@example.com'],
    text: 'hi',
  })
  const read = async () => (await agent.api('GET', `/agents/${agent.id}/messages/${sent.id}`)).body.status
  await until(async () => (await read()) === 'sent')
  const deps = {
    ...service.db,
    clock,
    log: silentLogger,
    notifier: { publish: () => undefined } as never,
    feed: { committed: () => undefined } as never,
  }
  const report = {
    kind: 'bounce',
    messageId: sent.id,
    recipient: 0,
    recipients: [],
    detail: '550 gone',
  } as const
  for (let n = 0; n < 2; n++) await applyBounce(deps, report as never)
  expect(await read()).toBe('failed')
  const { rows } = await service.db.pool.query(
    'select metric, sum(count)::int as count from usage_change where agent_id = $1 and metric is not null group by 1 order by 1',
    [agent.id],
  )
  const kept = await service.db.prisma.agentDay.findMany({ where: { agentId: agent.id } })
  const total = new Map<string, number>()
  for (const { metric, count } of [...rows, ...kept]) total.set(metric, (total.get(metric) ?? 0) + count)
  expect(Object.fromEntries(total)).toEqual({ sent: 1, failed: 1, bounced: 1 })
})

test('a range has every day, is checked, and is deleted after 400 days', async () => {
  const tenant = await service.workspace()
  const agent = await openAgent(tenant)
  await post(service, { from: 'ann@example.com', to: agent.address, text: 'old' })
  await addUp()
  const day = today()
  clock.advance(3 * 24 * 3_600_000)
  const later = await agent.api('GET', `/agents/${agent.id}/counts?from=${day}`)
  expect(later.body.map((one: { received: number }) => one.received)).toEqual([1, 0, 0, 0])
  expect(await ofAgent(agent)).toHaveLength(30)
  for (const query of [
    'from=yesterday',
    'to=2026-02-30',
    'from=2026-02-02&to=2026-02-01',
    'from=2020-01-01',
    'to=0000-01-01',
    'to=0001-01-01',
  ]) {
    const { status, body } = await agent.api('GET', `/agents/${agent.id}/counts?${query}`)
    expect({ status, code: body.error.code }, query).toEqual({ status: 400, code: 'invalid_input' })
  }
  const { prisma } = service.db
  const left = async () => [
    await prisma.agentDay.count({ where: { agentId: agent.id } }),
    await prisma.workspaceDay.count({ where: { workspaceId: tenant.id } }),
  ]
  await pruneDayCounts(service.db, clock.now())
  expect(await left()).toEqual([1, 1])
  await pruneDayCounts(service.db, new Date(clock.now().getTime() + 400 * 24 * 3_600_000))
  expect(await left()).toEqual([0, 0])
})

test('many statements that count at once, and workers that add up, lose nothing and do not block each other', async () => {
  const tenant = await service.workspace()
  const agents = await Promise.all(Array.from({ length: 4 }, () => openAgent(tenant)))
  const mails = agents.flatMap(({ address }, n) =>
    Array.from({ length: 5 }, (_, m) =>
      post(service, { from: `a${n}-${m}@example.com`, to: address, text: 'x' }),
    ),
  )
  await Promise.all([...mails, ...Array.from({ length: 12 }, () => addUpUsage({ ...service.db, clock }, 4))])
  expect(await ofWorkspace(tenant)).toMatchObject({ received: 20 })
  for (const agent of agents) expect((await ofAgent(agent)).at(-1)).toMatchObject({ received: 5 })
})
