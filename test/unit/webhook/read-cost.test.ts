import { expect, test } from 'vitest'
import type { RootDb } from '../../../src/db/client.ts'
import { FIRST_READ, readAhead } from '../../../src/webhook/delivery/lane/read-ahead.ts'
import { openTestDatabase } from '../../support/database.ts'
import { createWebhookBench } from '../../support/webhooks.ts'

test('a read ahead costs no more when the lanes have delivered a lot before', async () => {
  const db = await openTestDatabase()
  const bench = createWebhookBench(db)
  const { workspaceId } = await bench.agent()
  const agents = await bench.crowd(workspaceId, 20, (n) => `http://127.0.0.1/${n}`)
  for (const agentId of agents) await bench.store(agentId, 1_000)
  await db.pool.query('vacuum analyze')
  const { rows: webhooks } = await db.pool.query<{ id: string; agent_id: string }>(
    'select id, agent_id from webhook',
  )
  /** Returns the number of pages that a read after this event costs. */
  const pagesAfter = async (after: number): Promise<number> => {
    let pages = 0
    const query = async ({ text, values }: { text: string; values: unknown[] }) => {
      const { rows } = await db.pool.query(`explain (analyze, buffers, format json) ${text}`, values)
      const plan = rows[0]['QUERY PLAN'][0].Plan
      pages = plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
      return { rows: [] }
    }
    await readAhead(
      { ...db, pool: { query } } as unknown as RootDb,
      webhooks.map(({ id, agent_id: agentId }) => ({ lane: id, agentId, after, limit: FIRST_READ })),
    )
    return pages
  }
  const few = await pagesAfter(10)
  expect(await pagesAfter(900)).toBeLessThanOrEqual(few * 1.25)
})
