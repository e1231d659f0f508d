import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { AppError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { namesHere } from '../db/schema.ts'
import { skipLostIds } from '../event/index.ts'
import { endChangePositions, readKeyTest } from '../workspace/index.ts'
import { connectTo } from './dump.ts'
import { type Description, DumpError, DumpReader, parseDescription } from './format.ts'
import { quoted, readMigrations, readTables, type Table } from './tables.ts'

export interface Restored {
  tables: number
  rows: number
}

const refused = (message: string) => new AppError('conflict', message)

const GZIP = Buffer.from([0x1f, 0x8b])

const contentOf = async (file: string): Promise<AsyncIterable<Buffer>> => {
  const handle = await open(file)
  const head = Buffer.alloc(GZIP.length)
  await handle.read(head, 0, head.length, 0).finally(() => handle.close())
  const bytes = createReadStream(file)
  if (!head.equals(GZIP)) return bytes as AsyncIterable<Buffer>
  const unpacked = createGunzip()
  bytes.on('error', (error) => unpacked.destroy(error))
  return bytes.pipe(unpacked) as AsyncIterable<Buffer>
}

/** Throws unless the dump fits the database: the same migrations, and the same tables and columns. */
const checkFit = async (client: pg.Client, { tables, ...dump }: Description): Promise<void> => {
  const migrations = namesHere(dump.migrations)
  const applied = await readMigrations(client)
  const missing = applied.filter((name) => !migrations.includes(name))
  const unknown = migrations.filter((name) => !applied.includes(name))
  const advice = 'Restore it with the version that made it, and upgrade then.'
  if (unknown.length > 0)
    throw refused(`The dump is of a newer version (${unknown.length} more migrations). ${advice}`)
  if (missing.length > 0)
    throw refused(`The dump is of an older version (${missing.length} fewer migrations). ${advice}`)
  const shapes = (all: readonly Table[]) =>
    new Map(all.map(({ name, columns }) => [name, [...columns].sort().join()]))
  const [theirs, ours] = [shapes(tables), shapes(await readTables(client))]
  const differing = [...new Set([...theirs.keys(), ...ours.keys()])].filter(
    (name) => theirs.get(name) !== ours.get(name),
  )
  if (differing.length > 0)
    throw refused(
      `These tables are not as the migrations make them: ${differing.join(', ')}. Remove from the original what is not the service's, or start its version once, which completes a migration.`,
    )
}

const ensureEmpty = async (client: pg.Client): Promise<void> => {
  const { rows } = await client.query<{ used: boolean }>('select exists (select from workspace) as used')
  if (rows[0]!.used)
    throw refused('The database is not empty. Restore into a new one: another DATA_DIR or DATABASE_URL.')
}

const checkKey = async (client: pg.Client, keys: readonly Uint8Array[]): Promise<void> => {
  const opens = await readKeyTest(client)
  if (opens?.(keys) === false)
    throw refused(
      'The master key is not the one of the dump: put its master.key into DATA_DIR, or set MASTER_KEY, and try again.',
    )
}

/**
 * Loads a dump, within the client's transaction, into a database with the same migrations. What those inserted is
 * replaced.
 */
export const load = async (client: pg.Client, reader: DumpReader, log: Logger): Promise<Restored> => {
  const description = parseDescription(await reader.line())
  await checkFit(client, description)
  const total = { tables: 0, rows: 0 }
  // What migrations inserted (the plans) is in the dump too.
  await client.query(`truncate ${description.tables.map(({ name }) => quoted(name)).join(', ')}`)
  for (const { name, columns } of description.tables) {
    await reader.line() // the statement for psql; ours is made of names that were checked
    const copy = client.query(copyFrom(`copy ${quoted(name)} (${columns.map(quoted).join(', ')}) from stdin`))
    await pipeline(Readable.from(reader.rows(), { objectMode: false }), copy)
    total.tables++
    total.rows += copy.rowCount
    if (copy.rowCount > 0) log.info({ table: name, rows: copy.rowCount }, 'table restored')
  }
  for (const { name, value } of description.sequences)
    await client.query('select setval(quote_ident($1)::regclass, $2)', [name, value])
  return total
}

/**
 * Restores a dump into an empty database with the same migrations: everything or, if anything is wrong (an
 * incomplete file, another master key), nothing. Throws `conflict` with the reason.
 */
export const restore = async (
  { url, keys, log }: { url: string; keys: readonly Uint8Array[]; log: Logger },
  file: string,
): Promise<Restored> => {
  const client = await connectTo(url, 'ams-restore')
  try {
    await client.query('begin')
    await ensureEmpty(client)
    const restored = await load(client, new DumpReader(await contentOf(file)), log)
    await checkKey(client, keys)
    await skipLostIds({ pool: client })
    await endChangePositions({ pool: client })
    await client.query('commit')
    await client.query('analyze')
    return restored
  } catch (error) {
    throw error instanceof DumpError ? refused(error.message) : error
  } finally {
    await client.end() // rolls back what was not committed
  }
}
