import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, ConfigError } from '../config/config.ts'
import { unusable } from '../config/unusable.ts'
import { systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { writePrivate } from '../core/private-file.ts'
import { type Db, type OpenDb, openDb, type Queryable } from '../db/client.ts'
import { refuseDistributed } from '../db/distributed.ts'
import { hasCluster, lockDataDir, startEmbedded } from '../db/embedded.ts'
import { migrate } from '../db/migrate.ts'
import { untilAvailable } from '../db/patience.ts'
import { probeDatabase, probePooler, probeReplica, probeServer, UnusableDatabaseError } from '../db/probe.ts'
import { Replica } from '../db/replica.ts'
import { isEmptyDatabase, MIGRATIONS, requireSchema } from '../db/schema.ts'
import { createFirstWorkspace, newToken, type OtherKeys, readKeyTest } from '../workspace/index.ts'
import { checkNotInstalled, markInstalled, openDataDir } from './data-dir.ts'
import { hasMasterKey, readMasterKeys } from './master-key.ts'

/** What every command needs: the data folder, the database and the master key. */
export interface Foundation {
  db: OpenDb
  /** Where PostgreSQL itself is reached, without a pooler: for what belongs to a session (LISTEN, locks). */
  databaseUrl: string
  /** The migrations that were applied just now. */
  migrated?: readonly string[]
  /** Missing without `DATABASE_READ_URL`. */
  replica?: Replica | undefined
  masterKey: Uint8Array
  /** Keys that may have encrypted data before the master key was changed; undefined for none. */
  otherKeys?: OtherKeys
  /**
   * Closes the database connections, and stops the embedded database if this process runs it. `atOnce`: without
   * waiting for running queries.
   */
  close(options?: { atOnce: boolean }): Promise<void>
}

/**
 * Maximum number of connections of one process: a few for batched statements, the rest for requests.
 * PostgreSQL's own default is 100 in total.
 */
const MAX_CONNECTIONS = 20

/**
 * Checks the key against any workspace, before anything is written: a wrong key would go unnoticed until a secret
 * could not be decrypted, and a new one would lie beside a database that it does not open.
 */
const checkMasterKeys = async (config: Config, client: Queryable): Promise<void> => {
  const opens = await readKeyTest(client)
  if (!opens) return
  if (!hasMasterKey(config))
    throw new ConfigError([
      'The master key of this database is missing: put its master.key into DATA_DIR, or set MASTER_KEY.',
    ])
  const { masterKey, otherKeys } = await readMasterKeys(config)
  if (!opens([masterKey, ...otherKeys()]))
    throw new ConfigError([
      'MASTER_KEY (or master.key in DATA_DIR) is not the key that this database was created with.',
    ])
}

/**
 * Checks that the plan exists. Otherwise a wrong plan would go unnoticed until the first workspace is
 * created.
 */
const checkPlan = async ({ prisma }: Db, plan: string): Promise<void> => {
  const keys = (await prisma.plan.findMany({ select: { key: true }, orderBy: { key: 'asc' } })).map(
    ({ key }) => key,
  )
  if (!keys.includes(plan)) throw unusable(['PLAN', plan], `one of ${keys.join(', ')}`)
}

type UrlSetting = readonly ['DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'DATABASE_READ_URL', string]

/** Returns the result of probing a database, or throws the error of the setting that names it. */
const probed = async <Result>(setting: UrlSetting, probing: Promise<Result>): Promise<Result> => {
  try {
    return await probing
  } catch (error) {
    if (!(error instanceof UnusableDatabaseError)) throw error
    const refused = unusable(setting, `a PostgreSQL that can be used (${error.message})`)
    // One that is only away is no wrong setting: after those, a service manager does not start the service again.
    throw error.isAway ? new AppError('unavailable', refused.message) : refused
  }
}

interface Server {
  /** Where PostgreSQL itself is reached. */
  url: string
  /** Where a pooler in front of it is reached. */
  poolerUrl?: string
  close(): Promise<void>
}

/** Checks the operator's database. */
const reachDatabase = async (
  url: string,
  { databaseDirectUrl: directUrl }: Config,
  log: Logger,
): Promise<Server> => {
  const waiting = { clock: systemClock, log }
  const close = async () => undefined
  if (!directUrl) {
    await probed(['DATABASE_URL', url], probeDatabase(url, waiting))
    return { url, close }
  }
  const identity = await probed(['DATABASE_DIRECT_URL', directUrl], probeDatabase(directUrl, waiting))
  await probed(['DATABASE_URL', url], probePooler(url, identity, waiting))
  return { url: directUrl, poolerUrl: url, close }
}

/**
 * Opens DATA_DIR. A command creates no database: it would answer for the service's, which is elsewhere, that there is
 * nothing in it.
 */
const openHome = async ({ databaseUrl, dataDir }: Config, creates: boolean): Promise<void> => {
  if (creates || databaseUrl || existsSync(dataDir)) await openDataDir(dataDir)
  if (databaseUrl || hasCluster(dataDir)) return
  checkNotInstalled(dataDir)
  if (!creates)
    throw new ConfigError([
      `There is no database in DATA_DIR ${dataDir}: set DATA_DIR, or DATABASE_URL, as the service has it.`,
    ])
}

/**
 * Starts the configured database: the operator's or the embedded one. A `service` runs the embedded one
 * exclusively; a command shares it with the process that runs it.
 */
const startDatabase = async (config: Config, log: Logger, service: boolean): Promise<Server> => {
  const { databaseUrl, dataDir } = config
  if (databaseUrl) return reachDatabase(databaseUrl, config, log)
  const unlock = service ? await lockDataDir(dataDir) : () => undefined
  try {
    const embedded = await startEmbedded({ dir: dataDir, log, supervise: service })
    const close = async () => {
      await (service ? embedded.stop() : embedded.release())
      unlock()
    }
    return { url: embedded.url, close }
  } catch (error) {
    unlock()
    throw error
  }
}

/** Opens the replica, for a service. */
const openReplica = async (
  { databaseReadUrl: url }: Config,
  { pool: primary }: Db,
  log: Logger,
): Promise<Replica | undefined> => {
  if (url === undefined) return undefined
  await probed(['DATABASE_READ_URL', url], probeReplica(url, primary))
  const replica = new Replica({ url, primary, log })
  replica.start()
  return replica
}

/** Whether tables are created and changed, and by whom. */
interface SchemaOptions {
  /** Runs the embedded database exclusively. */
  service: boolean
  /**
   * `always`: for the service, and for the command that does nothing else. `empty`: in a database in which there is
   * nothing yet, for a restore. Otherwise a command refuses another schema than its own: a service may run on it.
   */
  migrates?: 'always' | 'empty'
  /** See `migrate`. */
  fence?: boolean
}

/** Brings the database to the schema of this build, or refuses it, after checking the key. */
const prepareSchema = async (
  url: string,
  config: Config,
  log: Logger,
  { migrates, fence = false }: SchemaOptions,
): Promise<string[]> => {
  const { databaseUrl, databaseDirectUrl } = config
  const check = async (client: Queryable): Promise<void> => {
    if (databaseDirectUrl) await probed(['DATABASE_DIRECT_URL', databaseDirectUrl], probeServer(client))
    else if (databaseUrl) await probed(['DATABASE_URL', databaseUrl], probeServer(client))
    await refuseDistributed(client)
    await checkMasterKeys(config, client)
  }
  const isMigrated = migrates === 'always' || (migrates === 'empty' && (await isEmptyDatabase(url)))
  if (isMigrated) return migrate(url, MIGRATIONS, log, { fence, check })
  await requireSchema(url, check)
  return []
}

/** Opens the data folder, the keys and the database for the service or for a command beside it. */
export const openFoundation = async (
  config: Config,
  log: Logger,
  options: SchemaOptions,
): Promise<Foundation> => {
  const { service, migrates } = options
  await openHome(config, service || migrates !== undefined)
  const server = await startDatabase(config, log, service)
  let db: OpenDb | undefined
  try {
    const migrated = await untilAvailable(log, 'take its migrations', () =>
      prepareSchema(server.url, config, log, options),
    )
    const pooled = server.poolerUrl !== undefined
    const opened = await openDb(server.poolerUrl ?? server.url, { max: MAX_CONNECTIONS, log, pooled })
    db = opened
    const keys = await readMasterKeys(config)
    await untilAvailable(log, 'answer queries', () => checkPlan(opened, config.plan))
    const replica = service ? await openReplica(config, opened, log) : undefined
    const close = async ({ atOnce } = { atOnce: false }) => {
      if (!atOnce) {
        await replica?.close()
        await opened.close()
      }
      await server.close()
    }
    return { db: opened, databaseUrl: server.url, replica, migrated, ...keys, close }
  } catch (error) {
    await db?.close()
    await server.close()
    throw error
  }
}

/** Opens the database as it is, whatever its schema, for a look at it. */
export const openDatabase = async (config: Config, log: Logger): Promise<Pick<Server, 'close' | 'url'>> => {
  await openHome(config, false)
  return startDatabase(config, log, false)
}

/**
 * Creates the first workspace if the database is empty, and returns its owner's token, else null. The token
 * is written to DATA_DIR/owner-token before it is stored in the database, so that a crash in between cannot
 * lose it.
 */
export const welcomeOwner = async (config: Config, { db, masterKey }: Foundation): Promise<string | null> => {
  if ((await db.prisma.workspace.count()) > 0) {
    await markInstalled(config.dataDir)
    return null
  }
  checkNotInstalled(config.dataDir)
  const file = join(config.dataDir, 'owner-token')
  const existing = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  const ownerToken = config.ownerToken ?? (existing || newToken('member'))
  await writePrivate(file, `${ownerToken}\n`)
  const created = await createFirstWorkspace(
    { ...db, masterKey },
    { name: 'Workspace', ownerEmail: config.ownerEmail, ownerToken, plan: config.plan },
  )
  if (!created) rmSync(file)
  await markInstalled(config.dataDir)
  return created && ownerToken
}
