import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from '../core/logger.ts'
import type { Queryable } from './client.ts'
import { FIRST, waitForEarlierReleases } from './earlier-releases.ts'
import { followProgress } from './migration-progress.ts'
import {
  type Applied,
  checkExclusion,
  EXCLUDES,
  MIGRATOR,
  type Migration,
  readApplied,
  readMigrations,
  SCHEMA,
  unknownTo,
  withoutReplaced,
} from './schema.ts'
import { WITHOUT_LIMITS } from './session-limits.ts'

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

/** Records migrations as applied. */
const record = (
  client: pg.Client,
  migrations: readonly Pick<Migration, 'name' | 'checksum'>[],
  started = new Date(),
): Promise<unknown> =>
  client.query(
    `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     SELECT gen_random_uuid(), checksum, name, $3, clock_timestamp(), 1 FROM unnest($1::text[], $2::text[]) AS one (name, checksum)`,
    [migrations.map(({ name }) => name), migrations.map(({ checksum }) => checksum), started],
  )

/** Records that a migration has begun, so that the processes of earlier releases see that they must end. */
async function announce(client: pg.Client, { name, checksum }: Migration): Promise<void> {
  await client.query(
    `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, started_at, logs) VALUES ($1, $2, $3, clock_timestamp(), $4)`,
    [randomUUID(), checksum, name, EXCLUDES],
  )
}

async function apply(
  client: pg.Client,
  migration: Migration,
  { log, fence, isBegun }: Applying,
): Promise<void> {
  const { name, sql } = migration
  const started = new Date()
  const isAnnounced = sql.includes(EXCLUDES)
  if (isAnnounced) {
    if (!isBegun) await announce(client, migration)
    await waitForEarlierReleases(client, SCHEMA, { log, fence })
  }
  const finish = () =>
    isAnnounced
      ? client.query(
          `UPDATE "_prisma_migrations" SET finished_at = clock_timestamp(), applied_steps_count = 1 WHERE migration_name = $1`,
          [name],
        )
      : record(client, [migration, ...migration.replaces], started)
  const run = sql.includes(OUTSIDE) ? applyParts : applyWhole
  for (;;) {
    try {
      return await run(client, sql, finish)
    } catch (cause) {
      const { code = '', message } = cause as { code?: string; message: string }
      if (!BUSY.has(code)) throw new Error(`migration ${name}: ${message}`, { cause })
      log.warn({ migration: name, error: message }, 'migration is waiting for a lock; retrying')
      await setTimeout(AGAIN_MS)
    }
  }
}

interface Applying {
  log: Logger
  fence: boolean
  /** It was announced before, and interrupted. */
  isBegun: boolean
}

export interface MigrateOptions {
  /** Does not wait for processes of earlier releases that do not end. */
  fence?: boolean
  /** Applies only these, for a copy of a database of an earlier release. */
  names?: readonly string[]
  /** What is checked before anything is changed. */
  check?(client: Queryable): Promise<void>
}

/** Connects for as long as a migration takes. */
async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5000,
    application_name: MIGRATOR,
  })
  client.on('error', () => undefined) // the interrupted query rejects
  await client.connect()
  await client.query(`SET client_min_messages = warning; ${WITHOUT_LIMITS}`)
  return client
}

/**
 * Returns the migrations that were applied, as this build has them, and those to record beside them: what its first one
 * replaces, and that one, are recorded with each other, so that builds that know only one side apply nothing again.
 */
async function readAppliedOf(
  client: pg.Client,
  [first]: readonly Migration[],
): Promise<{ applied: Map<string, Applied>; unrecorded: Pick<Migration, 'name' | 'checksum'>[] }> {
  const recorded = (await readApplied(client)) ?? new Map<string, Applied>()
  if (!first) return { applied: recorded, unrecorded: [] }
  const applied = withoutReplaced(recorded, first)
  const known = applied.get(first.name)?.finished_at ? [first, ...first.replaces] : []
  return { applied, unrecorded: known.filter(({ name }) => !recorded.has(name)) }
}

/** Returns the migrations that are to be applied, after checking those that were. */
function dueOf(
  migrations: readonly Migration[],
  applied: ReadonlyMap<string, Applied>,
  log: Logger,
): Migration[] {
  const ahead = unknownTo(
    migrations.map(({ name }) => name),
    applied,
  )
  checkExclusion(ahead)
  if (ahead.length > 0)
    log.warn({ migrations: ahead.map((one) => one.migration_name) }, 'database is newer than this build')
  return migrations.filter(({ name, checksum }) => {
    const before = applied.get(name)
    if (before && !before.finished_at && before.logs !== EXCLUDES)
      throw new Error(`migration ${name} failed before: see "npm run prisma -- migrate resolve"`)
    if (before?.finished_at && before.checksum !== checksum)
      log.warn({ migration: name }, 'migration was edited after it was applied')
    return !before?.finished_at
  })
}

/**
 * Applies the new migrations in `dir` (prisma/migrations) and returns their names. Any number of processes
 * may call it concurrently: one applies them, the others wait. A database that is newer than this build is left
 * unchanged, with a warning (a rolling deployment). Throws `UnsuitableSchemaError` when a later release excludes this one.
 */
export async function migrate(
  url: string,
  dir: string,
  log: Logger,
  { fence = false, check, names }: MigrateOptions = {},
): Promise<string[]> {
  const migrations = (await readMigrations(dir)).filter(({ name }) => names?.includes(name) ?? true)
  const client = await connect(url)
  const done: string[] = []
  let unfollow: (() => void) | undefined
  try {
    await lock(client)
    await check?.(client)
    await client.query(TABLE)
    const { applied, unrecorded } = await readAppliedOf(client, migrations)
    const due = dueOf(migrations, applied, log)
    unfollow = followProgress(url, log, () => ({
      migration: due[done.length]?.name ?? '',
      ...{ done: done.length, of: due.length },
    }))
    if (due.length > 0) await waitForEarlierReleases(client, FIRST, { log, fence })
    // Not before: the release that runs until then could not restore its dumps of a database with names that it lacks.
    if (unrecorded.length > 0) {
      await record(client, unrecorded)
      const names = unrecorded.map(({ name }) => name)
      log.info({ migrations: names }, 'recorded as applied: the database has what they do')
    }
    for (const migration of due) {
      await apply(client, migration, { log, fence, isBegun: applied.has(migration.name) })
      done.push(migration.name)
    }
    if (done.length > 0) log.info({ migrations: done.length, last: done.at(-1) }, 'database migrated')
    return done
  } finally {
    unfollow?.()
    await client.end() // ends the session and releases its lock
  }
}
