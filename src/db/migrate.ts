import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from '../core/logger.ts'

/** Prisma's own advisory lock, so that `prisma migrate deploy` and a starting service wait for each other. */
const LOCK_KEY = 72707369

/** Interval in milliseconds between attempts to get the lock. */
const LOCK_TRY_MS = 100

/**
 * Waits until this process may migrate. It polls, because a statement that waits for the lock has a snapshot,
 * and CREATE INDEX CONCURRENTLY, which runs under the lock, would wait for that snapshot.
 */
async function lock(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ free: boolean }>('SELECT pg_try_advisory_lock($1) AS free', [
      LOCK_KEY,
    ])
    if (rows[0]?.free) return
    await setTimeout(LOCK_TRY_MS)
  }
}

/** Prisma's own table, as its engine creates it. */
const TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`

/**
 * This comment before each statement of a migration makes it run outside a transaction, statement by
 * statement: CREATE INDEX CONCURRENTLY, or a DO block that commits as it goes. After an interruption such a
 * migration starts from the beginning, so each of its statements must be repeatable. The other migrations are
 * applied completely or not at all.
 */
const OUTSIDE = '-- no-transaction'

/**
 * Time for which a migration waits for a lock. Later statements on the table queue behind it, so it gives up,
 * lets them run and tries again.
 */
const LOCK_TIMEOUT = '3s'
const AGAIN_MS = 1000

/** `lock_not_available` and `deadlock_detected`: another session is using the table. */
const BUSY = new Set(['55P03', '40P01'])

interface Migration {
  name: string
  sql: string
  checksum: string
}

interface Applied {
  migration_name: string
  checksum: string
  finished_at: Date | null
}

async function readMigrations(dir: string): Promise<Migration[]> {
  const entries = await readdir(dir, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map(async (name) => {
      const bytes = await readFile(join(dir, name, 'migration.sql'))
      return { name, sql: bytes.toString('utf8'), checksum: createHash('sha256').update(bytes).digest('hex') }
    }),
  )
}

async function readApplied(client: pg.Client): Promise<Map<string, Applied>> {
  const { rows } = await client.query<Applied>(
    'SELECT migration_name, checksum, finished_at FROM "_prisma_migrations" WHERE rolled_back_at IS NULL ORDER BY started_at',
  )
  return new Map(rows.map((row) => [row.migration_name, row]))
}

/**
 * Drops the index that a migration builds concurrently, if building it was interrupted: IF NOT EXISTS would
 * accept the invalid index.
 */
async function dropUnfinished(client: pg.Client, sql: string): Promise<void> {
  const index = /CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS "(\w+)"/.exec(sql)?.[1]
  if (index === undefined) return
  const { rowCount } = await client.query(
    'SELECT FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname = $1 AND NOT i.indisvalid AND pg_table_is_visible(c.oid)',
    [index],
  )
  if (rowCount) await client.query(`DROP INDEX CONCURRENTLY "${index}"`)
}

/** Runs a migration and records it in one transaction. */
async function applyWhole(client: pg.Client, sql: string, record: () => Promise<unknown>): Promise<void> {
  try {
    await client.query('BEGIN')
    await client.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`)
    await client.query(sql)
    await record()
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

/** Runs a migration statement by statement, and then records it. */
async function applyParts(client: pg.Client, sql: string, record: () => Promise<unknown>): Promise<void> {
  for (const part of sql.split(OUTSIDE)) {
    await dropUnfinished(client, part)
    await client.query(part)
  }
  await record()
}

async function apply(client: pg.Client, { name, sql, checksum }: Migration, log: Logger): Promise<void> {
  const started = new Date()
  const record = () =>
    client.query(
      `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, $4, clock_timestamp(), 1)`,
      [randomUUID(), checksum, name, started],
    )
  const run = sql.includes(OUTSIDE) ? applyParts : applyWhole
  for (;;) {
    try {
      return await run(client, sql, record)
    } catch (cause) {
      const { code = '', message } = cause as { code?: string; message: string }
      if (!BUSY.has(code)) throw new Error(`migration ${name}: ${message}`, { cause })
      log.warn({ migration: name, error: message }, 'migration is waiting for a lock; retrying')
      await setTimeout(AGAIN_MS)
    }
  }
}

/**
 * Applies the new migrations in `dir` (prisma/migrations) and returns their names. Any number of processes
 * may call it concurrently: one applies them, the others wait. A database that is newer than this build is
 * left unchanged, with a warning (a rolling deployment).
 */
export async function migrate(url: string, dir: string, log: Logger): Promise<string[]> {
  const migrations = await readMigrations(dir)
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5000,
    application_name: 'ams-migrate',
  })
  client.on('error', () => undefined) // the interrupted query rejects
  await client.connect()
  try {
    await lock(client)
    await client.query('SET client_min_messages = warning')
    await client.query('SET statement_timeout = 0') // the role may have one, but an index of a large table takes minutes
    await client.query(TABLE)
    const applied = await readApplied(client)
    const ahead = [...applied.keys()].filter((name) => !migrations.some((one) => one.name === name))
    if (ahead.length > 0) log.warn({ migrations: ahead }, 'database is newer than this build')
    const done: string[] = []
    for (const migration of migrations) {
      const before = applied.get(migration.name)
      if (before && !before.finished_at)
        throw new Error(`migration ${migration.name} failed before: see "npm run prisma -- migrate resolve"`)
      if (before && before.checksum !== migration.checksum)
        log.warn({ migration: migration.name }, 'migration was edited after it was applied')
      if (before) continue
      await apply(client, migration, log)
      done.push(migration.name)
    }
    if (done.length > 0) log.info({ migrations: done.length, last: done.at(-1) }, 'database migrated')
    return done
  } finally {
    await client.end() // ends the session and releases its lock
  }
}
