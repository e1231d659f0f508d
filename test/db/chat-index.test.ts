import { expect, test } from 'vitest'
import { CHATS_IN_SQL } from '../../src/core/channels.ts'
import { openTestDatabase } from '../support/database.ts'

const db = await openTestDatabase()

/** Returns the plan for the last message with a counterpart on these channels, without sequential scans. */
const planOf = async (channels: string): Promise<string> => {
  const client = await db.pool.connect()
  try {
    await client.query('set enable_seqscan = off')
    const id = '00000000-0000-0000-0000-000000000000'
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain select thread_id from message where agent_id = '${id}' and address_id = '${id}' and counterpart = 'x' and channel in ${channels}
        order by created_at desc limit 1`,
    )
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  } finally {
    client.release(true)
  }
}

test('the partial index of chats covers exactly the channels in CHATS_IN_SQL', async () => {
  expect(await planOf(CHATS_IN_SQL)).toContain('message_counterpart_idx')
  expect(await planOf(CHATS_IN_SQL.replace(')', `, 'email')`))).not.toContain('message_counterpart_idx')
  const { rows } = await db.pool.query<{ indexdef: string }>(
    `select indexdef from pg_indexes where indexname = 'message_counterpart_idx'`,
  )
  const indexed = [...rows[0]!.indexdef.matchAll(/'(\w+)'::"Channel"/g)].map(([, kind]) => `'${kind}'`)
  expect(`(${indexed.join(', ')})`).toBe(CHATS_IN_SQL)
})
