import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { claimSends } from '../../src/message/sending/claim-sends.ts'
import { OwnedParts } from '../../src/worker/owned-parts.ts'
import { openTestDatabase } from '../support/database.ts'
import { createWebhookBench } from '../support/webhooks.ts'

test('a claim of messages to send is planned once for each connection: planning it takes longer than running it', async () => {
  const db = await openTestDatabase(1)
  const bench = createWebhookBench(db)
  const { workspaceId } = await bench.agent()
  const agents = await bench.crowd(workspaceId, 20, (n) => `http://127.0.0.1/${n}`)
  for (const agentId of agents) await bench.store(agentId, 500)
  await db.pool.query("update job set due_at = now() + interval '1 hour'")
  await db.pool.query('analyze')
  const parts = new OwnedParts().bits
  for (let n = 0; n < 8; n++)
    await claimSends(db, { owner: randomUUID(), now: bench.clock.now(), limit: 16, parts })
  const { rows } = await db.pool.query(
    "select generic_plans::int as generic from pg_prepared_statements where name = 'claim sends'",
  )
  // PostgreSQL chooses after five (docs/decisions.md#kept-plans).
  expect(rows).toEqual([{ generic: 3 }])
})
