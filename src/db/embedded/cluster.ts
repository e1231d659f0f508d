import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Binaries, findBinaries } from './binaries.ts'
import { EmbeddedPostgresError } from './error.ts'
import { checkMajor } from './other-major.ts'
import { commandOf, isAlive, stopAtExit } from './process.ts'
import { postgresArguments } from './settings.ts'
import { type RunAs, runAs } from './user.ts'

const SUPERUSER = 'ams'
const LOG_LIMIT = 10 * 1024 * 1024

export interface Running {
  pid: number
  port: number
  /** Undefined when the server was already running. */
  child: ChildProcess | undefined
  /** Lets a server that this process started go on when this process exits. */
  keepAtExit(): void
}

/** A database folder (`<home>/pg`) with its password, its log and the user that runs it. */
export interface Cluster {
  readonly folder: string
  /** Returns a connection string for one of its databases. */
  url(port: number, database: string): string
  /** Starts the server, or finds the one that runs on this folder. `port` 0 chooses a free one. */
  up(port: number): Promise<Running>
}

interface Files {
  folder: string
  password: string
  log: string
}

/** The programs of PostgreSQL, and the user who runs them. */
interface Programs {
  binaries: Binaries
  user: RunAs
}

async function initialize(
  home: string,
  files: Files,
  { binaries, user }: Programs,
  sync: boolean,
): Promise<void> {
  for (const name of readdirSync(home))
    if (name.startsWith('pg.new-')) rmSync(join(home, name), { recursive: true, force: true })
  const fresh = join(home, `pg.new-${randomUUID()}`)
  const passwordFile = `${fresh}.password`
  mkdirSync(fresh, { mode: 0o700 })
  const password = randomBytes(24).toString('base64url')
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (user.owner) for (const file of [fresh, passwordFile]) chownSync(file, user.owner.uid, user.owner.gid)
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']
  const auth = ['-U', SUPERUSER, '--auth=scram-sha-256', `--pwfile=${passwordFile}`]
  try {
    await execute(user, binaries.initdb, [
      '-D',
      fresh,
      ...auth,
      ...locale,
      '--data-checksums',
      ...(sync ? [] : ['--no-sync']),
    ])
    // The folder is renamed last, so that an interrupted start leaves nothing that looks like a database.
    writeFileSync(files.password, password, { mode: 0o600 })
    renameSync(fresh, files.folder)
  } finally {
    rmSync(passwordFile, { force: true })
  }
}

/** PostgreSQL gets none of the service's environment, which contains keys and tokens. */
const environment = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

/** What a program said of its failure, on one line: it also tells each step before. */
const reasonIn = (output: string): string => {
  const lines = output.trim().split('\n')
  const telling = lines.filter((line) => /\b(?:FATAL|PANIC|HINT|error): /.test(line))
  return (telling.length > 0 ? telling : lines).map((line) => line.replace(/^.*?\[\d+\] /, '')).join(' ')
}

function execute(user: RunAs, file: string, args: string[]): Promise<void> {
  const run = user.command(file, args)
  return new Promise((resolve, reject) => {
    let output = ''
    const child = spawn(run.file, run.args, {
      ...run.options,
      cwd: '/',
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout?.on('data', (chunk) => (output += chunk))
    child.stderr?.on('data', (chunk) => (output += chunk))
    child.on('error', (cause) => reject(new EmbeddedPostgresError(`${file}: ${cause.message}`, { cause })))
    child.on('close', (code) =>
      code === 0
        ? resolve()
        : reject(new EmbeddedPostgresError(`${file} failed (${code}): ${reasonIn(output)}`)),
    )
  })
}

/**
 * Parses postmaster.pid. Its lines are pid, folder, start, port, socket folder, address, shared memory,
 * status.
 */
function readPidFile(folder: string): { pid: number; port: number; ready: boolean } | undefined {
  try {
    const lines = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')
    return { pid: Number(lines[0]), port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' }
  } catch {
    return undefined
  }
}

const runsPostgres = (pid: number, folder: string) => isAlive(pid) && commandOf(pid).includes(folder)

/** Returns the process id of the server that runs on a database folder, if there is one. */
export const serverOn = (folder: string): number | undefined => {
  const pid = readPidFile(folder)?.pid
  return pid !== undefined && runsPostgres(pid, folder) ? pid : undefined
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

/** Returns whether the server on this port belongs to this folder and accepts connections. */
async function isServing(url: string, folder: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory')
    return rows[0]?.data_directory === folder
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Writes a database folder, on which a server without `fsync` ran, to disk. */
export async function syncFiles(folder: string): Promise<void> {
  const { initdb, postgres } = await findBinaries()
  await execute(runAs(folder, postgres), initdb, ['--sync-only', '-D', folder])
}

function openLog(file: string): number {
  if (existsSync(file) && statSync(file).size > LOG_LIMIT) renameSync(file, `${file}.1`)
  const log = openSync(file, 'a', 0o600)
  chmodSync(file, 0o600)
  return log
}

function spawnServer(
  files: Files,
  { binaries, user }: Programs,
  port: number,
  extra: Record<string, string>,
): ChildProcess {
  const run = user.command(binaries.postgres, [
    '-D',
    files.folder,
    '-p',
    String(port),
    ...postgresArguments(extra),
  ])
  const log = openLog(files.log)
  // Detached, in its own session, so that Ctrl-C in the terminal reaches only the service, which then stops
  // PostgreSQL last.
  const child = spawn(run.file, run.args, {
    ...run.options,
    cwd: '/',
    env: environment,
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  child.unref()
  return child
}

export interface ClusterOptions {
  /** Override ours. Without `fsync`, a new folder is not synced either. */
  settings: Record<string, string>
  /** The programs of another major version, for a folder that it has made. */
  binaries?: Binaries | undefined
  /** The folder whose user a new one gets. */
  sameUserAs?: string | undefined
}

/** Opens the database folder below `home`, and creates it the first time. */
export async function openCluster(
  home: string,
  { settings, binaries: given, sameUserAs }: ClusterOptions,
): Promise<Cluster> {
  const files = { folder: join(home, 'pg'), password: join(home, 'pg-password'), log: join(home, 'pg.log') }
  const binaries = given ?? (await findBinaries())
  checkMajor(home, binaries)
  const sync = settings.fsync !== 'off'
  const user = runAs(sameUserAs ?? files.folder, binaries.postgres)
  if (!existsSync(join(files.folder, 'PG_VERSION'))) await initialize(home, files, { binaries, user }, sync)
  const password = readFileSync(files.password, 'utf8')
  const url = (port: number, database: string) =>
    `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`

  const ready = async () => {
    const found = readPidFile(files.folder)
    return found?.ready && (await isServing(url(found.port, 'postgres'), files.folder)) ? found : undefined
  }

  /**
   * Returns the running server, if there is one; it may still be starting. Removes a pid file whose process
   * has exited or is another program.
   */
  const attach = async (): Promise<Running | undefined> => {
    for (let found = readPidFile(files.folder); found; found = readPidFile(files.folder)) {
      const server = await ready()
      if (server) return { pid: server.pid, port: server.port, child: undefined, keepAtExit: () => undefined }
      if (!runsPostgres(found.pid, files.folder))
        rmSync(join(files.folder, 'postmaster.pid'), { force: true })
      else await sleep(20)
    }
    return undefined
  }

  const launch = async (wanted: number): Promise<Running> => {
    const port = wanted || (await freePort())
    const from = existsSync(files.log) ? statSync(files.log).size : 0
    const child = spawnServer(files, { binaries, user }, port, settings)
    const keepAtExit = child.pid === undefined ? () => undefined : stopAtExit(child.pid)
    let ended: string | undefined
    child.once('error', (error) => (ended = error.message))
    child.once('exit', (code, signal) => {
      keepAtExit()
      ended = `it ended with ${signal ?? code}`
    })
    while (ended === undefined) {
      const server = await ready()
      if (server && server.pid === child.pid) return { pid: server.pid, port, child, keepAtExit }
      await sleep(15)
    }
    const output = readFileSync(files.log)
      .subarray(from)
      .toString('utf8')
      .trim()
      .split('\n')
      .slice(-5)
      .join('\n')
    throw new EmbeddedPostgresError(`PostgreSQL did not start: ${output || ended}`)
  }

  return { folder: files.folder, url, up: async (port) => (await attach()) ?? (await launch(port)) }
}
