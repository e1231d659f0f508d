import { randomUUID } from 'node:crypto'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import type { RootDb } from '../../../src/db/client.ts'
import { leaseDue, markBehind, nextDueAt } from '../../../src/webhook/delivery/lane/due-lanes.ts'
import { LATE_MS, OwnedParts } from '../../../src/worker/owned-parts.ts'
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
const ALL = new OwnedParts().bits
const NONE = Buffer.alloc(ALL.length)
const leased = async (newMs = 0, parts = ALL) => {
  const rows = await leaseDue(db, { lease: lease(), now: bench.clock.now(), limits: LIMITS, newMs, parts })
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
  await leaseDue(explained, { lease: lease(), now, limits: LIMITS, newMs: 10_000, parts: ALL })
  await nextDueAt(explained, { now, parts: ALL })
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

test('a poll is planned once, not each time', async () => {
  const { workspaceId } = await bench.agent()
  const [agentId] = await bench.crowd(workspaceId, 1, () => 'http://127.0.0.1/planned')
  await bench.store(agentId!, 1_000)
  await db.pool.query("update event set created_at = now() - interval '1 hour'")
  await db.pool.query('update webhook set position = 1000 where agent_id = $1', [agentId])
  await db.pool.query('analyze')
  const client = await db.pool.connect()
  onTestFinished(() => client.release())
  const one = { ...db, pool: client }
  const now = bench.clock.now()
  for (let polls = 0; polls < 8; polls++) {
    await leaseDue(one, { lease: lease(), now, limits: LIMITS, newMs: 10_000, parts: ALL })
    await nextDueAt(one, { now, parts: ALL })
  }
  const { rows } = await client.query(
    "select name, generic_plans from pg_prepared_statements where name like 'lanes %due' order by name",
  )
  // PostgreSQL chooses after five (docs/decisions.md#kept-plans).
  expect(rows).toEqual([
    { name: 'lanes due', generic_plans: 3 },
    { name: 'lanes next due', generic_plans: 3 },
  ])
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

test("what is due in other workers' parts is left to them until it is late", async () => {
  const { workspaceId } = await bench.agent()
  const agents = await bench.crowd(workspaceId, 4, (n) => `http://127.0.0.1/theirs/${n}`)
  const [fresh, late, retrying, marked] = agents as [string, string, string, string]
  const before = (ms: number) => `now() - interval '${ms} ms'`
  const set = (agentId: string, change: string) =>
    db.pool.query(`update webhook set ${change} where agent_id = $1`, [agentId])
  for (const agentId of agents) await bench.store(agentId, 1)
  await db.pool.query(`update event set created_at = ${before(LATE_MS + 500)} where agent_id <> $1`, [fresh])
  await db.pool.query('update event set created_at = now() where agent_id = $1', [fresh])
  await set(retrying, `attempts = 1, retry_at = ${before(100)}, due_at = ${before(100)}`)
  await set(marked, `due_at = ${before(100)}`)
  bench.clock.advance(Date.now() - bench.clock.now().getTime())
  expect(await leased(10_000, NONE)).toEqual([late])
  const long = before(60_000)
  await set(retrying, `retry_at = ${long}, due_at = ${long}`)
  await set(marked, `due_at = ${long}`)
  expect((await leased(10_000, NONE)).sort()).toEqual([marked, retrying].sort())
  expect(await leased(10_000)).toEqual([fresh])
})

test('a worker wakes for what becomes due in its own parts alone', async () => {
  const { workspaceId } = await bench.agent()
  const [agentId] = await bench.crowd(workspaceId, 1, () => 'http://127.0.0.1/next')
  await db.pool.query("update webhook set due_at = now() + interval '1 second' where agent_id = $1", [
    agentId,
  ])
  const now = new Date()
  const next = (parts: Buffer) => nextDueAt(db, { now, parts })
  expect(await next(ALL)).toEqual(expect.any(Date))
  expect(await next(NONE)).toBe(null)
})
