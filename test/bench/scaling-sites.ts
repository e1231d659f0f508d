import { rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { silentLogger } from '../../src/core/logger.ts'
import { distribute } from '../../src/db/distribute/distribute.ts'
import { postgresArguments } from '../../src/db/embedded/settings.ts'
import { migrate } from '../../src/db/migrate.ts'
import { type CitusCluster, startCluster, startNode } from '../citus/cluster.ts'
import { execute, migrations, temporaryDir, urlOf } from '../support/postgres.ts'
import { atEnd } from './cleanup.ts'
import { type Bench, type Postgres, startBenchOn, startPostgres } from './machinery.ts'
import { createEndpoints, type Ends, type Way } from './mail-way.ts'

/** The service on a database, with the processes whose CPU is counted. */
export interface Site extends Way {
  bench: Bench
  /** Processes of the service. */
  node: number[]
  /** The server that they are connected to. */
  postgres: number
  /** Other servers of its cluster. */
  workers: number[]
  stop(): Promise<void>
}

/** A database that runs, and how to end it. */
interface Place {
  postgres: Postgres
  workers: number[]
  stop(): Promise<void>
}

export const AGENTS = 20
const DATABASE = 'ams'
/** What `npm start -- distribute` does without an option. */
const SHARDS = 32

/** What the embedded PostgreSQL has, with all of its durability; `more` overrides it. */
const durable = (more: Record<string, string>): Record<string, string> => {
  const given = postgresArguments({ log_error_verbosity: 'default', ...more }).filter((arg) => arg !== '-c')
  return Object.fromEntries(
    given.map((arg) => [arg.slice(0, arg.indexOf('=')), arg.slice(arg.indexOf('=') + 1)]),
  )
}

/** Runs `stop` once, at the latest at the end of the suite. */
const stopOnce = (stop: () => Promise<void>): (() => Promise<void>) => {
  let stopped: Promise<void> | undefined
  const once = () => {
    stopped ??= stop()
    return stopped
  }
  atEnd(once)
  return once
}

const placeOf = async (
  url: string,
  server: number,
  workers: number[],
  end: () => Promise<void>,
): Promise<Place> => {
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  pool.on('error', () => undefined)
  const stop = stopOnce(async () => {
    await pool.end()
    await end()
  })
  const { rows } = await pool.query('show server_version')
  process.send?.({ postgres: rows[0].server_version })
  return { postgres: { url, pid: server, pool }, workers, stop }
}

/** PostgreSQL 15 as on the nodes of a cluster, without Citus. */
export const startPlain = async (): Promise<Place> => {
  const dir = temporaryDir()
  const node = await startNode(join(dir, 'plain'), durable({}))
  await execute(node.url, `create database ${DATABASE}`)
  return placeOf(urlOf(node.url, DATABASE), node.pid, [], async () => {
    await node.kill()
    rmSync(dir, { recursive: true, force: true })
  })
}

/** A distributed database on a coordinator and `size` workers. */
export const startCitus = async (size: number): Promise<Place & { cluster: CitusCluster }> => {
  const logs = { logging_collector: 'on', log_destination: 'jsonlog' }
  const cluster = await startCluster({ size, settings: durable({ ...logs, max_connections: '300' }) })
  const url = await cluster.createDatabase(DATABASE)
  await migrate(url, migrations, silentLogger)
  await distribute(url, { shards: SHARDS, log: silentLogger, progress: () => undefined })
  const workers = cluster.workers.map(({ pid }) => pid)
  return { ...(await placeOf(url, cluster.coordinator.pid, workers, () => cluster.stop())), cluster }
}

/** The PostgreSQL that the service embeds. */
export const startEmbeddedPlace = async (): Promise<Place> => ({
  postgres: await startPostgres(),
  workers: [],
  stop: async () => undefined, // at the end of the suite
})

interface Options {
  environment?: Record<string, string>
  /** Worker processes beside one with the other roles; undefined: one process with all roles. */
  workerProcesses?: number
}

/** Starts the service, with agents whose webhooks are at the receiver. */
export const openSite = async (
  ends: Ends,
  place: Place,
  { environment = {}, workerProcesses }: Options,
): Promise<Site> => {
  const roles: Record<string, string> = workerProcesses === undefined ? {} : { ROLES: 'api,smtp' }
  const bench = await startBenchOn(place.postgres, { ...environment, ...roles })
  const others = await Promise.all(
    Array.from({ length: workerProcesses ?? 0 }, () => bench.another({ ROLES: 'worker' })),
  )
  return {
    bench,
    port: bench.smtp.port,
    endpoints: await createEndpoints(bench, ends, AGENTS),
    node: [bench, ...others].map(({ pid }) => pid),
    postgres: place.postgres.pid,
    workers: place.workers,
    stop: stopOnce(async () => {
      await Promise.all([bench, ...others].map((service) => service.stop()))
      await place.stop()
    }),
  }
}
