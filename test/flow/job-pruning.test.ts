import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { pruneEvents } from '../../src/event/log.ts'
import { pruneSendJobs } from '../../src/message/stored/send-job.ts'
import { pruneDeliveries } from '../../src/webhook/deliveries.ts'
import { startGraphql } from '../support/graphql.ts'

const { deps, tenant, agent } = await startGraphql()
const { id: agentId } = await agent(await tenant())

const NOW = new Date()
const daysAgo = (days: number) => new Date(NOW.getTime() - days * 24 * 3_600_000)

test('delivery jobs and send jobs are deleted after seven days, and not earlier', async () => {
  const job = (kind: 'webhook' | 'send', days: number) => ({
    kind,
    agentId,
    lane: randomUUID(),
    seq: 0,
    createdAt: daysAgo(days),
  })
  await deps.prisma.job.createMany({
    data: [job('webhook', 6.9), job('webhook', 7.1), job('send', 6.9), job('send', 7.1)],
  })
  const left = async () =>
    (await deps.prisma.job.findMany({ orderBy: { createdAt: 'asc' } })).map(({ kind }) => kind).sort()
  expect(await pruneSendJobs(deps, NOW)).toBe(1)
  expect(await left()).toEqual(['send', 'webhook', 'webhook'])
  expect(await pruneDeliveries(deps, NOW)).toBe(1)
  expect(await left()).toEqual(['send', 'webhook'])
  expect((await deps.prisma.job.findMany()).every(({ createdAt }) => createdAt > daysAgo(7))).toBe(true)
})

test('old events are deleted in batches, which can stop and continue, and move the horizons of their logs', async () => {
  const other = (await agent(await tenant())).id
  await deps.pool.query(
    `insert into event (agent_id, id, type, channel, message_id, sender, "from", created_at)
     select a.id, n, 'message.received', 'email', gen_random_uuid(), '{}', 'x', $3::timestamptz + n * interval '1 s'
       from unnest($1::uuid[]) as a(id), generate_series(1, $2::int) n`,
    [[agentId, other], 1_300, daysAgo(8)],
  )
  const newest = await deps.prisma.event.findFirstOrThrow({ where: { agentId, id: 1_300n } })
  await deps.prisma.event.update({
    where: { agentId_id: { agentId: newest.agentId, id: newest.id } },
    data: { createdAt: NOW },
  })
  const stopping = new AbortController()
  const query = async (...statement: [string, unknown[]]) => {
    stopping.abort()
    return deps.pool.query(...statement)
  }
  const stopped = { ...deps, pool: { query } as unknown as typeof deps.pool }
  expect(await pruneEvents(stopped, NOW, stopping.signal)).toBe(1_000)
  expect(await deps.prisma.event.count()).toBe(1_600)
  expect(await pruneEvents(deps, NOW)).toBe(1_599)
  const logs = await deps.prisma.eventLog.findMany({ where: { agentId: { in: [agentId, other] } } })
  const horizons = new Map(logs.map((log) => [log.agentId, Number(log.horizon)]))
  expect([horizons.get(agentId), horizons.get(other)]).toEqual([1_299, 1_300])
})
