import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { sealSecret } from '../../src/webhook/secret.ts'
import { newSecret } from '../../src/webhook/sign.ts'
import { openTestDatabase } from '../support/database.ts'
import { createReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { createWebhookBench } from '../support/webhooks.ts'

const db = await openTestDatabase(20)
const bench = createWebhookBench(db)
const dead = await createReceiver()
const living = await createReceiver()
afterAll(() => Promise.all([bench.close(), dead.close(), living.close()]))

/** Agents of one workspace with a webhook each, in two statements. */
const crowd = async (workspaceId: string, count: number, urlOf: (n: number) => string): Promise<string[]> => {
  const agents = Array.from({ length: count }, () => randomUUID())
  const webhooks = agents.map(() => randomUUID())
  const secrets = await Promise.all(webhooks.map((id) => sealSecret(bench.keyring, workspaceId, id, newSecret())))
  await db.pool.query(
    `with agents as (insert into agent (id, workspace_id, name, icon) select id, $1, 'Scout', 'bot' from unnest($2::uuid[]) id)
     insert into event_log (agent_id) select id from unnest($2::uuid[]) id`,
    [workspaceId, agents],
  )
  await db.pool.query(
    `insert into webhook (id, workspace_id, agent_id, url, secret, position)
     select w.id, $1, w.agent_id, w.url, w.secret, 0 from unnest($2::uuid[], $3::uuid[], $4::text[], $5::bytea[]) as w(id, agent_id, url, secret)`,
    [workspaceId, webhooks, agents, agents.map((_, n) => urlOf(n)), secrets],
  )
  return agents
}

test('1,000 webhooks that time out delay 50 living ones by less than a poll', async () => {
  const { workspaceId } = await bench.agent()
  const sound = await crowd(workspaceId, 50, (n) => `${living.url}/${n}`)
  /** Milliseconds until each of the living has its next event. */
  const hear = async (nth: number) => {
    const from = performance.now()
    for (const agentId of sound) await bench.raise(agentId, 1)
    await until(() => living.received.length === nth * 50, 30_000)
    return performance.now() - from
  }
  const worker = bench.worker()
  const undisturbed = await hear(1)
  await worker.stop(1000)

  const silent = await crowd(workspaceId, 1000, (n) => `${dead.url}/${n}`)
  for (let n = 0; n < silent.length; n++) dead.always(`/${n}`, () => undefined)
  for (const agentId of silent) await bench.store(agentId, 1)
  bench.worker({}, { attemptMs: 60_000, leaseMs: 90_000 })
  // All 512 slots go to receivers that will not answer, and as many more of them wait before the living.
  await until(() => dead.received.length >= 400, 30_000)
  expect(await hear(2)).toBeLessThan(undisturbed + 2000)
  await until(() => dead.received.length === 1000, 30_000) // none of which has been answered or given up
  expect(dead.mostAtOnce).toBe(1)
}, 90_000)
