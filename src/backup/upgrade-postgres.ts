import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type pg from 'pg'
import { AppError, messageOf } from '../core/errors.ts'
import { type Logger, silentLogger } from '../core/logger.ts'
import { findBinaries } from '../db/embedded/binaries.ts'
import { checkMajor, findOtherMajor, majorOfBinaries, majorOfFolder } from '../db/embedded/other-major.ts'
import { putInPlace, removeLeftovers, swapFolders, workFolder } from '../db/embedded/swap.ts'
import { EmbeddedPostgresError, hasCluster, lockDataDir, startEmbedded } from '../db/embedded.ts'
import { migrate } from '../db/migrate.ts'
import { MIGRATIONS, readDifference, UnsuitableSchemaError } from '../db/schema.ts'
import { endChangePositions } from '../workspace/index.ts'
import { connectTo, scriptOf } from './dump.ts'
import { DumpReader } from './format.ts'
import { load, type Restored } from './restore.ts'
import { checksumOf, quoted, readMigrations, readSequences, readTables } from './tables.ts'

export interface Upgraded extends Partial<Restored> {
  /** The major version that the database has now. */
  postgres: number
  /** Whether this command has changed it. */
  upgraded: boolean
  /** The folder of the former database. */
  kept?: string
}

const MIB = 1024 * 1024
/** An empty database, and the largest amount of WAL before a checkpoint (`max_wal_size`). */
const EMPTY = 128 * MIB
const MOST_WAL = 2048 * MIB
const TELL_MS = 10_000

const refused = (message: string) => new AppError('conflict', message)

/** Checks what would make the last step fail, or fill the disk. */
const checkRoom = async (home: string, kept: string, client: pg.Client): Promise<void> => {
  if (existsSync(kept)) throw refused(`${kept} exists already: move it away, or remove it, and try again.`)
  if (statSync(join(home, 'pg')).dev !== statSync(home).dev)
    throw refused(`${join(home, 'pg')} is on another file system than ${home}: it cannot be replaced.`)
  const { rows } = await client.query<{ size: number }>(
    'select pg_database_size(current_database())::float8 as size',
  )
  const needed = rows[0]!.size + Math.min(rows[0]!.size, MOST_WAL) + EMPTY
  const { bavail, bsize } = await statfs(home)
  const inMib = (bytes: number) => `${Math.ceil(bytes / MIB)} MiB`
  if (bavail * bsize < needed)
    throw refused(
      `The disk of ${home} has ${inMib(bavail * bsize)} left, and ${inMib(needed)} are needed: the former database is kept beside the new one.`,
    )
}

/** Returns the migrations that were applied, all of which this release must have. */
const knownMigrations = async (client: pg.Client, home: string): Promise<string[]> => {
  const difference = await readDifference(client)
  if (!difference)
    throw refused(`The database is empty: remove ${join(home, 'pg')}, and the next start creates a new one.`)
  const { unknown } = difference
  if (unknown.length > 0)
    throw new UnsuitableSchemaError(
      `The database is of a later release (${unknown.length} more migrations): upgrade it with that one.`,
    )
  return readMigrations(client)
}

/**
 * Begins to read everything as it is now. Other sessions (a command of the former release) can read, and cannot write
 * until this one ends: what they wrote would be missing in the new database.
 */
const freeze = async (client: pg.Client): Promise<void> => {
  const tables = [...(await readTables(client)).map(({ name }) => name), '_prisma_migrations']
  await client.query(`set lock_timeout = '60s'`)
  await client.query('begin isolation level repeatable read read only')
  await client.query(`lock table ${tables.map(quoted).join(', ')} in share mode`)
}

const copy = async (from: pg.Client, to: pg.Client, log: Logger): Promise<Restored> => {
  let bytes = 0
  async function* counted(): AsyncGenerator<Buffer | string> {
    for await (const chunk of scriptOf(from, silentLogger)) {
      bytes += chunk.length
      yield chunk
    }
  }
  const telling = setInterval(() => log.info({ mebibytes: Math.round(bytes / MIB) }, 'copying'), TELL_MS)
  try {
    await to.query('begin')
    const copied = await load(to, new DumpReader(Readable.from(counted(), { objectMode: false })), log)
    await to.query('commit')
    await to.query('analyze')
    return copied
  } finally {
    clearInterval(telling)
  }
}

/** Throws unless both databases have the same rows, and go on counting at the same values. */
const compare = async (from: pg.Client, to: pg.Client, log: Logger): Promise<void> => {
  const differs = (what: string) => new Error(`${what} differs between the former and the new database`)
  for (const table of await readTables(from)) {
    const [before, after] = [await checksumOf(from, table), await checksumOf(to, table)]
    if (before !== after) throw differs(`the table ${table.name}`)
    log.info({ table: table.name }, 'table compared')
  }
  const counters = async (client: pg.Client) => JSON.stringify(await readSequences(client))
  if ((await counters(from)) !== (await counters(to))) throw differs('a sequence')
}

/** Makes the new database, with the tables as the former one has them: the next start migrates them, if it must. */
const build = async (home: string, from: pg.Client, log: Logger): Promise<Restored> => {
  const names = await knownMigrations(from, home)
  await freeze(from)
  log.info({ migrations: names.length }, 'creating the new database')
  const fresh = await startEmbedded({
    ...{ dir: workFolder(home), log, sameUserAs: join(home, 'pg') },
    settings: { fsync: 'off' }, // it is written to disk when it is complete
  })
  try {
    await migrate(fresh.url, MIGRATIONS, log, { names })
    const to = await connectTo(fresh.url, 'ams-upgrade')
    try {
      log.info({}, 'copying')
      const copied = await copy(from, to, log)
      log.info({}, 'comparing')
      await compare(from, to, log)
      // The transactions of the new database are counted from the beginning.
      await endChangePositions({ pool: to })
      // It gets the former password, so that each of the two can be put in the place of the other.
      const password = readFileSync(join(home, 'pg-password'), 'utf8')
      await to.query(`alter role current_user password ${to.escapeLiteral(password)}`)
      return copied
    } finally {
      await to.end()
    }
  } finally {
    await fresh.stop()
  }
}

const upgrade = async (
  home: string,
  given: string | undefined,
  log: Logger,
): Promise<Upgraded & { kept: string }> => {
  const found = majorOfFolder(join(home, 'pg'))!
  const kept = join(home, `pg-${found}`)
  const binaries = findOtherMajor(home, found, given)
  log.info({ postgres: found, programs: binaries.postgres }, 'starting the former PostgreSQL')
  const old = await startEmbedded({ dir: home, log, binaries })
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= old.stop()
    return stopping
  }
  try {
    const from = await connectTo(old.url, 'ams-upgrade')
    await checkRoom(home, kept, from)
    const copied = await build(home, from, log)
    log.info({}, 'replacing the former database')
    await swapFolders(home, kept, stop)
    return { postgres: majorOfFolder(join(home, 'pg'))!, upgraded: true, ...copied, kept }
  } finally {
    await stop() // with the session that reads
  }
}

/** Errors with a message for the operator. */
const isClear = (error: unknown): boolean =>
  [AppError, EmbeddedPostgresError, UnsuitableSchemaError].some((kind) => error instanceof kind)

/**
 * Brings the embedded database in `dir` to the major version of this release: everything is copied from the former
 * server to a new one, compared, and the folders are exchanged. Killed at any moment, nothing is lost: until the
 * exchange the former database is unchanged, and another run starts over; afterwards it completes the exchange.
 */
export const upgradePostgres = async (
  dir: string,
  { binaries: given, log }: { binaries: string | undefined; log: Logger },
): Promise<Upgraded> => {
  if (!hasCluster(dir))
    throw new EmbeddedPostgresError(`There is no embedded database in DATA_DIR ${dir}: nothing to upgrade.`)
  const home = realpathSync(dir)
  const unlock = await lockDataDir(home)
  try {
    const [ours, found] = [majorOfBinaries(await findBinaries()), majorOfFolder(join(home, 'pg'))]
    if (found === undefined) await putInPlace(home)
    else if (found > ours) checkMajor(home, await findBinaries())
    if (found === undefined || found === ours) return { postgres: ours, upgraded: found === undefined }
    await removeLeftovers(home, log)
    const upgraded = await upgrade(home, given, log)
    log.info(
      {},
      `the database is upgraded: start the service and, when all is well, remove the former one with rm -r ${upgraded.kept}`,
    )
    return upgraded
  } catch (error) {
    if (isClear(error)) throw error
    throw new EmbeddedPostgresError(
      `The upgrade was interrupted: ${messageOf(error)}. Nothing is lost: run it again.`,
      { cause: error },
    )
  } finally {
    if (majorOfFolder(join(home, 'pg')) !== undefined) await removeLeftovers(home, log)
    unlock()
  }
}
