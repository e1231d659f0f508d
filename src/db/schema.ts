import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { Clock } from '../core/clock.ts'
import { COMMAND, ROOT } from '../core/root.ts'
import type { Queryable } from './client.ts'

/** The folder with the migrations of this build. */
export const MIGRATIONS = join(ROOT, 'prisma', 'migrations')

const namesIn = (entries: readonly { name: string; isDirectory(): boolean }[]): string[] =>
  entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()

/** Name of the session that migrates. */
export const MIGRATOR = 'ams-migrate'

/** The migrations of this build, read once: while it runs, a later release may be installed in its place. */
export const KNOWN: readonly string[] = namesIn(readdirSync(MIGRATIONS, { withFileTypes: true }))

/**
 * The time of the newest migration of this build, as its name begins. A service's session is named after it, so that
 * a later release sees who is earlier.
 */
export const SCHEMA = KNOWN.at(-1)!.slice(0, 14)

/**
 * This comment in a migration says that processes of earlier releases must not go on once it begins: what they would
 * write is wrong afterwards. It is kept with the migration in the database, where those releases read it.
 */
export const EXCLUDES = '-- excludes-earlier-releases'

/** A migration without its text: as it is recorded in the database. */
interface Named {
  name: string
  checksum: string
}

export interface Migration extends Named {
  sql: string
  /** The migrations that it replaces. */
  replaces: Named[]
}

/** This comment in the first migration names a migration that it replaces, with its checksum. */
const REPLACES = /^-- replaces (\S+) (\S+)$/gm

const toMigration = (name: string, bytes: Buffer): Migration => {
  const sql = bytes.toString('utf8')
  const replaces = [...sql.matchAll(REPLACES)].map(([, one, checksum]) => ({
    name: one!,
    checksum: checksum!,
  }))
  return { name, sql, replaces, checksum: createHash('sha256').update(bytes).digest('hex') }
}

const BASELINE = toMigration(KNOWN[0]!, readFileSync(join(MIGRATIONS, KNOWN[0]!, 'migration.sql')))

export async function readMigrations(dir: string): Promise<Migration[]> {
  return Promise.all(
    namesIn(await readdir(dir, { withFileTypes: true })).map(async (name) =>
      toMigration(name, await readFile(join(dir, name, 'migration.sql'))),
    ),
  )
}

/** A migration as the database has it. */
export interface Applied {
  migration_name: string
  checksum: string
  finished_at: Date | null
  logs: string | null
}

/** Returns the migrations that were applied or begun; null in a database in which nothing was ever migrated. */
export async function readApplied(client: Queryable): Promise<Map<string, Applied> | null> {
  const { rows: found } = await client.query<{ found: boolean }>(
    "SELECT to_regclass('_prisma_migrations') IS NOT NULL AS found",
  )
  if (!found[0]?.found) return null
  const { rows } = await client.query<Applied>(
    'SELECT migration_name, checksum, finished_at, logs FROM "_prisma_migrations" WHERE rolled_back_at IS NULL ORDER BY started_at',
  )
  return new Map(rows.map((row) => [row.migration_name, row]))
}

/** The database has a schema with which this release cannot work. The message says what to do. */
export class UnsuitableSchemaError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UnsuitableSchemaError'
  }
}

/** Migrations that the database has and this build does not know. */
export const unknownTo = (known: readonly string[], applied: ReadonlyMap<string, Applied>): Applied[] =>
  [...applied.values()].filter(({ migration_name }) => !known.includes(migration_name))

/**
 * Returns the applied migrations without those that the first one of a build replaces. It counts as applied where all of
 * them are. Throws `UnsuitableSchemaError` where only some are.
 */
export const withoutReplaced = (
  applied: ReadonlyMap<string, Applied>,
  { name, checksum, replaces }: Migration = BASELINE,
): Map<string, Applied> => {
  const done = replaces.map((one) => applied.get(one.name)?.finished_at ?? null).filter((at) => at !== null)
  const kept = new Map(applied)
  for (const one of replaces) kept.delete(one.name)
  if (kept.has(name) || done.length === 0) return kept
  if (done.length < replaces.length)
    throw new UnsuitableSchemaError(
      `The database is of a version before 1.0.0 (${replaces.length - done.length} of its ${replaces.length} migrations missing): back it up, run version 1.0.0 on it once, and then this one.`,
    )
  const since = { migration_name: name, checksum, finished_at: done.at(-1)!, logs: null }
  return new Map([[name, since], ...kept])
}

/** Returns the names of applied migrations as this build has them, without those that its first one replaces. */
export const namesHere = (names: readonly string[]): string[] => {
  const { name, replaces } = BASELINE
  const replaced = new Set(replaces.map((one) => one.name))
  const isThere = names.includes(name) || replaces.every((one) => names.includes(one.name))
  return [...(isThere ? [name] : []), ...names.filter((one) => one !== name && !replaced.has(one))]
}

/** How the schema of a database differs from that of a build. */
export interface SchemaDifference {
  /** Migrations of the build that the database lacks, or has not finished. */
  pending: string[]
  /** Migrations of a later release. */
  unknown: Applied[]
  /** Migrations that were begun: they run, or were interrupted. */
  begun: Applied[]
}

/** Returns how the schema of the database differs from this build's; null in a database in which nothing was ever migrated. */
export const readDifference = async (client: Queryable): Promise<SchemaDifference | null> => {
  const recorded = await readApplied(client)
  if (!recorded) return null
  const applied = withoutReplaced(recorded)
  return {
    pending: KNOWN.filter((name) => !applied.get(name)?.finished_at),
    unknown: unknownTo(KNOWN, applied),
    begun: [...applied.values()].filter(({ finished_at }) => finished_at === null),
  }
}

/** Throws when a later release has changed the database so that this one cannot work with it. */
export const checkExclusion = (unknown: readonly Applied[]): void => {
  const last = unknown.findLast(({ logs }) => logs === EXCLUDES)?.migration_name
  if (last)
    throw new UnsuitableSchemaError(
      `The database belongs to a later release, with which this one cannot work (migration ${last}): install that release, or restore the backup from before the upgrade.`,
    )
}

const withClient = async <Result>(
  url: string,
  use: (client: pg.Client) => Promise<Result>,
): Promise<Result> => {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5000,
    application_name: 'ams-schema',
  })
  client.on('error', () => undefined) // the interrupted query rejects
  await client.connect()
  return use(client).finally(() => client.end())
}

/** Whether nothing was ever migrated in the database. */
export const isEmptyDatabase = (url: string): Promise<boolean> =>
  withClient(url, async (client) => (await readApplied(client)) === null)

/**
 * Checks, for a command, that the database has the schema of this build, or a later one that does not exclude it, and
 * whatever else `check` does. A command changes no schema: a service of another release may run on it.
 */
export const requireSchema = (url: string, check?: (client: Queryable) => Promise<void>): Promise<void> =>
  withClient(url, async (client) => {
    const difference = await readDifference(client)
    if (!difference)
      throw new UnsuitableSchemaError(
        `The database is empty: start the service first, or create its tables with ${COMMAND} migrate.`,
      )
    const { pending, unknown } = difference
    checkExclusion(unknown)
    if (pending.length > 0)
      throw new UnsuitableSchemaError(
        `The database is of an earlier release (${pending.length} of ${KNOWN.length} migrations missing): back it up with that release; the start of this one, or ${COMMAND} migrate, migrates it.`,
      )
    await check?.(client)
  })

/** Sessions that migrate, or wait to do so. */
const MIGRATING = `SELECT count(*)::int AS running FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = '${MIGRATOR}'`

/** Returns how many migrations the database lacks of this build, how many it has of later ones, and how many sessions migrate it. */
export const countMigrations = async (
  db: Queryable,
): Promise<Record<'pending' | 'running' | 'unknown', number>> => {
  const { pending, unknown } = (await readDifference(db)) ?? { pending: KNOWN, unknown: [] }
  const { rows } = await db.query<{ running: number }>(MIGRATING)
  return { pending: pending.length, unknown: unknown.length, running: rows[0]!.running }
}

/** How often a service looks whether a later release excludes it, in milliseconds. */
const LOOK_MS = 3_000

/** Resolves when a later release begins to change the database so that this one cannot work with it. */
export const untilExcluded = async (
  db: Queryable,
  clock: Clock,
  signal: AbortSignal,
): Promise<string | null> => {
  while (!signal.aborted) {
    try {
      checkExclusion((await readDifference(db))?.unknown ?? [])
    } catch (error) {
      // Whether the database can be reached at all is noticed elsewhere.
      if (error instanceof UnsuitableSchemaError) return error.message
    }
    await clock.sleep(LOOK_MS, signal)
  }
  return null
}
