import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import type { RootDb } from '../../../src/db/client.ts'
import { leaseDue, markBehind, nextDueAt } from '../../../src/webhook/delivery/lane/lease.ts'
import { openTestDatabase } from '../../support/database.ts'
import { createWebhookBench, type WebhookBench } from '../../support/webhooks.ts'

let db: RootDb
let bench: WebhookBench
beforeAll(async () => {
  db = await openTestDatabase()
  bench = createWebhookBench(db)
})

const LIMITS = { lanes: 100, retrying: 50 }
const lease = () => ({ owner: randomUUID(), ms: 15_000 })
const leased = async (newMs = 0) => {
  const rows = await leaseDue(db, { lease: lease(), now: bench.clock.now(), limits: LIMITS, newMs })
  return rows.map(({ agent_id: agentId }) => agentId)
}

/** Returns the number of pages that the statements of a poll read. */
const pagesOfPoll = async (): Promise<number> => {
  let pages = 0
  const query = async ({ text, values }: { text: string; values: unknown[] }) => {
    const { rows } = await db.pool.query(`explain (analyze, buffers, format json) ${text}`, values)
    const plan = rows[0]['QUERY PLAN'][0].Plan
    pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
    return { rows: [] }
  }
  const explained = { ...db, pool: { query } } as unknown as RootDb
  const now = bench.clock.now()
  await leaseDue(explained, { lease: lease(), now, limits: LIMITS, newMs: 10_000 })
  await nextDueAt(explained, now)
  return pages
}

test('a poll reads as much with 3,000 idle webhooks as with 10', async () => {
  const { workspaceId } = await bench.agent()
  await bench.crowd(workspaceId, 10, (n) => `http://127.0.0.1/${n}`)
  await db.pool.query('analyze')
  const few = await pagesOfPoll()
  await bench.crowd(workspaceId, 3_000, (n) => `http://127.0.0.1/many/${n}`)
  await db.pool.query('analyze')
  expect(await pagesOfPoll()).toBeLessThanOrEqual(few * 1.25)
})

test('the poll leases lanes with new events, with a due retry, and those that a killed worker held', async () => {
  const { workspaceId } = await bench.agent()
  const agents = await bench.crowd(workspaceId, 4, (n) => `http://127.0.0.1/due/${n}`)
  const [fresh, retrying, killed, waiting] = agents as [string, string, string, string]
  const set = (agentId: string, change: string) =>
    db.pool.query(`update webhook set ${change} where agent_id = $1`, [agentId])
  for (const agentId of agents) await bench.store(agentId, 1)
  await db.pool.query("update event set created_at = now() - interval '1 hour' where agent_id <> $1", [fresh])
  const past = "now() - interval '1 minute'"
  const later = "now() + interval '1 hour'"
  await set(retrying, `attempts = 1, retry_at = ${past}, due_at = ${past}`)
  await set(killed, `lease_owner = gen_random_uuid(), lease_until = ${past}, due_at = ${past}`)
  await set(waiting, `attempts = 1, retry_at = ${later}, due_at = ${later}`)
  expect((await leased(10_000)).sort()).toEqual([fresh, retrying, killed].sort())
  expect(await leased(10_000)).toEqual([])
})

test('events that were stored long before a worker started are found when it starts', async () => {
  const { workspaceId } = await bench.agent()
  const [agentId] = await bench.crowd(workspaceId, 1, () => 'http://127.0.0.1/old')
  await bench.store(agentId!, 1)
  await db.pool.query("update event set created_at = now() - interval '1 hour' where agent_id = $1", [
    agentId,
  ])
  expect(await leased(10_000)).toEqual([])
  await markBehind(db)
  expect(await leased(10_000)).toEqual([agentId])
})
