import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
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
     * A server's connection string, and the name of its migrated but otherwise empty database. With Citus it is the
     * coordinator, and the workers have a database of the same name.
     */
    postgres: { url: string; template: string; workers?: string[] }
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

async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const given = process.env.TEST_DATABASE_URL
  if (given !== undefined) return { url: given, stop: async () => undefined }
  sweep()
  const dir = temporaryDir()
  const server: EmbeddedPostgres = await startEmbedded({ dir, log: silentLogger, settings: forgetful })
  return {
    url: server.url,
    async stop() {
      await server.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export const errorLogger: Logger = {
  ...silentLogger,
  error: (fields, text) => process.stderr.write(`${text} ${JSON.stringify(fields)}\n`),
}

/** vitest's globalSetup: starts one PostgreSQL for the whole run and migrates the template once. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer()
  const template = `ams_template_${randomUUID().replaceAll('-', '')}`
  const teardown = async () => {
    await execute(server.url, `DROP DATABASE IF EXISTS ${template} WITH (FORCE)`)
    await server.stop()
  }
  try {
    await execute(server.url, `CREATE DATABASE ${template}`)
    await migrate(urlOf(server.url, template), migrations, errorLogger)
  } catch (error) {
    await teardown()
    throw error
  }
  project.provide('postgres', { url: server.url, template })
  return teardown
}
