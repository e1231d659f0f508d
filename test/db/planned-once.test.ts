import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { RootDb } from '../../src/db/client.ts'
import { claimSends } from '../../src/message/sending/claim-sends.ts'
import { leaseDue } from '../../src/webhook/delivery/lane/due-lanes.ts'
import { OwnedParts } from '../../src/worker/owned-parts.ts'
import { openTestDatabase } from '../support/database.ts'
import { createWebhookBench } from '../support/webhooks.ts'

const parts = new OwnedParts().bits

/** Runs a statement often enough over one connection, and returns how often PostgreSQL planned it for the values of one run. */
const plansOf = async ({ pool }: RootDb, name: string, run: () => Promise<unknown>): Promise<number> => {
  for (let n = 0; n < 20; n++) await run()
  const { rows } = await pool.query(
    'select custom_plans::int as plans from pg_prepared_statements where name = $1',
    [name],
  )
  return rows[0].plans
}

test('what every worker polls is planned once for each connection: planning it takes longer than running it', async () => {
  const db = await openTestDatabase(1)
  const bench = createWebhookBench(db)
  const { workspaceId } = await bench.agent()
  const agents = await bench.crowd(workspaceId, 20, (n) => `http://127.0.0.1/${n}`)
  for (const agentId of agents) await bench.store(agentId, 500)
  await db.pool.query("update event set created_at = now() - interval '1 hour'")
  await db.pool.query("update job set due_at = now() + interval '1 hour'")
  await db.pool.query('analyze')

  const claim = () => claimSends(db, { owner: randomUUID(), now: bench.clock.now(), limit: 16, parts })
  expect(await plansOf(db, 'claim sends', claim)).toBeLessThan(10)

  const limits = { lanes: 100, retrying: 50 }
  const poll = () =>
    leaseDue(db, {
      ...{ lease: { owner: randomUUID(), ms: 15_000 }, now: bench.clock.now() },
      ...{ limits, newMs: 10_000.5, parts },
    })
  expect(await plansOf(db, 'lanes due', poll)).toBeLessThan(10)
})
