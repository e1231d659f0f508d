import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { readDepths } from '../../src/background/queue-depths.ts'
import { openTestDatabase } from '../support/database.ts'

const db = await openTestDatabase(1)

test('queues are counted up to 10,000, so that a long one does not slow the measurement down', async () => {
  const empty = { send: 0, webhook: 0, search: 0, unsearchable: 0, deletion: 0, failingWebhooks: 0 }
  expect(await readDepths(db, new Date())).toEqual(empty)
  const insert = `insert into unindexed_message (agent_id, message_id)
    select $1, gen_random_uuid() from generate_series(1, $2)`
  await db.pool.query(insert, [randomUUID(), 9_999])
  expect(await readDepths(db, new Date())).toEqual({ ...empty, search: 9_999 })
  await db.pool.query(insert, [randomUUID(), 500])
  expect(await readDepths(db, new Date())).toEqual({ ...empty, search: 10_000 })
})
