import { appendFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import { migrate } from '../../src/db/migrate.ts'
import { EXCLUDES, UnsuitableSchemaError } from '../../src/db/schema.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { execute, migrations, temporaryDir, urlOf } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const { pool } = await openTestDatabase(1)
const dir = temporaryDir()
const database = `migrate_${process.pid}`
const url = urlOf(inject('postgres').url, database)
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
    `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`,
    `CREATE DATABASE ${database}`,
  )
})

afterAll(async () => {
  rmSync(dir, { recursive: true, force: true })
  await execute(inject('postgres').url, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
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
  await until(async () => warnings.length > 0)
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

describe('the first migration, in place of earlier ones', () => {
  const names = async () =>
    (await query('SELECT migration_name AS name FROM _prisma_migrations ORDER BY 1')).rows.map(
      ({ name }) => name,
    )
  /** Puts one migration, which makes the same tables, in the place of both. */
  const squash = () => {
    rmSync(dir, { recursive: true, force: true })
    write(
      '2_squashed',
      '-- replaces 1_one x\n-- replaces 2_rows y\nCREATE TABLE one (id int); CREATE TABLE two (id int)',
    )
    write('3_later', 'CREATE TABLE three (id int)')
  }

  test('is applied to an empty database, which gets the names of those too', async () => {
    squash()
    expect(await migrate(url, dir, log)).toEqual(['2_squashed', '3_later'])
    expect(await names()).toEqual(['1_one', '2_rows', '2_squashed', '3_later'])
    expect(await migrate(url, dir, log)).toEqual([])
    expect(warnings).toEqual([])
  })

  test('counts as applied where all of those are', async () => {
    await migrate(url, dir, log)
    squash()
    const told: string[] = []
    expect(await migrate(url, dir, { ...log, info: (_fields, text) => told.push(text) })).toEqual(['3_later'])
    expect(told).toContain('recorded as applied: the database has what they do')
    expect(await names()).toEqual(['1_one', '2_rows', '2_squashed', '3_later'])
    expect(warnings).toEqual([])
  })

  test('is not recorded before processes of 1.0.0 have ended, which could not restore their dumps then', async () => {
    await migrate(url, dir, log)
    squash()
    const old = new pg.Client({ connectionString: url, application_name: 'ams-listen' })
    await old.connect()
    const migrating = migrate(url, dir, log)
    await until(() => warnings.length > 0)
    expect(await names()).toEqual(['1_one', '2_rows'])
    await old.end()
    expect(await migrating).toEqual(['3_later'])
    expect(await names()).toEqual(['1_one', '2_rows', '2_squashed', '3_later'])
  })

  test('is refused where only some of those are, and nothing is changed', async () => {
    await migrate(url, dir, log, { names: ['1_one'] })
    squash()
    const failing = migrate(url, dir, log)
    await expect(failing).rejects.toThrow(UnsuitableSchemaError)
    await expect(failing).rejects.toThrow('before 1.0.0 (1 of its 2 migrations missing)')
    expect(await names()).toEqual(['1_one'])
  })

  test('leaves a database alone for a build that knows only those', async () => {
    const later = temporaryDir()
    cpSync(dir, later, { recursive: true })
    squash()
    await migrate(url, dir, log)
    expect(await migrate(url, later, log)).toEqual([])
    expect(warnings).toEqual([
      'database is newer than this build',
      'migration was edited after it was applied',
      'migration was edited after it was applied',
    ])
  })
})

describe('a migration that excludes earlier releases', () => {
  const begun = () =>
    query("SELECT logs, finished_at FROM _prisma_migrations WHERE migration_name = '3_other'")
  const earlier = async (name = 'ams-listen/20000101000000') => {
    const client = new pg.Client({ connectionString: url, application_name: name })
    client.on('error', () => undefined)
    await client.connect()
    return client
  }
  const WAITING =
    'waiting for processes of an earlier release to end; npm start -- migrate --fence does not wait'
  beforeEach(async () => {
    await migrate(url, dir, log)
    write('3_other', `${EXCLUDES}\nCREATE TABLE three (id int)`)
  })

  test('is told to their processes, and waits until they have ended', async () => {
    const old = await earlier()
    const migrating = migrate(url, dir, log)
    await until(async () => warnings.length > 0)
    expect((await begun()).rows).toEqual([{ logs: EXCLUDES, finished_at: null }])
    expect((await query("SELECT to_regclass('three') AS made")).rows).toEqual([{ made: null }])
    await old.end()
    expect(await migrating).toEqual(['3_other'])
    expect(warnings).toEqual([WAITING])
    expect((await begun()).rows).toEqual([{ logs: EXCLUDES, finished_at: expect.any(Date) }])
  })

  test('does not wait with fence, which ends their sessions', async () => {
    const all = await Promise.all([earlier(), earlier('ams'), earlier('other')])
    await all[1].query('BEGIN; INSERT INTO one VALUES (3)')
    const ended = all.slice(0, 2).map((one) => new Promise((resolve) => one.once('end', resolve)))
    expect(await migrate(url, dir, log, { fence: true })).toEqual(['3_other'])
    await Promise.all(ended)
    await all[2].query('SELECT')
    await all[2].end()
  })

  test('begins again after it was interrupted', async () => {
    write('3_other', `${EXCLUDES}\nCREATE TABLE three (id int);\nSELECT nonsense`)
    await expect(migrate(url, dir, log)).rejects.toThrow('column "nonsense" does not exist')
    write('3_other', `${EXCLUDES}\nCREATE TABLE three (id int)`)
    expect(await migrate(url, dir, log)).toEqual(['3_other'])
    expect((await begun()).rows).toHaveLength(1)
  })

  test('keeps earlier releases away, during and after it', async () => {
    await migrate(url, dir, log)
    rmSync(join(dir, '3_other'), { recursive: true })
    await expect(migrate(url, dir, log)).rejects.toThrow(UnsuitableSchemaError)
    await query("UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = '3_other'")
    await expect(migrate(url, dir, log)).rejects.toThrow('The database belongs to a later release')
  })
})

test('processes of 1.0.0, which do not look whether they are excluded, are waited for before anything is migrated', async () => {
  const old = new pg.Client({ connectionString: url, application_name: 'ams-listen' })
  await old.connect()
  const migrating = migrate(url, dir, log)
  await until(async () => warnings.length > 0)
  expect((await query("SELECT to_regclass('one') AS made")).rows).toEqual([{ made: null }])
  await old.end()
  expect(await migrating).toHaveLength(2)
})

test('time limits of the role do not end a migration, nor one that waits for a lock', async () => {
  for (const name of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'])
    await query(`ALTER DATABASE ${database} SET ${name} = '100ms'`)
  write('3_slow', '-- no-transaction\nSELECT pg_sleep(0.5)')
  expect(await migrate(url, dir, log)).toContain('3_slow')
})

test('how far it is is logged while it takes long', async () => {
  const told: object[] = []
  const telling: Logger = { ...log, info: (fields) => told.push(fields) }
  write('3_slow', '-- no-transaction\nSELECT pg_sleep(11)')
  await migrate(url, dir, telling)
  expect(told[0]).toEqual({ migration: '3_slow', done: 2, of: 3, seconds: expect.any(Number) })
})
