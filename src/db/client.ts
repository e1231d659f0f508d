import type { Socket } from 'node:net'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import type { Logger } from '../core/logger.ts'
import { PrismaClient } from './generated/prisma/client.ts'
import { KeepingClient } from './kept-columns.ts'
import { SequentialClient } from './sequential-client.ts'
import type { Statement } from './sql/statement.ts'

/**
 * Raw SQL, as both a pool and an open transaction offer it: it returns rows only, without a row count or
 * connections.
 */
export interface Queryable {
  query<Row extends pg.QueryResultRow>(
    statement: string | Statement,
    values?: unknown[],
  ): Promise<{ rows: Row[] }>
}

/** The database, through Prisma and through raw SQL. */
export interface Statements {
  prisma: PrismaClient
  /** Raw SQL. An int8 is returned as a number if that is exact, else as its decimal digits. */
  pool: Queryable
  /** For reads that a replica may serve; not in a transaction, and usually there is none. */
  replica?: ReadReplica | undefined
  /** Whether it is a transaction: then nothing of it may go over another connection. */
  inTransaction?: boolean
}

/**
 * The database with what follows a commit. It may be a transaction (see `atomically`): its operations are then
 * committed or rolled back together.
 */
export interface Db extends Statements {
  /**
   * Runs what others notice (a notification, an event, mail) once everything before it is committed: after a
   * transaction's commit, in order, and never if it is rolled back; outside a transaction at once.
   */
  afterCommit(effect: () => void): void
}

/** See `Replica`. */
export interface ReadReplica {
  /** Runs reads, with a database that is as new as the primary. */
  read<T>(db: Db, run: (db: Db) => Promise<T>): Promise<T>
}

/** The database outside any transaction, with the connections that `prisma` and `pool` share. */
export interface RootDb extends Db {
  pool: pg.Pool
}

/** The database that this process has opened. */
export interface OpenDb extends RootDb {
  close(): Promise<void>
}

export interface DbOptions {
  /** Maximum number of connections of this process. */
  max: number
  log: Logger
  /**
   * Whether the URL leads to a pooler whose connections are shared between transactions (PgBouncer's transaction
   * mode). Session settings and named statements are not used then.
   */
  pooled?: boolean | undefined
}

/** How long a query or a transaction waits for a connection, in milliseconds. */
const CONNECTION_WAIT_MS = 5_000

const timeouts = {
  connectionTimeoutMillis: CONNECTION_WAIT_MS,
  idleTimeoutMillis: 30_000,
}

/** After this long without an answer, a server has disappeared: it ends statements itself after less. */
const SILENT_MS = 35_000

/**
 * Closes a connection whose server does not answer a query. The socket's one timer is enough for that: pg's own
 * `query_timeout` starts one for each query, which keeps its rows from being freed at once.
 * See docs/decisions.md#one-timer-per-socket.
 */
const endSilent = (client: pg.PoolClient): void => {
  const one = client as pg.PoolClient & { connection: { stream: Socket }; readyForQuery: boolean }
  const { stream } = one.connection
  stream.setTimeout(SILENT_MS)
  stream.on('timeout', () => {
    if (!one.readyForQuery) stream.destroy(new Error('Connection terminated: the server does not answer'))
  })
}

/** Settings of a session, which a pooler refuses: there they are its own or the role's. */
const sessionSettings = {
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 30_000, // a lost client must not keep a lane's row lock
}

/**
 * A connection behind a pooler, which prepares no named statements: the next transaction may be on a connection that
 * does not have them (PgBouncer before 1.21).
 */
class PooledClient extends SequentialClient {
  // biome-ignore lint/suspicious/noExplicitAny: pg declares an overload for each kind of statement
  override query(given: any, ...rest: unknown[]): any {
    const query = super.query as (...args: unknown[]) => unknown
    return query.call(this, given?.name === undefined ? given : { ...given, name: undefined }, ...rest)
  }
}

/** The type text[], which `pg.types.builtins` does not name. */
const TEXT_ARRAY: number = 1009

const readInt8 = (digits: string): number | string => {
  const value = Number(digits)
  return Number.isSafeInteger(value) ? value : digits
}

/** Elements without quotes, null or nested arrays. */
const PLAIN_ARRAY = /^\{(?!.*\bNULL\b)[^"{}]*\}$/s
const parseArray = pg.types.getTypeParser(TEXT_ARRAY, 'text') as (literal: string) => (string | null)[]

/** Parses a text[]. The usual ones are split directly, faster than by pg's parser. See docs/decisions.md#column-parsers. */
const readTexts = (literal: string): (string | null)[] => {
  if (literal === '{}') return []
  return PLAIN_ARRAY.test(literal) ? literal.slice(1, -1).split(',') : parseArray(literal)
}

/** UTC is the time zone of the embedded database. */
const UTC_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00$/
const parseTime = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ, 'text') as (text: string) => Date

/** Parses a timestamptz: in UTC by JavaScript's own parser, which is faster than pg's. See docs/decisions.md#column-parsers. */
const readTime = (text: string): Date =>
  UTC_TIME.test(text) ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : parseTime(text)

/** Parses json and jsonb, of which most values in a list are empty. See docs/decisions.md#column-parsers. */
const readJson = (text: string): unknown => {
  if (text === '[]') return []
  return text === '{}' ? {} : JSON.parse(text)
}

const readers = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.JSON, readJson],
  [pg.types.builtins.JSONB, readJson],
  [pg.types.builtins.INT8, readInt8],
  [TEXT_ARRAY, readTexts],
  [pg.types.builtins.TIMESTAMPTZ, readTime],
])

/**
 * Parses int8 as a number, and everything else to the same values as pg does. For one pool or client, not for
 * the whole process.
 */
const rawTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && readers.get(oid)) ||
    pg.types.getTypeParser(oid, format ?? 'text')) as typeof pg.types.getTypeParser,
}

/** Opens a pool for raw SQL. Connects at the first query. */
export const openPool = (url: string, options: pg.PoolConfig = {}): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'ams',
    types: rawTypes,
    Client: KeepingClient,
    ...timeouts,
    ...options,
  })
  // An 'error' event without a listener ends the process: a client in use emits it itself.
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
    endSilent(client)
  })
  return pool
}

/**
 * Opens a pool that Prisma and raw SQL share. Connects at the first query. While the database is unavailable,
 * queries fail (`isUnavailable`), but the process does not; they succeed again as soon as it is back. `close`
 * waits for running queries.
 */
export async function openDb(url: string, { max, log, pooled = false }: DbOptions): Promise<OpenDb> {
  const pool = openPool(url, { max, ...(pooled ? { Client: PooledClient } : sessionSettings) })
  let closing = false
  // `pool.end()` does not wait for sockets, so errors may still arrive from an embedded database that stops
  // right after it.
  const onError = (error: Error) => {
    if (!closing) log.warn({ error: error.message }, 'database connection lost')
  }
  pool.on('error', onError) // of idle connections
  const adapter = new PrismaPg(pool, { onPoolError: () => undefined, onConnectionError: onError })
  const prisma = new PrismaClient({
    adapter,
    errorFormat: 'minimal',
    transactionOptions: { maxWait: CONNECTION_WAIT_MS },
  })
  return {
    prisma,
    pool,
    afterCommit: (effect) => effect(),
    async close() {
      closing = true
      await prisma.$disconnect()
      await pool.end()
    },
  }
}

export { isUnavailable } from './unavailable.ts'
