import { expect, test } from 'vitest'
import { refuseDistributed } from '../../src/db/distributed.ts'
import { UnsuitableSchemaError } from '../../src/db/schema.ts'
import { openTestDatabase } from '../support/database.ts'

const { pool } = await openTestDatabase(1)

test('a database that Citus distributes is refused with what to do, and one in which it is only installed is not', async () => {
  await refuseDistributed(pool)
  // As Citus has it, as far as it is read.
  await pool.query('set allow_system_table_mods = on')
  await pool.query('create table pg_catalog.pg_dist_partition (logicalrelid regclass)')
  await refuseDistributed(pool)
  await pool.query(`insert into pg_dist_partition values ('message')`)
  const refused = refuseDistributed(pool)
  await expect(refused).rejects.toThrow(UnsuitableSchemaError)
  await expect(refused).rejects.toThrow('with version 1.1.0, dump it')
})
