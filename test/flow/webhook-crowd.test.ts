import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestDatabase } from '../support/database.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { createWebhookBench, type WebhookBench } from '../support/webhooks.ts'

const db = await openTestDatabase(20)
let bench: WebhookBench
let hanging: Receiver
let healthy: Receiver
beforeEach(async () => {
  await db.prisma.webhook.deleteMany() // the lanes of one test would be work for the workers of the next
  bench = createWebhookBench(db)
  hanging = await createReceiver()
  healthy = await createReceiver()
})
afterEach(() => Promise.all([bench.close(), hanging.close(), healthy.close()]))

/** Creates this many webhooks whose receivers never respond. */
const hang = async (workspaceId: string, count: number): Promise<string[]> => {
  for (let n = 0; n < count; n++) hanging.always(`/${n}`, () => undefined)
  return bench.crowd(workspaceId, count, (n) => `${hanging.url}/${n}`)
}

test('1,000 webhooks that time out do not keep 50 healthy ones waiting', async () => {
  const { workspaceId } = await bench.agent()
  const sound = await bench.crowd(workspaceId, 50, (n) => `${healthy.url}/${n}`)
  const silent = await hang(workspaceId, 1000)
  for (const agentId of silent) await bench.store(agentId, 1)
  // No attempt ends within the time that this test waits.
  bench.worker({}, { attemptMs: 120_000, leaseMs: 150_000 })
  // All 512 slots go to receivers that do not respond, and nearly as many lanes wait before the healthy ones.
  await until(() => hanging.received.length >= 400)
  for (const agentId of sound) await bench.raise(agentId, 1)
  await until(() => healthy.received.length === 50)
  await until(() => hanging.received.length === 1000) // none of them has been answered or abandoned
  expect(hanging.mostAtOnce).toBe(1)
})

test('a worker with capacity for fewer lanes than there are serves all of them, because idle ones give way', async () => {
  const { workspaceId } = await bench.agent()
  const agents = await bench.crowd(workspaceId, 100, (n) => `${healthy.url}/${n}`)
  const worker = bench.worker({}, { maxLanes: 16, idleMs: 60_000 })
  for (let round = 1; round <= 3; round++) {
    for (const agentId of agents) await bench.raise(agentId, 1)
    await until(() => healthy.received.length === round * 100)
    expect(worker.held).toBeLessThanOrEqual(16)
  }
})

test('receivers that hang do not keep healthy ones out of a full worker', async () => {
  const { workspaceId } = await bench.agent()
  const silent = await hang(workspaceId, 16)
  const sound = await bench.crowd(workspaceId, 16, (n) => `${healthy.url}/${n}`)
  bench.worker({}, { maxLanes: 16, slots: 4, attemptMs: 60_000, leaseMs: 90_000 })
  for (const agentId of silent) await bench.raise(agentId, 1)
  await until(() => hanging.received.length === 16)
  for (const agentId of sound) await bench.raise(agentId, 1)
  await until(() => healthy.received.length === 16)
})

test('retries that are due leave half of the capacity to lanes that have not failed', async () => {
  const { workspaceId } = await bench.agent()
  const silent = await hang(workspaceId, 64)
  for (const agentId of silent) await bench.store(agentId, 1)
  await db.pool.query('update webhook set attempts = 1, retry_at = $2 where agent_id = any($1::uuid[])', [
    silent,
    bench.clock.now(),
  ])
  const sound = await bench.crowd(workspaceId, 16, (n) => `${healthy.url}/${n}`)
  const worker = bench.worker({}, { maxLanes: 16, slots: 4, attemptMs: 60_000, leaseMs: 90_000 })
  await until(() => worker.held >= 8)
  for (const agentId of sound) await bench.raise(agentId, 1)
  await until(() => healthy.received.length === 16)
  await until(() => hanging.received.length > 0)
})
