import type pg from 'pg'
import { systemClock } from '../core/clock.ts'
import { AppError, messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { type Db, isUnavailable, openPool, type Queryable, type ReadReplica } from './client.ts'

/**
 * Where a read went: the `replica`, or the primary because the replica is `behind`, is `down` (it cannot be reached,
 * or follows nobody), or could not finish the read (`failed`: PostgreSQL cancels reads that hold up replication).
 */
export type ReadOutcome = 'replica' | 'behind' | 'down' | 'failed'
type Reason = Exclude<ReadOutcome, 'replica' | 'failed'>

export interface ReplicaOptions {
  url: string
  primary: Queryable
  log: Logger
}

const MAX_CONNECTIONS = 10
/** For a server that does not answer. Nobody waits for it twice: see `#leave`. */
const CONNECT_MS = 1000
/** How long a read waits for the replica to catch up, how often it looks, and when a left replica is tried again. */
const WAIT_MS = 100
const POLL_MS = 3
const RETRY_MS = 1000

/** What has been committed and acknowledged by now is in the log up to here. */
const PRIMARY = { name: 'primary position', text: 'select pg_current_wal_flush_lsn()::text as position' }

/** `follows` is false for a server that was promoted, or that does not stream from another one. */
const REACHED = {
  name: 'replica position',
  text: `select pg_is_in_recovery() and exists (select from pg_stat_wal_receiver) as follows,
                coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) as reached`,
}

const IDENTITY = 'select system_identifier || current_database() as identity from pg_control_system()'

/** One statement at a time, as a pool's client wants it. */
const inTurn = (client: Queryable): Queryable => {
  let last: Promise<unknown> = Promise.resolve()
  return {
    query: (statement, values) => {
      const next = last.then(() => client.query(statement as string, values))
      last = next.catch(() => undefined)
      return next as never
    },
  }
}

/**
 * A streaming replica of the database, for reads that cost much. They are never stale: a read asks the primary for the
 * position of its log, and runs on the replica only when that has replayed as much. So it sees whatever any
 * process had acknowledged before the read began: the caller's own writes, events that a listener was told of, and
 * deletions, which are complete for every reader when they are answered. A bound in seconds would break that, and
 * remembering who wrote what would have to be told to all processes in time.
 *
 * The question to the primary reads no table, and reads that begin at the same time share it. The replica is asked on
 * the connection that then reads, so that several replicas may be behind one address. Whenever it cannot be used, reads
 * go to the primary.
 */
export class Replica implements ReadReplica {
  readonly #options: ReplicaOptions
  readonly #pool: pg.Pool
  readonly #stopping = new AbortController()
  /** Connections to a server that has the primary's identity. */
  readonly #verified = new WeakSet<object>()
  #identity: string | undefined
  /** The next question to the primary, which has not been sent yet. */
  #position: Promise<string> | undefined
  /** Why reads go to the primary; null while they go to the replica. */
  #unused: Reason | null = 'down'
  /** Whether that was logged. */
  #told = false
  #retrying: Promise<void> | undefined
  #onRead: (outcome: ReadOutcome) => void = () => undefined

  constructor(options: ReplicaOptions) {
    this.#options = options
    this.#pool = openPool(options.url, {
      max: MAX_CONNECTIONS,
      connectionTimeoutMillis: CONNECT_MS,
      statement_timeout: 30_000,
    })
    this.#pool.on('error', () => undefined) // the next read finds out
  }

  /** Whether reads go to the replica at the moment. */
  get isUsed(): boolean {
    return this.#unused === null
  }

  onRead(listener: (outcome: ReadOutcome) => void): void {
    this.#onRead = listener
  }

  /** Begins to look for the replica. Reads go to the primary until it is found. */
  start(): void {
    this.#retrying ??= this.#retry(0)
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#retrying
    await this.#pool.end()
  }

  async read<T>(db: Db, run: (db: Db) => Promise<T>): Promise<T> {
    const outcome = this.#unused ?? (await this.#tryRead(db, run))
    if (typeof outcome === 'object') return outcome.result
    this.#onRead(outcome)
    return run(db)
  }

  /** Reads from the replica, or returns why not. */
  async #tryRead<T>(
    db: Db,
    run: (db: Db) => Promise<T>,
  ): Promise<{ result: T } | Exclude<ReadOutcome, 'replica'>> {
    try {
      return await this.#withCurrent(async (client) => {
        const result = await run({ ...db, pool: inTurn(client), replica: undefined })
        this.#onRead('replica')
        return { result }
      })
    } catch (error) {
      if (error instanceof AppError) throw error
      // A statement that is wrong, or that was cancelled, says nothing about the replica. The primary repeats it.
      if (!isUnavailable(error)) return 'failed'
      return this.#leave('down', error)
    }
  }

  /** Runs `use` with a connection on which the replica has caught up; or stops using it, and returns why. */
  async #withCurrent<T>(use: (client: Queryable) => Promise<T>): Promise<T | Reason> {
    const position = await this.#primaryPosition()
    const client = await this.#pool.connect()
    let broken = true
    try {
      const reason = await this.#behindOrDown(client, position)
      const result = reason ? this.#leave(reason) : await use(client)
      broken = false
      return result
    } finally {
      client.release(broken)
    }
  }

  /** Waits until the replica has replayed the log up to `position`. Returns why not, or null. */
  async #behindOrDown(client: Queryable, position: string): Promise<Reason | null> {
    if (!this.#verified.has(client)) {
      this.#identity ??= await identityOf(this.#options.primary)
      if ((await identityOf(client)) !== this.#identity) return 'down'
      this.#verified.add(client)
    }
    for (const until = performance.now() + WAIT_MS; ; await systemClock.sleep(POLL_MS)) {
      const { rows } = await client.query<{ follows: boolean; reached: boolean }>({
        ...REACHED,
        values: [position],
      })
      if (!rows[0]!.follows) return 'down'
      if (rows[0]!.reached) return null
      if (performance.now() > until) return 'behind'
    }
  }

  /** The primary's position. Reads that ask before the statement is sent share it: an earlier one may be too old. */
  #primaryPosition(): Promise<string> {
    this.#position ??= new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
      this.#position = undefined
      return (await this.#options.primary.query<{ position: string }>(PRIMARY)).rows[0]!.position
    })
    return this.#position
  }

  /** Sends reads to the primary until the replica can be used again. */
  #leave(reason: Reason, error?: unknown): Reason {
    const wasUsed = this.#unused === null
    this.#unused = reason
    if (!this.#told) {
      const why = error ? { reason, error: messageOf(error) } : { reason }
      this.#options.log.warn(why, 'the read replica is not used; lists and searches read the primary')
    }
    this.#told = true
    if (wasUsed) this.#retrying = this.#retry(RETRY_MS)
    return reason
  }

  async #retry(afterMs: number): Promise<void> {
    const { signal } = this.#stopping
    for (let wait = afterMs; ; wait = RETRY_MS) {
      await systemClock.sleep(wait, signal)
      if (signal.aborted) return
      try {
        if ((await this.#withCurrent(async () => 'current' as const)) !== 'current') continue
        this.#unused = null
        this.#told = false
        this.#options.log.info({}, 'lists and searches read the replica')
        return
      } catch (error) {
        this.#leave('down', error)
      }
    }
  }
}

/** Identifies the database: the same for a primary and its replicas. */
export const identityOf = async (server: Queryable): Promise<string> =>
  (await server.query<{ identity: string }>(IDENTITY)).rows[0]!.identity

/**
 * Runs reads that may run on a replica. They must not belong to a transaction, and see whatever was acknowledged
 * before.
 */
export const readAnywhere = <T>(db: Db, run: (db: Db) => Promise<T>): Promise<T> =>
  db.replica ? db.replica.read(db, run) : run(db)

/** Returns how many bytes of the log the server at `url` has not replayed, or what is wrong with it, as a clause. */
export const replicaLag = async (
  url: string,
  primary: Queryable,
): Promise<{ bytes: number; problem: string | null }> => {
  const pool = openPool(url, { max: 1, connectionTimeoutMillis: 5_000 })
  pool.on('error', () => undefined)
  try {
    if ((await identityOf(pool)) !== (await identityOf(primary)))
      return { bytes: 0, problem: 'is another database than that of DATABASE_URL' }
    const { position } = (await primary.query<{ position: string }>(PRIMARY)).rows[0]!
    const { rows } = await pool.query<{ follows: boolean; bytes: number }>(
      `select pg_is_in_recovery() and exists (select from pg_stat_wal_receiver) as follows,
              greatest(0, pg_wal_lsn_diff($1::pg_lsn, pg_last_wal_replay_lsn()))::float8 as bytes`,
      [position],
    )
    const { follows, bytes } = rows[0]!
    return { bytes, problem: follows ? null : 'does not follow the primary' }
  } finally {
    await pool.end()
  }
}
