import pg from 'pg'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { Queryable } from './client.ts'
import { identityOf } from './replica.ts'
import { isUnavailable } from './unavailable.ts'

const POOLER = 'it is a pooler: set DATABASE_DIRECT_URL to the URL of the PostgreSQL behind it'

/** During a failover it is promoted, or the name leads to another server soon. */
const STANDBY = 'it is a standby, which only reads'

/** Reasons for refused connections, by SQLSTATE, with a remedy. */
const ADVICE: Readonly<Record<string, string>> = {
  '28000': 'it refuses this role, or the role does not exist',
  '28P01': 'the role or its password is wrong',
  '3D000': 'the database does not exist; create it first',
}

/**
 * The operator's database cannot be used. The message is the reason, as a clause, without any part of the
 * URL.
 */
export class UnusableDatabaseError extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause })
    this.name = 'UnusableDatabaseError'
  }

  /** Whether it may become usable without a change of settings. */
  get isAway(): boolean {
    return this.message === STANDBY || (this.message !== POOLER && isUnavailable(this.cause))
  }
}

const reasonOf = (error: unknown): string => {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  if (message.includes('unsupported startup parameter')) return POOLER
  if (message.includes('password must be a')) return 'it asks for a password, and the URL has none'
  return ADVICE[code] ?? (message || code) // an error for several refused addresses has a code and no message
}

interface Server {
  standby: boolean
  /** Whether this role may create tables: the service migrates the database itself. */
  creates: boolean
  /** The `statement_timeout` of the session. */
  timeout: string
  /** The same for every connection to the same database of the same server. */
  identity: string
}

const QUERY = `SELECT pg_is_in_recovery() AS standby, coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS creates,
  current_setting('statement_timeout') AS timeout, extract(epoch FROM pg_postmaster_start_time()) || current_database() AS identity`

const TIMEOUT = { milliseconds: 29_999, setting: '29999ms' }

const probing = { connectionTimeoutMillis: 5000, query_timeout: 5000, application_name: 'ams-reach' }

async function ask(url: string, settings: pg.ClientConfig): Promise<Server> {
  let client: pg.Client | undefined
  try {
    client = new pg.Client({ ...probing, connectionString: url, ...settings }) // reads the files that the URL names
    client.on('error', () => undefined) // the interrupted query rejects
    await client.connect()
    const server = (await client.query<Server>(QUERY)).rows[0]!
    if (server.standby) throw new UnusableDatabaseError(STANDBY)
    return server
  } catch (error) {
    if (error instanceof UnusableDatabaseError) throw error
    throw new UnusableDatabaseError(reasonOf(error), error)
  } finally {
    void client?.end().catch(() => undefined)
  }
}

/** What waiting for a database that cannot be reached yet needs. */
export interface Waiting {
  clock: Clock
  log: Logger
}

/** A database is often started together with the service, and a new one takes a while. */
const PATIENCE_MS = 30_000
const RETRY_MS = 500

/** Asks until the database can be reached, but not for longer than `PATIENCE_MS`. */
async function askPatiently(
  { clock, log }: Waiting,
  url: string,
  settings: pg.ClientConfig,
): Promise<Server> {
  const deadline = clock.now().getTime() + PATIENCE_MS
  for (let told = false; ; told = true) {
    try {
      return await ask(url, settings)
    } catch (error) {
      const { message, isAway } = error as UnusableDatabaseError
      if (!isAway || clock.now().getTime() >= deadline) throw error
      if (!told)
        log.warn(
          { error: message },
          `the database cannot be reached; waiting for it for up to ${PATIENCE_MS / 1000} s`,
        )
      await clock.sleep(RETRY_MS)
    }
  }
}

const asked = (url: string, waiting: Waiting | undefined, settings: pg.ClientConfig = {}): Promise<Server> =>
  waiting ? askPatiently(waiting, url, settings) : ask(url, settings)

/**
 * Checks that the database at `url` responds, accepts the login and can be migrated. With `waiting`, waits for
 * one that cannot be reached yet. Returns what identifies the database. Throws `UnusableDatabaseError`.
 */
export async function probeDatabase(url: string, waiting?: Waiting): Promise<string> {
  const server = await asked(url, waiting, { statement_timeout: TIMEOUT.milliseconds })
  if (server.timeout !== TIMEOUT.setting) throw new UnusableDatabaseError(POOLER)
  if (!server.creates)
    throw new UnusableDatabaseError('the role may not create tables in its schema (GRANT CREATE ON SCHEMA)')
  return server.identity
}

/** Checks, likewise, that the pooler at `url` leads to the database that `probeDatabase` identified. */
export async function probePooler(url: string, identity: string, waiting?: Waiting): Promise<void> {
  if ((await asked(url, waiting)).identity !== identity)
    throw new UnusableDatabaseError('it leads to another database than DATABASE_DIRECT_URL')
}

/**
 * Checks that the server at `url`, if it can be reached, is a replica of `primary`. It may be down: the service
 * does without it then.
 */
export async function probeReplica(url: string, primary: Queryable): Promise<void> {
  let client: pg.Client | undefined
  try {
    client = new pg.Client({ ...probing, connectionString: url })
    client.on('error', () => undefined) // the interrupted query rejects
    await client.connect()
    if ((await identityOf(client)) !== (await identityOf(primary)))
      throw new UnusableDatabaseError('it is another database than that of DATABASE_URL')
    const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby')
    if (!rows[0]?.standby) throw new UnusableDatabaseError('it is not a replica: it accepts changes')
  } catch (error) {
    if (error instanceof UnusableDatabaseError) throw error
    if (!isUnavailable(error)) throw new UnusableDatabaseError(reasonOf(error), error)
  } finally {
    void client?.end().catch(() => undefined)
  }
}

/** The oldest release that PostgreSQL's developers still maintain. */
export const OLDEST_VERSION = 14

const SERVER = `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
  current_setting('server_encoding') as encoding`

/** Checks that the server can have the tables of the service. Throws `UnusableDatabaseError`. */
export async function probeServer(client: Queryable): Promise<void> {
  const { rows } = await client.query<{ version: string; number: number; encoding: string }>(SERVER)
  const { version, number, encoding } = rows[0]!
  if (number < OLDEST_VERSION * 10_000)
    throw new UnusableDatabaseError(`its version ${version} is too old; it needs ${OLDEST_VERSION} or newer`)
  if (encoding !== 'UTF8')
    throw new UnusableDatabaseError(
      `its encoding is ${encoding}; create one with createdb --encoding UTF8 --template template0`,
    )
}
