import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from '../core/logger.ts'
import { type Cluster, openCluster, type Running } from './embedded/cluster.ts'
import { EmbeddedPostgresError } from './embedded/error.ts'
import { LockHeldError, takeLock } from './embedded/lock.ts'
import { isAlive } from './embedded/process.ts'

export { EmbeddedPostgresError } from './embedded/error.ts'

const DATABASE = 'ams'
/**
 * How long a starter waits for another one's initdb (0.7 s), or for what a killed server left behind to go
 * away.
 */
const START_PATIENCE_MS = 30_000
const STOP_PATIENCE_MS = 10_000

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
 * Makes DATA_DIR and lets others pass through it but read and write nothing (0711): PostgreSQL's user must
 * reach its folder. A folder with other things in it keeps its mode. Returns its real path.
 */
function prepareDataDir(dir: string): string {
  mkdirSync(dir, { recursive: true, mode: 0o711 })
  const names = readdirSync(dir)
  const ours = names.length === 0 || existsSync(join(dir, 'pg')) || existsSync(join(dir, 'service.lock'))
  if (ours && statSync(dir).uid === (process.getuid?.() ?? -1)) chmodSync(dir, 0o711)
  return realpathSync(dir)
}

/**
 * Makes this process the only service on `dir`, until the returned function is called or the process ends.
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
   * The service's own database on it. The same for as long as this process runs, also when PostgreSQL had to
   * be started again.
   */
  readonly url: string
  readonly port: number
  /** The server's process now. */
  readonly pid: number
  /** Whether it ran already. */
  readonly attached: boolean
  /** Ends the server (its clients are cut off, what was committed is kept). Drain the service first. */
  stop(): Promise<void>
  /**
   * Leaves the server to whoever else uses it, and stops it when nobody is connected: for a command beside a
   * service.
   */
  release(): Promise<void>
}

export interface EmbeddedOptions {
  /** DATA_DIR: made when it is not there. */
  dir: string
  log: Logger
  /** Start PostgreSQL again when it dies. */
  supervise?: boolean
  /** PostgreSQL settings over ours, for tests (`fsync: 'off'`). */
  settings?: Record<string, string>
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
 * Tries again for a while: after a kill -9 of the server its last backends hold on to the shared memory for a
 * moment.
 */
async function startPatiently(cluster: Cluster, log: Logger): Promise<Running> {
  const deadline = performance.now() + START_PATIENCE_MS
  for (let pause = 100; ; pause = Math.min(pause * 2, 2000)) {
    try {
      return await cluster.up(0)
    } catch (error) {
      const passing =
        error instanceof EmbeddedPostgresError && /shared memory|postmaster\.pid|in use/i.test(error.message)
      if (!passing || performance.now() > deadline) throw error
      log.warn({ error: error.message }, 'PostgreSQL cannot start yet')
      await sleep(pause)
    }
  }
}

async function terminate(pid: number, log: Logger): Promise<void> {
  const end = (signal: NodeJS.Signals) => {
    try {
      process.kill(pid, signal)
    } catch {
      // it is gone
    }
  }
  end('SIGINT') // a fast shutdown: open transactions are rolled back, a checkpoint is written
  const deadline = performance.now() + STOP_PATIENCE_MS
  for (let urged = false; isAlive(pid); await sleep(10)) {
    if (urged || performance.now() < deadline) continue
    urged = true
    log.warn({ pid }, 'PostgreSQL takes too long to stop: it will recover at its next start')
    end('SIGQUIT')
  }
}

/** Watches one server after the other until told to stop. */
class Keeper {
  readonly #cluster: Cluster
  readonly #log: Logger
  #running: Running
  #stopping = false
  #restart: Promise<void> | undefined
  #watch: NodeJS.Timeout | undefined

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
    // A server that was there already is nobody's child of ours: look.
    else this.#watch = setInterval(() => isAlive(server.pid) || this.#lost(), 250).unref()
    if (!isAlive(server.pid)) this.#lost()
  }

  #lost(): void {
    clearInterval(this.#watch)
    if (this.#stopping || this.#restart) return
    this.#log.error({ pid: this.#running.pid }, 'PostgreSQL died: starting it again')
    this.#restart = this.#startAgain().then(() => {
      this.#restart = undefined
      if (!this.#stopping) this.#follow(this.#running)
    })
  }

  async #startAgain(): Promise<void> {
    const { port } = this.#running
    for (let pause = 50; !this.#stopping; pause = Math.min(pause * 2, 5000)) {
      try {
        // the same port: every connection string of this process names it
        const server = await this.#cluster.up(port)
        if (server.port !== port)
          throw new EmbeddedPostgresError(`somebody else started PostgreSQL on port ${server.port}`)
        this.#running = server
        this.#log.info({ pid: server.pid }, 'PostgreSQL runs again')
        return
      } catch (error) {
        this.#log.error({ error: (error as Error).message }, 'PostgreSQL cannot start')
        await sleep(pause)
      }
    }
  }

  /** No server is started from here on; resolves once that is true. */
  async leave(): Promise<void> {
    this.#stopping = true
    clearInterval(this.#watch)
    await this.#restart
  }
}

/**
 * Starts the PostgreSQL that comes with the service on `dir`, or attaches to the one that a killed service
 * left running there. Throws `EmbeddedPostgresError` when it cannot run on this machine. Any number of
 * processes may call it at once.
 */
export async function startEmbedded({
  dir,
  log,
  supervise = false,
  settings = {},
}: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const home = prepareDataDir(dir)
  const unlock = await takeLock(join(home, 'pg.lock'), START_PATIENCE_MS)
  let cluster: Cluster
  let running: Running
  try {
    cluster = await openCluster(home, settings, settings.fsync !== 'off')
    running = await startPatiently(cluster, log)
    await createDatabase(cluster.url(running.port, 'postgres'))
  } finally {
    unlock()
  }
  const keeper = new Keeper(cluster, log, running, supervise)
  const stop = async () => {
    await keeper.leave()
    await terminate(keeper.running.pid, log)
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
    },
  }
}
