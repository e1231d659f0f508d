import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import { type EmbeddedPostgres, startEmbedded } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { temporaryRoot } from './memory.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /**
     * A server's connection string, and the name of its migrated but otherwise empty database. `prepared` is a DATA_DIR
     * with the same tables.
     */
    postgres: { url: string; template: string; prepared?: string }
  }
}

export const migrations = join(import.meta.dirname, '..', '..', 'prisma', 'migrations')

/** Settings for speed over durability: data of a test need not survive a power failure. */
export const forgetful = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  shared_buffers: '64MB',
}

const PREFIX = 'ams-test-'

/** Creates a folder for a test; its name has the process ID of its owner. */
export const temporaryDir = (): string => mkdtempSync(join(temporaryRoot, `${PREFIX}${process.pid}-`))

export function urlOf(server: string, database: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}

/** Runs statements one by one on a new connection. */
export async function execute(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

const signal = (pid: number, name: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

/** Removes what killed test runs left behind: their PostgreSQL servers and folders. */
function sweep(): void {
  for (const name of readdirSync(temporaryRoot)) {
    const owner = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN
    if (Number.isNaN(owner) || signal(owner, 0)) continue
    const dir = join(temporaryRoot, name)
    try {
      const server = Number.parseInt(readFileSync(join(dir, 'pg', 'postmaster.pid'), 'utf8'), 10)
      if (readFileSync(`/proc/${server}/cmdline`, 'utf8').includes(dir)) signal(server, 'SIGQUIT')
    } catch {
      // No server runs there.
    }
    rmSync(dir, { recursive: true, force: true })
  }
}

export const errorLogger: Logger = {
  ...silentLogger,
  error: (fields, text) => process.stderr.write(`${text} ${JSON.stringify(fields)}\n`),
}

/** What a database folder of the embedded PostgreSQL consists of, in DATA_DIR. */
const PARTS = ['pg', 'pg-password']

/** Copies the database of a DATA_DIR, on which nothing runs, with its owners and modes. */
export const copyDatabase = (from: string, to: string): void => {
  mkdirSync(to, { recursive: true, mode: 0o711 })
  execFileSync('cp', ['-a', ...PARTS.map((part) => join(from, part)), to])
}

interface Server {
  url: string
  /** A folder with the same tables as the template, which `preparedDataDir` copies. */
  prepared?: string
  stop(): Promise<void>
}

/** Creates the tables in the service's own database, keeps a copy of the folder, and clones the template. */
async function startServer(template: string): Promise<Server> {
  sweep()
  const [dir, prepared] = [temporaryDir(), temporaryDir()]
  const start = () => startEmbedded({ dir, log: silentLogger, settings: forgetful })
  const remove = () => {
    for (const folder of [dir, prepared]) rmSync(folder, { recursive: true, force: true })
  }
  let server: EmbeddedPostgres = await start()
  try {
    await migrate(server.url, migrations, errorLogger)
    await server.stop()
    copyDatabase(dir, prepared)
    server = await start()
    await execute(
      urlOf(server.url, 'postgres'),
      `CREATE DATABASE ${template} TEMPLATE ams STRATEGY file_copy`,
    )
  } catch (error) {
    await server.stop()
    remove()
    throw error
  }
  return {
    url: server.url,
    prepared,
    stop: async () => {
      await server.stop()
      remove()
    },
  }
}

async function useServer(url: string, template: string): Promise<Server> {
  /** Also what test files share, and do not drop. */
  const stop = async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      const { rows } = await client.query(
        `SELECT datname FROM pg_database WHERE starts_with(datname, '${template}')`,
      )
      for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`)
    } finally {
      await client.end()
    }
  }
  try {
    await execute(url, `CREATE DATABASE ${template}`)
    await migrate(urlOf(url, template), migrations, errorLogger)
  } catch (error) {
    await stop()
    throw error
  }
  return { url, stop }
}

/** vitest's globalSetup: starts one PostgreSQL for the whole run, or uses a given one, and migrates the template once. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const template = `ams_template_${randomUUID().replaceAll('-', '')}`
  const given = process.env.TEST_DATABASE_URL
  const { stop, ...server } =
    given === undefined ? await startServer(template) : await useServer(given, template)
  project.provide('postgres', { ...server, template })
  return stop
}
