import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from '../core/logger.ts'
import { type Cluster, type ClusterOptions, openCluster, type Running } from './embedded/cluster.ts'
import { EmbeddedPostgresError } from './embedded/error.ts'
import { LockHeldError, takeLock } from './embedded/lock.ts'
import { isAlive, stopAtExit, terminate } from './embedded/process.ts'

export { EmbeddedPostgresError } from './embedded/error.ts'
export { hasCluster, OtherMajorError } from './embedded/other-major.ts'

const DATABASE = 'ams'
/**
 * Time in milliseconds to wait for another process's initdb, which takes long on a busy machine, or for the remains of
 * a killed server to disappear.
 */
const START_TIMEOUT_MS = 60_000
const TELL_MS = 10_000

/** Another service runs on this DATA_DIR: exit code 2. */
export class DataDirInUseError extends Error {
  constructor(dir: string, pid: number) {
    super(
      `DATA_DIR ${dir} is in use by another service (process ${pid}). Stop that one, or give this one a DATA_DIR of its own.`,
    )
    this.name = 'DataDirInUseError'
  }
}

/**
 * Creates DATA_DIR with mode 0711: PostgreSQL's user must be able to pass through it, but not to list it or
 * write to it. A folder with other content keeps its mode. Returns its real path.
 */
function prepareDataDir(dir: string): string {
  mkdirSync(dir, { recursive: true, mode: 0o711 })
  const names = readdirSync(dir)
  const ours = names.length === 0 || existsSync(join(dir, 'pg')) || existsSync(join(dir, 'service.lock'))
  if (ours && statSync(dir).uid === (process.getuid?.() ?? -1)) chmodSync(dir, 0o711)
  return realpathSync(dir)
}

/**
 * Makes this process the only service on `dir`, until the returned function is called or the process exits.
 * Throws `DataDirInUseError`.
 */
export async function lockDataDir(dir: string): Promise<() => void> {
  const home = prepareDataDir(dir)
  try {
    return await takeLock(join(home, 'service.lock'), 0)
  } catch (error) {
    throw error instanceof LockHeldError ? new DataDirInUseError(home, error.pid) : error
  }
}

export interface EmbeddedPostgres {
  /**
   * URL of the service's own database. It stays the same while this process runs, even when PostgreSQL is
   * restarted.
   */
  readonly url: string
  readonly port: number
  /** Process id of the current server. */
  readonly pid: number
  /** Whether it was already running. */
  readonly attached: boolean
  /** Stops the server. Its clients are disconnected; committed data is safe. Drain the service first. */
  stop(): Promise<void>
  /**
   * Leaves the server to its other clients, and stops it when there are none: for a command beside a service.
   */
  release(): Promise<void>
}

export interface EmbeddedOptions extends Partial<ClusterOptions> {
  /** DATA_DIR; created if it does not exist. */
  dir: string
  log: Logger
  /** Whether to restart PostgreSQL when it exits unexpectedly. */
  supervise?: boolean
}

async function createDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE])
    if (rowCount === 0) await client.query(`CREATE DATABASE "${DATABASE}"`)
  } finally {
    await client.end()
  }
}

async function otherClients(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { rows } = await client.query<{ count: string }>(
      `SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    )
    return Number(rows[0]?.count)
  } finally {
    await client.end()
  }
}

/**
 * Retries for a while: after a kill -9 of the server, its last backends hold the shared memory for a moment.
 */
async function startWithRetries(cluster: Cluster, log: Logger): Promise<Running> {
  const deadline = performance.now() + START_TIMEOUT_MS
  for (let pause = 100; ; pause = Math.min(pause * 2, 2000)) {
    try {
      return await cluster.up(0)
    } catch (error) {
      const passing =
        error instanceof EmbeddedPostgresError && /shared memory|postmaster\.pid|in use/i.test(error.message)
      if (!passing || performance.now() > deadline) throw error
      log.warn({ error: error.message }, 'PostgreSQL cannot start yet; retrying')
      await sleep(pause)
    }
  }
}

/** Monitors the current server, and restarts it until stopped. */
class Keeper {
  readonly #cluster: Cluster
  readonly #log: Logger
  #running: Running
  #stopping = false
  #restart: Promise<void> | undefined
  #watch: NodeJS.Timeout | undefined
  #keepAtExit: () => void = () => undefined

  constructor(cluster: Cluster, log: Logger, running: Running, supervise: boolean) {
    this.#cluster = cluster
    this.#log = log
    this.#running = running
    if (supervise) this.#follow(running)
  }

  get running(): Running {
    return this.#running
  }

  #follow(server: Running): void {
    if (server.child) server.child.once('exit', () => this.#lost())
    else this.#followAttached(server.pid)
    if (!isAlive(server.pid)) this.#lost()
  }

  /** A server that was already running is not a child process, so poll it. */
  #followAttached(pid: number): void {
    this.#keepAtExit = stopAtExit(pid)
    this.#watch = setInterval(() => isAlive(pid) || this.#lost(), 250).unref()
  }

  #lost(): void {
    clearInterval(this.#watch)
    this.#keepAtExit()
    if (this.#stopping || this.#restart) return
    this.#log.error({ postgres: this.#running.pid }, 'PostgreSQL exited unexpectedly; restarting it')
    this.#restart = this.#startAgain().then(() => {
      this.#restart = undefined
      if (!this.#stopping) this.#follow(this.#running)
    })
  }

  async #startAgain(): Promise<void> {
    const { port } = this.#running
    for (let pause = 50; !this.#stopping; pause = Math.min(pause * 2, 5000)) {
      try {
        // the same port, because every connection string of this process contains it
        const server = await this.#cluster.up(port)
        if (server.port !== port)
          throw new EmbeddedPostgresError(`another process started PostgreSQL on port ${server.port}`)
        this.#running = server
        this.#log.info({ postgres: server.pid }, 'PostgreSQL restarted')
        return
      } catch (error) {
        this.#log.error({ error: (error as Error).message }, 'could not restart PostgreSQL; retrying')
        await sleep(pause)
      }
    }
  }

  /** Lets the server go on when this process exits. */
  keepAtExit(): void {
    this.#keepAtExit()
    this.#running.keepAtExit()
  }

  /** Prevents further restarts; resolves when none is in progress. */
  async leave(): Promise<void> {
    this.#stopping = true
    clearInterval(this.#watch)
    await this.#restart
  }
}

/**
 * Starts the embedded PostgreSQL on `dir`, or attaches to one that a killed service left running there.
 * Throws `EmbeddedPostgresError` when it cannot run on this machine. Any number of processes may call it
 * concurrently.
 */
export async function startEmbedded({
  dir,
  log,
  supervise = false,
  settings = {},
  ...others
}: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const home = prepareDataDir(dir)
  const unlock = await takeLock(join(home, 'pg.lock'), START_TIMEOUT_MS)
  let cluster: Cluster
  let running: Running
  const telling = setInterval(
    () => log.warn({}, 'waiting for the embedded PostgreSQL to accept connections, while its process lives'),
    TELL_MS,
  )
  try {
    cluster = await openCluster(home, { settings, ...others })
    running = await startWithRetries(cluster, log)
    await createDatabase(cluster.url(running.port, 'postgres'))
  } finally {
    clearInterval(telling)
    unlock()
  }
  const keeper = new Keeper(cluster, log, running, supervise)
  const stop = async () => {
    await keeper.leave()
    await terminate(keeper.running.pid, log)
    keeper.keepAtExit()
  }
  return {
    url: cluster.url(running.port, DATABASE),
    port: running.port,
    attached: running.child === undefined,
    get pid() {
      return keeper.running.pid
    },
    stop,
    async release() {
      await keeper.leave()
      if ((await otherClients(cluster.url(running.port, 'postgres')).catch(() => 0)) === 0)
        await terminate(keeper.running.pid, log)
      keeper.keepAtExit()
    },
  }
}
