import { execFileSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { migrate } from '../../src/db/migrate.ts'
import { EXCLUDES } from '../../src/db/schema.ts'
import { execute, migrations, temporaryDir, urlOf } from '../support/postgres.ts'
import { cleanUp, run } from '../support/process.ts'
import { apiOf } from '../support/service.ts'

/** A build and a database of different releases: nothing is changed beside a service of the other one. */

const postgres = inject('postgres').url
let settings: Record<string, string> & { DATA_DIR: string; DATABASE_URL: string }
let name: string

beforeAll(() => {
  execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')])
})
beforeEach(async () => {
  name = `schema_${randomBytes(6).toString('hex')}`
  settings = {
    DATA_DIR: temporaryDir(),
    DATABASE_URL: urlOf(postgres, name),
    MASTER_KEY: randomBytes(32).toString('base64'),
    OWNER_TOKEN: 'a token of the owner, chosen by hand',
    LOG_LEVEL: 'error',
  }
  await execute(postgres, `CREATE DATABASE ${name}`)
})
afterEach(async () => {
  await cleanUp(settings.DATA_DIR)
  await execute(postgres, `DROP DATABASE ${name} WITH (FORCE)`)
})

const query = async <Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> => {
  const client = new pg.Client(settings.DATABASE_URL)
  await client.connect()
  return (await client.query(sql, values).finally(() => client.end())).rows
}
const applied = () => query('SELECT migration_name, finished_at FROM _prisma_migrations ORDER BY 1')

/** What the newest migration of a later release leaves, which this build does not have. */
const later = (logs: string | null) =>
  query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, logs) VALUES ($1, 'x', '29990101000000_later', $2)`,
    [randomUUID(), logs],
  )

const end = async (service: ReturnType<typeof run>): Promise<number | null> => {
  service.kill('SIGTERM')
  return (await service.exited).code
}

const COMMANDS: readonly string[][] = [
  ['workspace', '--name', 'Other', '--owner', 'other@example.com'],
  ['token', '--member', 'owner@example.com'],
  ['sign-in'],
  ['export', join(temporaryDir(), 'export.tar')],
  ['delete-workspace', '--yes'],
  ['rotate-key'],
  ['rotate-key', '--data-keys'],
  ['import', '--agent', randomUUID(), '/nowhere'],
  ['dump', join(temporaryDir(), 'all.dump')],
  ['restore', '/nowhere.dump'],
  ['move-blobs', '--to', 'database'],
  ['domain'],
  ['rotate-dkim'],
]

describe('a database of an earlier release', () => {
  let before: string
  beforeAll(() => {
    before = temporaryDir()
    cpSync(migrations, before, { recursive: true })
    const newest = readdirSync(before)
      .filter((one) => /^\d/.test(one))
      .sort()
      .at(-1)!
    rmSync(join(before, newest), { recursive: true })
  })
  afterAll(() => rmSync(before, { recursive: true, force: true }))

  test('is refused by every command with one line, and nothing is changed', async () => {
    await migrate(settings.DATABASE_URL, before, silentLogger)
    const old = await applied()
    for (const args of COMMANDS) {
      const command = run(settings, ...args)
      const { code } = await command.exited
      expect([args[0], code, command.stdout]).toEqual([args[0], 1, ''])
      expect(command.stderr).toMatch(
        /^The database is of an earlier release \(1 of \d+ migrations missing\): .*\n$/,
      )
    }
    expect(await applied()).toEqual(old)
  })

  test('is migrated by the command for it', async () => {
    await migrate(settings.DATABASE_URL, before, silentLogger)
    const command = run(settings, 'migrate')
    expect((await command.exited).code).toBe(0)
    expect(JSON.parse(command.stdout).migrated).toHaveLength(1)
    const again = run(settings, 'migrate')
    expect([(await again.exited).code, JSON.parse(again.stdout)]).toEqual([0, { migrated: [] }])
  })

  test('is not migrated with another key', async () => {
    const service = run(settings)
    await service.ready()
    await end(service)
    await query(
      'DELETE FROM _prisma_migrations WHERE migration_name = (SELECT max(migration_name) FROM _prisma_migrations)',
    )
    const old = await applied()
    for (const args of [[], ['migrate']]) {
      const refused = run({ ...settings, MASTER_KEY: randomBytes(32).toString('base64') }, ...args)
      expect((await refused.exited).code).toBe(2)
      expect(refused.stderr).toContain('is not the key that this database was created with')
    }
    expect(await applied()).toEqual(old)
  })
})

test('a database that Citus distributes is refused by the service and by migrate with one line', async () => {
  await migrate(settings.DATABASE_URL, migrations, silentLogger)
  await query(`SET allow_system_table_mods = on;
    CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass); INSERT INTO pg_dist_partition VALUES ('message')`)
  for (const args of [[], ['migrate']]) {
    const refused = run(settings, ...args)
    expect((await refused.exited).code).toBe(1)
    expect(refused.stderr).toMatch(/^The database is distributed with Citus, .* dump .*\n$/)
  }
})

test('an embedded database whose key is lost gets no other one', async () => {
  const embedded = { DATA_DIR: settings.DATA_DIR, LOG_LEVEL: 'error' }
  const service = run(embedded)
  await service.ready()
  await end(service)
  const key = join(settings.DATA_DIR, 'master.key')
  renameSync(key, `${key}.kept`)
  for (const args of [[], ['migrate'], ['sign-in']]) {
    const refused = run(embedded, ...args)
    expect((await refused.exited).code).toBe(2)
    expect(refused.stderr).toContain('The master key of this database is missing')
    expect(existsSync(key)).toBe(false)
  }
  renameSync(`${key}.kept`, key)
  const again = run(embedded)
  await again.ready()
  await end(again)
})

describe('an empty database', () => {
  test('is left empty by commands', async () => {
    const command = run(settings, 'token', '--member', 'owner@example.com')
    expect([(await command.exited).code, command.stderr]).toEqual([
      1,
      'The database is empty: start the service first, or create its tables with npm start -- migrate.\n',
    ])
    expect(await query("SELECT FROM information_schema.tables WHERE table_schema = 'public'")).toEqual([])
  })
})

describe('a database of a later release', () => {
  test('ends the processes that it excludes, with one line, and they do not start again', async () => {
    const service = run(settings)
    const { http } = await service.ready()
    const owner = apiOf(http, settings.OWNER_TOKEN!)
    expect((await owner('POST', '/agents', { name: 'Before', icon: 'bot' })).status).toBe(201)
    await later(EXCLUDES)
    expect((await service.exited).code).toBe(1)
    const message =
      /The database belongs to a later release, with which this one cannot work \(migration 29990101000000_later\)/
    expect(service.stderr.match(new RegExp(message, 'g'))).toHaveLength(2) // in the log, and for the terminal
    for (const args of [[], ['migrate'], ['sign-in']]) {
      const again = run(settings, ...args)
      expect((await again.exited).code).toBe(1)
      expect(again.stderr).toMatch(message)
      expect(again.stderr.split('\n')).toHaveLength(2)
    }
  })

  test('lets the others go on, and start again', async () => {
    const service = run(settings)
    const { http } = await service.ready()
    await later(null)
    await query('UPDATE _prisma_migrations SET finished_at = now() WHERE finished_at IS NULL')
    // Longer than a process takes to notice that it is excluded.
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    expect((await fetch(`${http}/readyz`)).status).toBe(200)
    expect(await end(service)).toBe(0)
    const again = run(settings)
    await again.ready()
    expect(await end(again)).toBe(0)
  })
})

describe('an installation that has data', () => {
  const EMPTY = /has had data, but this database is empty: check DATABASE_URL\. To start over, remove /

  test('does not become an empty one when its database is not named, or another one is', async () => {
    const service = run(settings)
    await service.ready()
    await end(service)
    const { DATABASE_URL: _, ...embedded } = settings
    const unnamed = run(embedded)
    expect((await unnamed.exited).code).toBe(2)
    expect(unnamed.stderr).toMatch(EMPTY)
    expect(existsSync(join(settings.DATA_DIR, 'pg'))).toBe(false)
    const other = `${name}_other`
    await execute(postgres, `CREATE DATABASE ${other}`)
    const elsewhere = run({ ...settings, DATABASE_URL: urlOf(postgres, other) })
    expect((await elsewhere.exited).code).toBe(2)
    expect(elsewhere.stderr).toMatch(EMPTY)
    await execute(postgres, `DROP DATABASE ${other} WITH (FORCE)`)
    const again = run(settings)
    await again.ready()
    await end(again)
  })

  test('is not begun anew by a misspelt setting', async () => {
    const { DATABASE_URL = '', ...others } = settings
    const service = run({ ...others, DATABSE_URL: DATABASE_URL })
    expect((await service.exited).code).toBe(2)
    expect(service.stderr).toBe(
      'DATABSE_URL is not a setting; DATABASE_URL is. Correct its name, or remove it.\n',
    )
  })
})
