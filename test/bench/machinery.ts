import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import pg from 'pg'
import { silentLogger } from '../../src/core/logger.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { temporaryDir } from '../support/postgres.ts'
import { postgresOf, run } from '../support/process.ts'
import { type Api, apiOf } from '../support/service.ts'
import { atEnd } from './cleanup.ts'

/** Maximum length of what a service wrote to stderr that is printed. */
const MAX_ERRORS = 2_000

/** A PostgreSQL as the service embeds it, with all of its durability, for the service and its counterparts. */
export interface Postgres {
  url: string
  pid: number
  pool: pg.Pool
}

/** `node dist/main.js` in a process of its own. */
export interface Service {
  http: string
  smtp: { host: string; port: number }
  pid: number
  stop(): Promise<void>
}

/** The service with its database, and the means to use both. */
export interface Bench extends Service {
  postgres: Postgres
  masterKey: Uint8Array
  /** The token of the owner. */
  token: string
  api: Api
  /** Starts another process of the service on the same database. */
  another(environment?: Record<string, string>): Promise<Service>
}

/** Starts PostgreSQL; `settings` overrides some of its settings. */
export const startPostgres = async (settings: Record<string, string> = {}): Promise<Postgres> => {
  const dir = temporaryDir()
  const server = await startEmbedded({ dir, log: silentLogger, settings })
  const pool = new pg.Pool({ connectionString: server.url, max: 4 })
  pool.on('error', () => undefined)
  atEnd(async () => {
    await pool.end()
    await server.stop()
    rmSync(dir, { recursive: true, force: true })
  })
  const { rows } = await pool.query('show server_version')
  process.send?.({ postgres: rows[0].server_version })
  return { url: server.url, pid: postgresOf(dir), pool }
}

/** Starts a process of the service with only these settings. */
export const startProcess = async (environment: Record<string, string>): Promise<Service> => {
  const child = run(environment)
  const { http, smtp } = await child.ready()
  const [host, port] = (smtp ?? '127.0.0.1:0').split(':') as [string, string]
  const stop = async () => {
    child.kill('SIGTERM')
    await child.exited
    process.stderr.write(child.stderr.slice(0, MAX_ERRORS))
  }
  atEnd(stop)
  return { http, smtp: { host, port: Number(port) }, pid: child.pid, stop }
}

/** Starts PostgreSQL and the service with its default roles; `environment` adds settings. */
export const startBench = async (
  environment: Record<string, string> = {},
  postgresSettings: Record<string, string> = {},
): Promise<Bench> => startBenchOn(await startPostgres(postgresSettings), environment)

/** Starts the service on a server that runs. */
export const startBenchOn = async (
  postgres: Postgres,
  environment: Record<string, string> = {},
): Promise<Bench> => {
  const dir = temporaryDir()
  atEnd(() => rmSync(dir, { recursive: true, force: true }))
  const token = `bench-${randomBytes(24).toString('hex')}`
  const masterKey = randomBytes(32)
  const settings = {
    DATA_DIR: dir,
    DATABASE_URL: postgres.url,
    MASTER_KEY: masterKey.toString('base64'),
    OWNER_TOKEN: token,
    LOG_LEVEL: 'error',
    RATE_LIMIT: '100000000',
    WEBHOOK_ALLOW: '127.0.0.1',
    ...environment,
  }
  const service = await startProcess(settings)
  const another = (more: Record<string, string> = {}) => startProcess({ ...settings, ...more })
  return { ...service, postgres, masterKey, token, api: apiOf(service.http, token), another }
}

/** Requests at a time. One after the other, a suite would spend most of its time on making agents. */
const AT_ONCE = 8

/** Makes `count` things, and returns them in order. */
export const makeMany = async <Made>(count: number, make: (n: number) => Promise<Made>): Promise<Made[]> => {
  const made: Made[] = []
  const numbers = Array.from({ length: count }, (_, n) => n).values()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const n of numbers) made[n] = await make(n)
    }),
  )
  return made
}

/** Starts a file of this folder in a process of its own, and resolves with its first message. */
export const startPart = async <Ready>(
  file: string,
  ...args: string[]
): Promise<{ child: ChildProcess; ready: Ready }> => {
  const child = fork(join(import.meta.dirname, file), args, { execArgv: ['--import', 'tsx'] })
  atEnd(() => child.kill())
  return { child, ready: await nextMessage<Ready>(child) }
}

/** Resolves with the next message of a part; rejects when the part ends before. */
export const nextMessage = <Message>(child: ChildProcess): Promise<Message> =>
  new Promise((resolve, reject) => {
    const file = child.spawnargs.find((arg) => arg.endsWith('.ts')) ?? ''
    const ended = (code: number | null) => reject(new Error(`${basename(file)} exited with ${code}`))
    child.once('exit', ended)
    child.once('message', (message) => {
      child.off('exit', ended)
      resolve(message as Message)
    })
  })

/** Sends an order to a part, and resolves with its answer. */
export const ask = <Answer>(child: ChildProcess, order: object | string): Promise<Answer> => {
  const answer = nextMessage<Answer>(child)
  child.send(order, () => undefined) // the end of the part rejects the answer
  return answer
}
