import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { beforeAll, expect, inject, test } from 'vitest'
import { startApp } from '../../src/app.ts'
import { openFoundation } from '../../src/boot/foundation.ts'
import { readConfig } from '../../src/config/config.ts'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import { findBinaries } from '../../src/db/embedded/binaries.ts'
import { runAs } from '../../src/db/embedded/user.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { probeDatabase } from '../../src/db/probe.ts'
import { checkDatabase } from '../../src/doctor/database.ts'
import { createWorkspace } from '../../src/workspace/workspace.ts'
import { afterFile } from '../support/after-file.ts'
import { createFakeClock } from '../support/clock.ts'
import { freePort } from '../support/port.ts'
import { temporaryDir } from '../support/postgres.ts'
import { type Api, apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

/** A service whose database has a streaming replica, of the same PostgreSQL. */

const SETTINGS = { fsync: 'off', full_page_writes: 'off', shared_buffers: '32MB' }
const [primaryDir, replicaDir, dataDir] = [temporaryDir(), temporaryDir(), temporaryDir()]

/** Copies the primary's folder while it runs, as pg_basebackup does, which is not part of the package. */
const copyPrimary = async (url: string): Promise<string> => {
  const folder = join(replicaDir, 'pg')
  const client = new pg.Client(url)
  await client.connect()
  await client.query("select pg_backup_start('replica', true)")
  execFileSync('cp', ['-a', join(primaryDir, 'pg'), folder])
  const { rows } = await client.query('select labelfile from pg_backup_stop(false)')
  await client.end()
  const { uid, gid } = statSync(join(folder, 'PG_VERSION'))
  for (const [name, text] of [
    ['backup_label', rows[0].labelfile],
    ['standby.signal', ''],
  ]) {
    writeFileSync(join(folder, name), text)
    chownSync(join(folder, name), uid, gid)
  }
  rmSync(join(folder, 'postmaster.pid'))
  return folder
}

/** Starts the server of a replica's folder. */
const startReplica = async (
  folder: string,
  primaryUrl: string,
  port: number,
): Promise<{ url: string; child: ChildProcess }> => {
  const { postgres } = await findBinaries()
  const { username, password, port: primaryPort } = new URL(primaryUrl)
  const settings = {
    ...SETTINGS,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    primary_conninfo: `host=127.0.0.1 port=${primaryPort} user=${username} password=${password}`,
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const run = runAs(folder, postgres).command(postgres, ['-D', folder, '-p', String(port), ...options])
  const env = { PATH: process.env.PATH, LC_ALL: 'C' }
  const child = spawn(run.file, run.args, { ...run.options, cwd: '/', env, stdio: 'ignore' })
  const url = new URL(primaryUrl)
  url.port = String(port)
  return { url: url.href, child }
}

const query = async (url: string, sql: string) => {
  const client = new pg.Client(url)
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(sql)).rows[0]
  } finally {
    await client.end()
  }
}

const warnings: string[] = []
const log: Logger = { ...silentLogger, warn: (_fields, text) => warnings.push(text) }
const settings = {
  ...{ PORT: '0', SMTP_PORT: '0', DATA_DIR: dataDir, ROLES: 'api', RATE_LIMIT: '100000' },
  MASTER_KEY: randomBytes(32).toString('base64'),
}

let primary: Awaited<ReturnType<typeof startEmbedded>>
let replica: Awaited<ReturnType<typeof startReplica>>
let api: Api
let http: string
let agent: string

beforeAll(async () => {
  primary = await startEmbedded({ dir: primaryDir, log: silentLogger, settings: SETTINGS })
  afterFile(() => primary.stop())
  replica = await startReplica(await copyPrimary(primary.url), primary.url, await freePort())
  afterFile(() => replica.child.kill('SIGKILL'))
  await until(() => query(replica.url, 'select 1').catch(() => undefined))
  const config = readConfig({ ...settings, DATABASE_URL: primary.url, DATABASE_READ_URL: replica.url })
  const foundation = await openFoundation(config, log, { service: true, migrates: 'always' })
  afterFile(() => foundation.close())
  const app = await startApp(config, foundation, log)
  afterFile(() => app.stop(2_000))
  const owner = { name: 'Acme', ownerEmail: 'owner@example.com', plan: 'unlimited' }
  const { token } = await createWorkspace({ ...foundation.db, ...foundation }, owner)
  http = app.http
  api = apiOf(http, token)
  agent = (await api('POST', '/agents', { name: 'Bot', icon: 'bot' })).body.id
})
afterFile(() => {
  for (const dir of [primaryDir, replicaDir, dataDir]) rmSync(dir, { recursive: true, force: true })
})

const metric = async (name: string): Promise<number> => {
  const page = await (await fetch(`${http}/metrics`)).text()
  return Number(
    page
      .split('\n')
      .find((line) => line.startsWith(name))
      ?.split(' ')[1],
  )
}
const reads = (outcome: string) => metric(`ams_replica_reads_total{outcome="${outcome}"}`)
const isUsed = async () => (await metric('ams_replica_used')) === 1

const killReplica = async () => {
  const exited = once(replica.child, 'exit')
  replica.child.kill('SIGKILL')
  await exited
}

const write = async (text: string): Promise<string> => {
  const to = ['bo@example.com']
  const { status, body } = await api('POST', `/agents/${agent}/messages`, { channel: 'email', to, text })
  expect(status).toBe(201)
  return body.id
}
const list = async (query = '') =>
  (await api('GET', `/agents/${agent}/messages?limit=100${query}`)).body.items.map(
    ({ id }: { id: string }) => id,
  )
const listByGraphql = async () => {
  const text = `{ agent(id: "${agent}") { messages(first: 100) { edges { node { id } } } } }`
  const { data } = (await api('POST', '/graphql', { query: text })).body
  return data.agent.messages.edges.map(({ node }: { node: { id: string } }) => node.id)
}
/** Lists until the replica has served a list. */
const readFromReplica = async () => {
  const before = await reads('replica')
  await until(async () => {
    await list()
    return (await reads('replica')) > before
  })
}

test('lists and searches are read from the replica, and contain what was just written', async () => {
  await until(isUsed)
  await readFromReplica()
  const ids: string[] = []
  for (let n = 0; n < 20; n++) {
    ids.unshift(await write(`number ${n}`))
    expect(await (n % 2 ? list() : listByGraphql())).toEqual(ids)
  }
  await readFromReplica()
  expect(await list('&q=number')).toEqual(ids)
})

test('while the replica is behind, nobody sees what was deleted or misses what was written', async () => {
  await until(isUsed)
  const gone = await write('gone')
  const before = warnings.length
  await query(replica.url, 'select pg_wal_replay_pause()')
  await until(
    async () => (await query(replica.url, 'select pg_get_wal_replay_pause_state() as at')).at === 'paused',
  )
  expect((await api('DELETE', `/agents/${agent}/messages/${gone}`)).status).toBe(204)
  expect(await list()).not.toContain(gone)
  const written = await write('written')
  expect(await list()).toContain(written)
  expect(await reads('behind')).toBeGreaterThan(0)
  expect(await isUsed()).toBe(false)
  expect(warnings.slice(before)).toEqual([
    'the read replica is not used; lists and searches read the primary',
  ])

  await query(replica.url, 'select pg_wal_replay_resume()')
  await until(isUsed)
  await readFromReplica()
  expect(await list()).toContain(written)
})

test('the doctor says how far the replica is behind, and what is wrong with another server', async () => {
  const messages = async (DATABASE_READ_URL: string) => {
    const config = readConfig({ ...settings, DATABASE_URL: primary.url, DATABASE_READ_URL })
    const { findings, database } = await checkDatabase(config)
    await database?.close()
    return findings
      .map(({ status, message }) => `${status}: ${message}`)
      .filter((each) => /replica/.test(each))
  }
  expect(await messages(replica.url)).toEqual([expect.stringMatching(/^ok: .* is \d+ bytes behind\.$/)])
  expect(await messages(primary.url)).toEqual([
    'problem: The replica of DATABASE_READ_URL does not follow the primary.',
  ])
})

test('a standby as the database is waited for until it is promoted, and is no wrong setting', async () => {
  const clock = createFakeClock()
  const began = clock.now().getTime()
  let failure: unknown
  void probeDatabase(replica.url, { clock, log: silentLogger }).catch((error: unknown) => (failure = error))
  await until(() => {
    if (clock.sleepers > 0) clock.advance(500)
    return failure !== undefined
  })
  expect(failure).toMatchObject({ message: 'it is a standby, which only reads', isAway: true })
  expect(clock.now().getTime() - began).toBe(30_000)
})

test('a server that is no replica of the database is refused', async () => {
  const refusal = async (DATABASE_READ_URL: string) => {
    const config = readConfig({ ...settings, DATABASE_URL: primary.url, DATABASE_READ_URL })
    const opening = openFoundation(config, silentLogger, { service: true, migrates: 'always' })
    return opening.then(
      () => 'opened',
      (error: Error) => error.message,
    )
  }
  expect(await refusal(primary.url)).toMatch(
    /^DATABASE_READ_URL is .*it is not a replica: it accepts changes/,
  )
  expect(await refusal(inject('postgres').url)).toMatch(/it is another database than that of DATABASE_URL/)
})

test('while the replica is killed and comes back, every list answers and contains what was written before', async () => {
  await until(isUsed)
  const ids = [await write('first'), await write('second'), await write('third')]
  let isOver = false
  /** Labels a message, and asks for the messages with that label, over and over. */
  const labelAndList = async (id: string) => {
    for (let n = 0; !isOver; n++) {
      const label = `${n}-${id.slice(-8)}`
      const { status } = await api('PATCH', `/agents/${agent}/messages/${id}`, { labels: [label] })
      expect(status).toBe(200)
      expect(await list(`&label=${label}`)).toEqual([id])
    }
  }
  const clients = Promise.all(ids.map(labelAndList))
  const wait = (condition: () => Promise<boolean>) => Promise.race([until(condition), clients])
  try {
    await killReplica()
    await wait(async () => !(await isUsed()))
    const before = await reads('replica')
    const restart = () => startReplica(join(replicaDir, 'pg'), primary.url, Number(new URL(replica.url).port))
    replica = await restart()
    await wait(async () => {
      // The processes of the killed server may not have ended yet.
      if (replica.child.exitCode !== null) replica = await restart()
      return (await isUsed()) && (await reads('replica')) > before
    })
  } finally {
    isOver = true
    await clients
  }
}, 150_000)

test('a replica that was promoted is left, and so is one that was killed', async () => {
  await until(isUsed)
  await query(replica.url, 'select pg_promote(true)')
  const written = await write('after the promotion')
  expect(await list()).toContain(written)
  expect(await isUsed()).toBe(false)
  expect(await reads('down')).toBeGreaterThan(0)

  await killReplica()
  expect(await list()).toContain(written)
  expect(await list('&q=promotion')).toBeInstanceOf(Array)
})
