import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { Logger } from '../core/logger.ts'
import { WITHOUT_LIMITS } from '../db/session-limits.ts'
import { describe, END } from './format.ts'
import { quoted, readMigrations, readSequences, readTables, type Table } from './tables.ts'

export interface Dumped {
  file: string
  tables: number
  rows: number
  bytes: number
}

/** Yields the rows of a table as COPY writes them, and their number at the end. */
async function* rowsOf(client: pg.Client, { name, columns }: Table): AsyncGenerator<Buffer, number> {
  const list = columns.map(quoted).join(', ')
  const stream = client.query(copyTo(`copy (select ${list} from ${quoted(name)}) to stdout`))
  yield* stream as AsyncIterable<Buffer>
  return stream.rowCount
}

/** Connects without the time limits of a service: a table may take minutes. */
export const connectTo = async (url: string, name: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url, application_name: name })
  client.on('error', () => undefined) // the interrupted query rejects
  await client.connect()
  await client.query(WITHOUT_LIMITS)
  return client
}

/** Yields a dump of everything that the client sees, and how much it was at the end. */
export async function* scriptOf(
  client: pg.Client,
  log: Logger,
): AsyncGenerator<Buffer | string, Pick<Dumped, 'tables' | 'rows'>> {
  const total = { tables: 0, rows: 0 }
  const tables = await readTables(client)
  yield describe({
    format: 'agent-messaging dump',
    migrations: await readMigrations(client),
    tables,
    sequences: await readSequences(client),
  })
  for (const table of tables) {
    yield `copy ${quoted(table.name)} (${table.columns.map(quoted).join(', ')}) from stdin;\n`
    const rows = yield* rowsOf(client, table)
    yield END
    total.tables++
    total.rows += rows
    if (rows > 0) log.info({ table: table.name, rows }, 'table dumped')
  }
  return total
}

/**
 * Writes everything that is stored to `file`, as it was at one moment, beside running services; compressed if
 * its name ends with .gz. The file appears when it is complete, and only its owner can read it. It does not
 * contain the master key. Throws when there is such a file already.
 */
export const dump = async (url: string, file: string, log: Logger): Promise<Dumped> => {
  const client = await connectTo(url, 'ams-dump')
  const partial = `${file}.partial`
  const total = { tables: 0, rows: 0 }
  async function* script(): AsyncGenerator<Buffer | string> {
    Object.assign(total, yield* scriptOf(client, log))
  }
  try {
    await client.query('begin isolation level repeatable read read only')
    const output = createWriteStream(partial, { mode: 0o600, flush: true })
    const source = Readable.from(script(), { objectMode: false })
    await (file.endsWith('.gz') ? pipeline(source, createGzip(), output) : pipeline(source, output))
    await rename(partial, file)
    return { file, ...total, bytes: (await stat(file)).size }
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  } finally {
    await client.end()
  }
}
