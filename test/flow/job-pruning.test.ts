import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { pruneSendJobs } from '../../src/message/out/send-job.ts'
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
