import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import type { Logger } from '../core/logger.ts'
import { PrismaClient } from './generated/prisma/client.ts'

export interface Statement {
  /** With a name it is prepared once for each connection. */
  name?: string
  text: string
  values?: unknown[]
}

/** Raw SQL, as a pool and an open transaction both answer it: rows, no count of rows, no connections. */
export interface Queryable {
  query<Row extends pg.QueryResultRow>(
    statement: string | Statement,
    values?: unknown[],
  ): Promise<{ rows: Row[] }>
}

/**
 * One database, two ways to speak to it. It may be a transaction (see `within`): what uses it is committed or
 * undone with it.
 */
export interface Db {
  prisma: PrismaClient
  /** Raw SQL. int8 comes as a number as long as that is exact, else as its decimal digits. */
  pool: Queryable
}

/** The database outside any transaction, with the connections that `prisma` and `pool` share. */
export interface RootDb extends Db {
  pool: pg.Pool
}

export interface DbOptions {
  /** Most connections of this process. */
  max: number
  log: Logger
}

const timeouts = {
  connectionTimeoutMillis: 5000,
  idleTimeoutMillis: 30_000,
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 30_000, // a lost client must not keep a lane's row lock
  query_timeout: 35_000, // longer than the server's own: for a server that has gone without a word
}

const readInt8 = (digits: string): number | string => {
  const value = Number(digits)
  return Number.isSafeInteger(value) ? value : digits
}

/** Reads int8 as a number, everything else as pg does. For one pool or client, not for the whole process. */
const rawTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 && format !== 'binary'
      ? readInt8
      : pg.types.getTypeParser(oid, format ?? 'text')) as typeof pg.types.getTypeParser,
}

/**
 * Opens a pool that Prisma and raw SQL share. Nothing connects before the first query, and a database that
 * goes away makes queries fail (`isUnavailable`), never the process; it is used again as soon as it is back.
 * `close` waits for what is in hand.
 */
export async function openDb(
  url: string,
  { max, log }: DbOptions,
): Promise<RootDb & { close(): Promise<void> }> {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'ams',
    types: rawTypes,
    ...timeouts,
  })
  let closing = false
  // `pool.end()` does not wait for sockets: an embedded database that stops right after it may still be heard
  // breaking them off.
  const onError = (error: Error) => {
    if (!closing) log.warn({ error: error.message }, 'a connection to the database was lost')
  }
  // An 'error' event without a listener ends the process: the pool reports idle connections, a client in use
  // reports itself.
  pool.on('error', onError)
  pool.on('connect', (client) => client.on('error', () => undefined))
  const adapter = new PrismaPg(pool, { onPoolError: () => undefined, onConnectionError: onError })
  const prisma = new PrismaClient({ adapter, errorFormat: 'minimal' })
  return {
    prisma,
    pool,
    async close() {
      closing = true
      await prisma.$disconnect()
      await pool.end()
    },
  }
}

export { isUnavailable } from './unavailable.ts'
