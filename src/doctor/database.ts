import { accessSync, constants, existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { hasMasterKey, readMasterKeys } from '../boot/master-key.ts'
import type { Config } from '../config/config.ts'
import { messageOf } from '../core/errors.ts'
import { silentLogger } from '../core/logger.ts'
import { COMMAND } from '../core/root.ts'
import { openDb, type RootDb } from '../db/client.ts'
import { refuseDistributed } from '../db/distributed.ts'
import { hasCluster, OtherMajorError, startEmbedded } from '../db/embedded.ts'
import { OLDEST_VERSION, probeDatabase, probePooler } from '../db/probe.ts'
import { replicaLag } from '../db/replica.ts'
import { checkExclusion, EXCLUDES, KNOWN, readDifference, UnsuitableSchemaError } from '../db/schema.ts'
import { READ_LIMITS } from '../db/session-limits.ts'
import { createKeyring, type Keyring, readKeyTest } from '../workspace/index.ts'
import { type Finding, ok, problem, skipped, warning } from './report.ts'

/** The database while the doctor runs. */
export interface OpenDatabase {
  db: RootDb
  /** Whether its tables are those of this build. */
  migrated: boolean
  /** Null when the master key is missing or not the right one. */
  keyring: Keyring | null
  close(): Promise<void>
}

/** Connections that one process may open. */
const CONNECTIONS = 21
const MIB = 1024 * 1024
const LOW_SPACE = 2048 * MIB
const NO_SPACE = 256 * MIB

interface Server {
  url: string
  release(): Promise<void>
}

const opened = async (config: Config): Promise<Server> => {
  const { databaseUrl, databaseDirectUrl } = config
  if (databaseUrl) {
    const identity = await probeDatabase(databaseDirectUrl ?? databaseUrl)
    if (databaseDirectUrl) await probePooler(databaseUrl, identity)
    return { url: databaseDirectUrl ?? databaseUrl, release: async () => undefined }
  }
  const embedded = await startEmbedded({ dir: config.dataDir, log: silentLogger })
  return { url: embedded.url, release: () => embedded.release() }
}

const gibibytes = (bytes: number): string => `${(bytes / 1024 / MIB).toFixed(1)} GiB`

/** Checks the free space of the file system with DATA_DIR: captured mail, and the embedded database. */
const checkSpace = async ({ dataDir }: Config): Promise<Finding[]> => {
  if (!existsSync(dataDir)) return []
  const { bavail, bsize } = await statfs(dataDir)
  const free = bavail * bsize
  const message = `The disk of DATA_DIR has ${gibibytes(free)} left.`
  const advice = 'Make space: without it no mail is accepted and nothing can be changed.'
  if (free < NO_SPACE) return [problem(message, advice)]
  return [free < LOW_SPACE ? warning(message, advice) : ok(message)]
}

interface Facts {
  number: number
  version: string
  encoding: string
  readonly: boolean
  size: number
  used: number
  max: number
  extensions: string
  stale: boolean
}

const FACTS = `
  select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
         current_setting('server_encoding') as encoding, current_setting('transaction_read_only')::bool as readonly,
         pg_database_size(current_database())::float8 as size,
         (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as max,
         (select string_agg(extname, ', ' order by extname) from pg_extension) as extensions`

/** An operating system's upgrade may change the order of texts, and indexes are then wrong (from version 15 on). */
const STALE = `
  select datcollversion is distinct from pg_database_collation_actual_version(oid) as stale
    from pg_database where datname = current_database() and datcollversion is not null`

const factsOf = async ({ pool }: RootDb): Promise<Facts> => {
  const facts = (await pool.query<Facts>(FACTS)).rows[0]!
  const stale = facts.number >= 150_000 && ((await pool.query<Facts>(STALE)).rows[0]?.stale ?? false)
  return { ...facts, stale }
}

const checkServer = ({ number, version, encoding, readonly, stale, extensions }: Facts): Finding[] => [
  number >= OLDEST_VERSION * 10_000
    ? ok(`PostgreSQL ${version} (extensions: ${extensions}; none is needed).`)
    : problem(`PostgreSQL ${version} is too old.`, `Upgrade it to ${OLDEST_VERSION} or newer.`),
  encoding === 'UTF8'
    ? ok('The encoding of the database is UTF8.')
    : problem(
        `The encoding of the database is ${encoding}: most of the world's text cannot be stored.`,
        'Create a database with createdb --encoding UTF8 --template template0, and move the data there.',
      ),
  ...(readonly
    ? [
        problem(
          'The database accepts no changes (default_transaction_read_only, or a standby).',
          'Point DATABASE_URL at the primary, or switch the setting off.',
        ),
      ]
    : []),
  ...(stale
    ? [
        warning(
          'The operating system sorts text otherwise than when the database was created: its indexes may be wrong.',
          'Run REINDEX DATABASE and ALTER DATABASE … REFRESH COLLATION VERSION.',
        ),
      ]
    : []),
]

const checkConnections = ({ used, max, size }: Facts): Finding[] => {
  const message = `${used} of ${max} connections are in use; each process of the service opens up to ${CONNECTIONS}.`
  const advice = `Raise max_connections to at least ${CONNECTIONS} for each process, and 10 more.`
  return [
    max < CONNECTIONS + 5 || used >= max - 3 ? problem(message, advice) : ok(message),
    ok(`The database takes ${gibibytes(size)}.`),
  ]
}

/** What a service needs for its statements and its idle connections. */
const NEEDED_MS = 30_000
/** The service sets these for its sessions, unless there is a pooler. */
const OWN_LIMITS = new Set(['statement_timeout', 'idle_in_transaction_session_timeout'])

/** Checks the time limits that the role, the database or the server gives to each session. */
const checkLimits = async ({ databaseDirectUrl }: Config, { pool }: RootDb): Promise<Finding> => {
  const { rows } = await pool.query<{ name: string; value: string; ms: number }>(READ_LIMITS)
  if (rows.length === 0) return ok('The role has no time limits for its sessions.')
  const told = (limits: typeof rows) => limits.map(({ name, value }) => `${name} = ${value}`).join(', ')
  const tight = rows.filter(({ name, ms }) =>
    OWN_LIMITS.has(name) ? databaseDirectUrl !== undefined && ms < NEEDED_MS : true,
  )
  return tight.length > 0
    ? warning(
        `The role's time limits end what the service does: ${told(tight)}.`,
        `Run ALTER ROLE … RESET ${tight[0]!.name} (or ALTER DATABASE, or change postgresql.conf).`,
      )
    : ok(`The role has time limits, which migrations, dumps and restores end for themselves: ${told(rows)}.`)
}

const counted = (count: number): string => `${count} migration${count === 1 ? '' : 's'}`

const checkMigrations = async ({ pool }: RootDb): Promise<{ finding: Finding; migrated: boolean }> => {
  const difference = await refuseDistributed(pool)
    .then(() => readDifference(pool))
    .catch((error: unknown) => {
      if (error instanceof UnsuitableSchemaError) return error
      throw error
    })
  if (difference instanceof UnsuitableSchemaError)
    return { finding: problem(difference.message, 'Until then this build does not start.'), migrated: false }
  if (!difference)
    return { finding: ok('The database is empty: the first start creates its tables.'), migrated: false }
  const { pending, unknown, begun } = difference
  const migrated = pending.length === 0 && begun.length === 0
  const namesOf = (migrations: typeof begun) => migrations.map((one) => one.migration_name).join(', ')
  const failed = begun.filter(({ logs }) => logs !== EXCLUDES)
  const finding = ((): Finding => {
    try {
      checkExclusion(unknown)
    } catch (error) {
      return problem(messageOf(error), 'Until then this build does not start.')
    }
    if (failed.length > 0)
      return problem(
        `The migration ${namesOf(failed)} failed.`,
        'See "npm run prisma -- migrate resolve", and the log of the process that ran it.',
      )
    if (begun.length > 0)
      return warning(
        `The migration ${namesOf(begun)} has begun and is not finished.`,
        'See the log of the process that runs it. If none does, the next start goes on with it.',
      )
    if (unknown.length > 0)
      return warning(
        `The database is newer than this build by ${counted(unknown.length)}.`,
        'Use the newer build, unless you are in the middle of an upgrade.',
      )
    return pending.length > 0
      ? warning(
          `The database is older than this build: ${counted(pending.length)} of ${KNOWN.length} pending.`,
          `Make a backup with the build that runs; the next start of this one, or ${COMMAND} migrate, applies them.`,
        )
      : ok(`All ${KNOWN.length} migrations are applied.`)
  })()
  return { finding, migrated }
}

const KEY_ADVICE =
  'Restore the key that the database was created with (from your backup of DATA_DIR or MASTER_KEY). Without it, secrets cannot be read.'

const checkKey = async (
  config: Config,
  db: RootDb,
): Promise<{ findings: Finding[]; keyring: Keyring | null }> => {
  const opens = await readKeyTest(db.pool)
  if (!hasMasterKey(config)) {
    const findings = opens
      ? [problem(`The master key is missing: there is no ${join(config.dataDir, 'master.key')}.`, KEY_ADVICE)]
      : []
    return { findings, keyring: null }
  }
  try {
    const { masterKey, otherKeys } = await readMasterKeys(config)
    if (opens?.([masterKey, ...otherKeys()]) === false)
      return {
        findings: [problem('The master key is not the one that this database was created with.', KEY_ADVICE)],
        keyring: null,
      }
    return {
      findings: opens ? [ok('The master key opens the workspaces’ keys.')] : [],
      keyring: createKeyring(db, masterKey, otherKeys),
    }
  } catch (error) {
    return { findings: [problem(messageOf(error), KEY_ADVICE)], keyring: null }
  }
}

/** A replica that is further behind serves no reads while there is any traffic. */
const MUCH_LAG = 16 * MIB

const checkReplica = async ({ databaseReadUrl: url }: Config, { pool }: RootDb): Promise<Finding[]> => {
  if (url === undefined) return []
  const advice = 'Correct DATABASE_READ_URL, or repair the replica; until then, the primary serves all reads.'
  try {
    const { bytes, problem: found } = await replicaLag(url, pool)
    if (found !== null) return [problem(`The replica of DATABASE_READ_URL ${found}.`, advice)]
    const message = `The replica of DATABASE_READ_URL is ${bytes} bytes behind.`
    return [
      bytes > MUCH_LAG ? warning(message, 'See why it is slow: the primary serves its reads.') : ok(message),
    ]
  } catch (error) {
    return [problem(`The replica of DATABASE_READ_URL cannot be used: ${messageOf(error)}.`, advice)]
  }
}

const examine = async (
  config: Config,
  db: RootDb,
): Promise<{ findings: Finding[] } & Pick<OpenDatabase, 'migrated' | 'keyring'>> => {
  const facts = await factsOf(db)
  const { finding, migrated } = await checkMigrations(db)
  // Also before an upgrade, which would refuse a wrong key.
  const key = await checkKey(config, db)
  const limits = await checkLimits(config, db)
  const findings = [...checkServer(facts), finding, limits, ...key.findings, ...checkConnections(facts)]
  findings.push(...(await checkReplica(config, db)))
  return { findings, migrated, keyring: migrated ? key.keyring : null }
}

const unreachable = (config: Config, error: unknown): Finding => {
  if (config.databaseUrl)
    return problem(
      `The database of DATABASE_URL cannot be used: ${messageOf(error)}.`,
      'Start it, or correct DATABASE_URL; psql with the same URL shows whether it works.',
    )
  return error instanceof OtherMajorError
    ? problem(error.found, error.advice)
    : problem(
        `The embedded database does not start: ${messageOf(error)}`,
        `See ${join(config.dataDir, 'pg.log')}.`,
      )
}

const isPassable = (dir: string): boolean => {
  try {
    accessSync(dir, constants.R_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Opens and checks the database. The result's database is null if it cannot be used. */
export const checkDatabase = async (
  config: Config,
): Promise<{ findings: Finding[]; database: OpenDatabase | null }> => {
  const space = await checkSpace(config)
  if (!config.databaseUrl && !hasCluster(config.dataDir))
    return {
      findings: [
        ...space,
        skipped(
          existsSync(config.dataDir) && !isPassable(config.dataDir)
            ? 'DATA_DIR cannot be read: what is in it is not known.'
            : 'There is no embedded database yet: the first start creates it.',
        ),
      ],
      database: null,
    }
  let server: Server | null = null
  let db: Awaited<ReturnType<typeof openDb>> | null = null
  const close = async () => {
    await db?.close()
    await server?.release()
  }
  try {
    server = await opened(config)
    // As behind a pooler: without session settings of its own, which would hide those of the role.
    db = await openDb(server.url, { max: 2, log: silentLogger, pooled: true })
    const { findings, ...database } = await examine(config, db)
    return { findings: [...findings, ...space], database: { db, ...database, close } }
  } catch (error) {
    await close()
    return { findings: [unreachable(config, error), ...space], database: null }
  }
}
