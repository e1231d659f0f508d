import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type App, startApp } from '../../src/app.ts'
import type { Foundation } from '../../src/boot/foundation.ts'
import { readConfig } from '../../src/config/config.ts'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import { openDb, type RootDb } from '../../src/db/client.ts'
import type { World } from '../../src/platform.ts'
import { createKeyring, type Keyring } from '../../src/workspace/encryption/keyring.ts'
import { createWorkspace } from '../../src/workspace/workspace.ts'
import { afterFile } from './after-file.ts'
import { type Api, apiOf } from './api.ts'
import { createTestDatabase } from './database.ts'
import { temporaryDir } from './postgres.ts'

export { type Answer, type Api, apiOf, createTestAgent, type TestAgent } from './api.ts'

/**
 * A service that runs in the test's own process. Everything is real except DNS and, where a test replaces it,
 * the clock.
 */
export interface TestService {
  http: string
  smtp: { host: string; port: number }
  dataDir: string
  db: RootDb
  masterKey: Uint8Array
  keyring: Keyring
  databaseUrl: string
  /** Starts another instance of the service on the same database, as a second process would. */
  again(environment?: Record<string, string>): Promise<App>
  /** Creates a separate workspace and returns its owner's token. */
  workspace(name?: string, ownerEmail?: string): Promise<Tenant>
  stop(): Promise<void>
}

export interface Tenant {
  id: string
  member: string
  email: string
  token: string
  api: Api
}

/** No domain publishes any record, so no sender can be verified. */
const emptyResolver: World['resolver'] = async (name) => {
  throw Object.assign(new Error(`no such name: ${name}`), { code: 'ENOTFOUND' })
}

export interface ServiceOptions {
  environment?: Record<string, string>
  world?: Partial<World>
  log?: Logger
}

interface Launched {
  service: TestService
  close(): Promise<void>
}

const launch = async ({
  environment = {},
  world = {},
  log = silentLogger,
}: ServiceOptions): Promise<Launched> => {
  const database = await createTestDatabase()
  const dataDir = temporaryDir()
  const masterKey = randomBytes(32)
  const db = await openDb(database.url, { max: 10, log })
  const foundation: Foundation = { db, databaseUrl: database.url, masterKey, close: async () => undefined }
  const start = (more: Record<string, string>): Promise<App> => {
    const config = readConfig({
      PORT: '0',
      SMTP_PORT: '0',
      DATA_DIR: dataDir,
      WEBHOOK_ALLOW: '127.0.0.1',
      ...environment,
      ...more,
    })
    return startApp(config, foundation, log, { resolver: emptyResolver, ...world })
  }
  const apps = [await start({})]
  const [app] = apps as [App]
  const [host, port] = (app.smtp ?? '127.0.0.1:0').split(':') as [string, string]
  const stop = async () => {
    await Promise.all(apps.splice(0).map((each) => each.stop(2_000)))
  }
  const service: TestService = {
    http: app.http,
    smtp: { host, port: Number(port) },
    dataDir,
    db,
    masterKey,
    keyring: createKeyring(db, masterKey),
    databaseUrl: database.url,
    again: async (more = {}) => {
      const other = await start(more)
      apps.push(other)
      return other
    },
    workspace: async (name = 'Acme', ownerEmail = `owner-${randomBytes(4).toString('hex')}@example.com`) => {
      const made = await createWorkspace({ ...db, masterKey }, { name, ownerEmail, plan: 'unlimited' })
      return {
        id: made.workspace,
        member: made.member,
        email: ownerEmail,
        token: made.token,
        api: apiOf(app.http, made.token),
      }
    },
    stop,
  }
  const close = async () => {
    await stop()
    await db.close()
    await database.drop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  return { service, close }
}

/** Starts a service on a separate database; stopped after the file's last test. */
export const startService = async (options: ServiceOptions = {}): Promise<TestService> => {
  const { service, close } = await launch(options)
  afterFile(close)
  return service
}

/** What test files may use of a service that others use too: not what stops it or starts another one. */
export type SharedService = Omit<TestService, 'again' | 'stop'>

let shared: Promise<Launched> | undefined

/**
 * Returns a service that the test files of a process share, with default settings and without a limit of requests. It
 * is for files that look at nothing but their own workspaces: others may have left theirs, with messages and webhooks.
 */
export const sharedService = async (): Promise<SharedService> => {
  shared ??= launch({ environment: { RATE_LIMIT: '100000' } })
  return (await shared).service
}
