import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { runAs } from '../../src/db/embedded/user.ts'
import { freePort } from '../support/port.ts'
import { execute, forgetful, temporaryDir, urlOf } from '../support/postgres.ts'
import { until } from '../support/until.ts'

/** A cluster of Citus on one machine: a coordinator and two workers, of Debian's PostgreSQL 15. */

const BIN = '/usr/lib/postgresql/15/bin'

/** The reason why no cluster can be started here, or null. */
export const missing: string | null =
  existsSync(`${BIN}/postgres`) && existsSync('/usr/share/postgresql/15/extension/citus.control')
    ? null
    : 'PostgreSQL 15 with Citus is not installed (apt-get install postgresql-15, and make install-extension of Citus 12.1)'

/** Settings of every node of a cluster. */
const CITUS: Record<string, string> = {
  shared_preload_libraries: 'citus',
  max_worker_processes: '200', // Citus needs one for each database
  max_prepared_transactions: '300',
  timezone: 'UTC',
  'citus.node_conninfo': 'sslmode=disable',
  'citus.recover_2pc_interval': '1s',
}

export interface Node {
  port: number
  pid: number
  dir: string
  /** The connection string of its first database. */
  url: string
  kill(): Promise<void>
  revive(): Promise<void>
}

const accepts = async (url: string): Promise<boolean> => {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Starts a server in a folder that does not exist. */
export const startNode = async (dir: string, settings: Record<string, string>): Promise<Node> => {
  const port = await freePort()
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`
  mkdirSync(dir, { mode: 0o700 })
  const user = runAs(dir, `${BIN}/postgres`)
  if (user.owner) chownSync(dir, user.owner.uid, user.owner.gid)
  const initdb = user.command(`${BIN}/initdb`, [
    '-D',
    dir,
    '-A',
    'trust',
    '-U',
    'postgres',
    '-E',
    'UTF8',
    '--no-sync',
    '--locale=C',
  ])
  execFileSync(initdb.file, initdb.args, { ...initdb.options, stdio: 'ignore', cwd: dir } as object)
  let child!: ChildProcess
  const revive = async () => {
    const place = { port: String(port), listen_addresses: '127.0.0.1', unix_socket_directories: '' }
    const given = Object.entries({ ...settings, ...place }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ])
    const { file, args, options } = user.command(`${BIN}/postgres`, ['-D', dir, ...given])
    child = spawn(file, args, { ...options, stdio: process.env.CITUS_LOG ? 'inherit' : 'ignore', cwd: dir })
    await until(() => accepts(url), 60_000)
  }
  const kill = async () => {
    const gone = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGQUIT') // ends all its processes at once, without a checkpoint
    await gone
  }
  await revive()
  return {
    ...{ port, dir, url, kill, revive },
    get pid() {
      return child.pid!
    },
  }
}

export interface CitusCluster {
  coordinator: Node
  workers: Node[]
  /** Creates a database on all nodes that is not distributed yet. */
  createDatabase(name: string): Promise<string>
  stop(): Promise<void>
}

interface ClusterOptions {
  /** How many workers there are. */
  size: number
  settings: Record<string, string>
}

export const startCluster = async (
  { size, settings }: ClusterOptions = { size: 2, settings: forgetful },
): Promise<CitusCluster> => {
  const dir = temporaryDir()
  chmodSync(dir, 0o711)
  const names = ['coordinator', ...Array.from({ length: size }, (_, n) => `worker${n + 1}`)]
  const nodes = await Promise.all(names.map((name) => startNode(join(dir, name), { ...CITUS, ...settings })))
  const [coordinator, ...workers] = nodes as [Node, ...Node[]]
  return {
    coordinator,
    workers,
    async createDatabase(name) {
      for (const { url } of nodes) {
        await execute(url, `create database ${name}`)
        await execute(urlOf(url, name), 'create extension citus')
      }
      const url = urlOf(coordinator.url, name)
      await execute(
        url,
        `select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`,
        ...workers.map(({ port }) => `select citus_add_node('127.0.0.1', ${port})`),
      )
      return url
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.kill()))
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
