import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeEach, expect, inject, test } from 'vitest'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import { migrate } from '../../src/db/migrate.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { execute, migrations, temporaryDir, urlOf } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const { pool } = await openTestDatabase(1)
const dir = temporaryDir()
const name = `migrate_${process.pid}`
const url = urlOf(inject('postgres').url, name)
let warnings: string[]
const log: Logger = { ...silentLogger, warn: (_fields, text) => warnings.push(text) }

function write(migration: string, sql: string): void {
  mkdirSync(join(dir, migration), { recursive: true })
  writeFileSync(join(dir, migration, 'migration.sql'), sql)
}

const query = async (sql: string) => {
  const client = new pg.Client(url)
  await client.connect()
  return client.query(sql).finally(() => client.end())
}

beforeEach(async () => {
  warnings = []
  rmSync(dir, { recursive: true, force: true })
  write('1_one', 'CREATE TABLE one (id int);\nCREATE TABLE two (id int);')
  write('2_rows', `INSERT INTO one VALUES (1);\nINSERT INTO two VALUES (1);`)
  await execute(
    inject('postgres').url,
    `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`,
    `CREATE DATABASE ${name}`,
  )
})

afterAll(async () => {
  rmSync(dir, { recursive: true, force: true })
  await execute(inject('postgres').url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
})

test('when several processes migrate concurrently, one applies the migrations, in order', async () => {
  const done = await Promise.all(Array.from({ length: 6 }, () => migrate(url, dir, log)))
  expect(done.filter((names) => names.length > 0)).toEqual([['1_one', '2_rows']])
  expect(await migrate(url, dir, log)).toEqual([])
  expect(warnings).toEqual([])
})

test('a failed migration is rolled back and can be retried', async () => {
  write('3_bad', 'CREATE TABLE three (id int);\nSELECT nonsense;')
  await expect(migrate(url, dir, log)).rejects.toThrow('migration 3_bad: column "nonsense" does not exist')
  write('3_bad', 'CREATE TABLE three (id int);')
  expect(await migrate(url, dir, log)).toEqual(['3_bad'])
})

test('a database that is newer than this build is left unchanged, with a warning', async () => {
  await migrate(url, dir, log)
  rmSync(join(dir, '2_rows'), { recursive: true })
  expect(await migrate(url, dir, log)).toEqual([])
  expect(warnings).toEqual(['database is newer than this build'])
})

test('a migration that was edited after it was applied causes a warning', async () => {
  await migrate(url, dir, log)
  appendFileSync(join(dir, '1_one', 'migration.sql'), '-- more')
  expect(await migrate(url, dir, log)).toEqual([])
  expect(warnings).toEqual(['migration was edited after it was applied'])
})

test('a migration with the comment no-transaction runs outside a transaction', async () => {
  write('3_index', '-- no-transaction\nCREATE INDEX CONCURRENTLY ON one (id)')
  expect(await migrate(url, dir, log)).toContain('3_index')
})

test('a statement may take longer than the role allows', async () => {
  await execute(inject('postgres').url, `ALTER DATABASE ${name} SET statement_timeout = '100ms'`)
  write(
    '3_index',
    '-- no-transaction\nSELECT pg_sleep(0.3);\n-- no-transaction\nCREATE INDEX CONCURRENTLY ON one (id)',
  )
  expect(await migrate(url, dir, log)).toContain('3_index')
})

test('building an index concurrently does not deadlock with processes that wait to migrate', async () => {
  write('3_index', '-- no-transaction\nCREATE INDEX CONCURRENTLY ON one (id)')
  const done = await Promise.all(Array.from({ length: 6 }, () => migrate(url, dir, log)))
  expect(done.filter((names) => names.length > 0)).toEqual([['1_one', '2_rows', '3_index']])
})

test('statements outside a transaction run one by one, and all run again after an interruption', async () => {
  const parts = [
    'CREATE TABLE IF NOT EXISTS three AS SELECT n, false AS done FROM generate_series(1, 10) n',
    `DO $$ BEGIN
       UPDATE three SET done = true WHERE n <= 5; COMMIT;
       PERFORM 1 / (SELECT count(*) - 1 FROM one);
       UPDATE three SET done = true; COMMIT;
     END $$`,
    'CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "three_n" ON three (n)',
  ]
  write('3_parts', parts.map((part) => `-- no-transaction\n${part};\n`).join(''))
  await expect(migrate(url, dir, log)).rejects.toThrow('migration 3_parts: division by zero')
  expect((await query('SELECT count(*)::int AS done FROM three WHERE done')).rows).toEqual([{ done: 5 }])
  await query('INSERT INTO one VALUES (2)')
  expect(await migrate(url, dir, log)).toEqual(['3_parts'])
  expect((await query('SELECT count(*)::int AS done FROM three WHERE done')).rows).toEqual([{ done: 10 }])
  expect(
    (await query("SELECT indisvalid FROM pg_index WHERE indexrelid = 'three_n'::regclass")).rows,
  ).toEqual([{ indisvalid: true }])
})

test('a migration that cannot get its lock does not block other sessions, and retries', async () => {
  await migrate(url, dir, log)
  write('3_column', 'ALTER TABLE one ADD COLUMN more int')
  const reader = new pg.Client(url)
  await reader.connect()
  await reader.query('BEGIN; SELECT FROM one')
  const migrating = migrate(url, dir, log)
  await until(async () => warnings.length > 0, 10_000)
  await query('INSERT INTO one VALUES (2)') // would wait behind the migration otherwise
  await reader.query('COMMIT')
  await reader.end()
  expect(await migrating).toEqual(['3_column'])
  expect(new Set(warnings)).toEqual(new Set(['migration is waiting for a lock; retrying']))
})

test('an invalid index left by a crash is rebuilt', async () => {
  await migrate(url, dir, log)
  await query('INSERT INTO one VALUES (1)')
  await expect(query('CREATE UNIQUE INDEX CONCURRENTLY "half" ON one (id)')).rejects.toThrow(
    'could not create unique index',
  )
  write('3_index', '-- no-transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS "half" ON one (id)')
  expect(await migrate(url, dir, log)).toEqual(['3_index'])
  const { rows } = await query(
    "SELECT indisvalid, indisunique FROM pg_index WHERE indexrelid = 'half'::regclass",
  )
  expect(rows).toEqual([{ indisvalid: true, indisunique: false }])
})

test("test databases have all of the service's migrations", async () => {
  const { rows } = await pool.query(
    'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL',
  )
  expect(rows.length).toBeGreaterThan(0)
  const other = await createTestDatabase()
  expect(await migrate(other.url, migrations, log)).toEqual([])
  await other.drop()
})
