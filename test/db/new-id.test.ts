import { version } from 'uuid'
import { expect, test } from 'vitest'
import { NEW_ID } from '../../src/db/sql/new-id.ts'
import { sql } from '../../src/db/sql/sql.ts'
import { composedOf } from '../../src/db/sql/statement.ts'
import { openTestDatabase } from '../support/database.ts'

const { pool } = await openTestDatabase()

const MADE = composedOf(sql`
  select floor(extract(epoch from clock_timestamp()) * 1000) as before, ${NEW_ID} as id, ceil(extract(epoch from clock_timestamp()) * 1000) as after
    from generate_series(1, 100)`)

test('the id of a new row begins with its time, and is another one for each', async () => {
  const { rows } = await pool.query<{ before: string; id: string; after: string }>(MADE)
  for (const { before, id, after } of rows) {
    expect(version(id)).toBe(7)
    const made = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
    expect(made).toBeGreaterThanOrEqual(Number(before))
    expect(made).toBeLessThanOrEqual(Number(after))
  }
  expect(new Set(rows.map(({ id }) => id)).size).toBe(100)
})
