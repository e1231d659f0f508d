import { existsSync, readdirSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { hasMasterKey, readMasterKeys } from '../boot/master-key.ts'
import type { Config } from '../config/config.ts'
import { messageOf } from '../core/errors.ts'
import { silentLogger } from '../core/logger.ts'
import { openDb, type RootDb } from '../db/client.ts'
import { startEmbedded } from '../db/embedded.ts'
import { probeDatabase, probePooler } from '../db/probe.ts'
import { replicaLag } from '../db/replica.ts'
import { MIGRATIONS } from '../db/schema.ts'
import { createKeyring, type Keyring, opensDataKey } from '../workspace/keyring.ts'
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

/** The oldest release that PostgreSQL's developers still maintain. */
const OLDEST_VERSION = 14
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

interface Applied {
  name: string
  finished: boolean
}

const APPLIED = `
  select migration_name as name, finished_at is not null as finished
    from _prisma_migrations where rolled_back_at is null`

const checkMigrations = async ({ pool }: RootDb): Promise<{ finding: Finding; migrated: boolean }> => {
  const here = readdirSync(MIGRATIONS, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const exists = await pool.query<{ found: boolean }>(
    "select to_regclass('_prisma_migrations') is not null as found",
  )
  const { rows } = exists.rows[0]?.found ? await pool.query<Applied>(APPLIED) : { rows: [] }
  const failed = rows.filter(({ finished }) => !finished).map(({ name }) => name)
  const pending = here.filter(({ name }) => !rows.some((row) => row.name === name))
  const ahead = rows.filter(({ name }) => !here.some((entry) => entry.name === name))
  const migrated = pending.length === 0 && failed.length === 0
  const finding = ((): Finding => {
    if (failed.length > 0)
      return problem(
        `The migration ${failed.join(', ')} failed.`,
        'See "npm run prisma -- migrate resolve", and the log of the process that ran it.',
      )
    if (ahead.length > 0)
      return warning(
        `The database is newer than this build by ${ahead.length} migrations.`,
        'Use the newer build, unless you are in the middle of an upgrade.',
      )
    if (rows.length === 0) return ok('The database is empty: the first start creates its tables.')
    return pending.length > 0
      ? ok(`${pending.length} migrations are pending: the next start applies them.`)
      : ok(`All ${here.length} migrations are applied.`)
  })()
  return { finding, migrated }
}

const KEY_ADVICE =
  'Restore the key that the database was created with (from your backup of DATA_DIR or MASTER_KEY). Without it, secrets cannot be read.'

const checkKey = async (
  config: Config,
  db: RootDb,
): Promise<{ findings: Finding[]; keyring: Keyring | null }> => {
  const { rows } = await db.pool.query<{ id: string; key: Uint8Array }>(
    'select id, data_key as key from workspace limit 1',
  )
  const workspace = rows[0]
  if (!hasMasterKey(config)) {
    const findings = workspace
      ? [problem(`The master key is missing: there is no ${join(config.dataDir, 'master.key')}.`, KEY_ADVICE)]
      : []
    return { findings, keyring: null }
  }
  try {
    const { masterKey, otherKeys } = await readMasterKeys(config)
    const keys = [masterKey, ...otherKeys()]
    if (workspace && !keys.some((key) => opensDataKey(key, workspace.id, workspace.key)))
      return {
        findings: [problem('The master key is not the one that this database was created with.', KEY_ADVICE)],
        keyring: null,
      }
    return {
      findings: [ok('The master key opens the workspaces’ keys.')],
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
  const key = migrated ? await checkKey(config, db) : { findings: [], keyring: null }
  const findings = [...checkServer(facts), finding, ...key.findings, ...checkConnections(facts)]
  findings.push(...(await checkReplica(config, db)))
  return { findings, migrated, keyring: key.keyring }
}

const unreachable = (config: Config, error: unknown): Finding =>
  config.databaseUrl
    ? problem(
        `The database of DATABASE_URL cannot be used: ${messageOf(error)}.`,
        'Start it, or correct DATABASE_URL; psql with the same URL shows whether it works.',
      )
    : problem(
        `The embedded database does not start: ${messageOf(error)}`,
        `See ${join(config.dataDir, 'pg.log')}.`,
      )

/** Opens and checks the database. The result's database is null if it cannot be used. */
export const checkDatabase = async (
  config: Config,
): Promise<{ findings: Finding[]; database: OpenDatabase | null }> => {
  const space = await checkSpace(config)
  if (!config.databaseUrl && !existsSync(join(config.dataDir, 'pg', 'PG_VERSION')))
    return {
      findings: [...space, skipped('There is no embedded database yet: the first start creates it.')],
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
    db = await openDb(server.url, { max: 2, log: silentLogger })
    const { findings, ...database } = await examine(config, db)
    return { findings: [...findings, ...space], database: { db, ...database, close } }
  } catch (error) {
    await close()
    return { findings: [unreachable(config, error), ...space], database: null }
  }
}
