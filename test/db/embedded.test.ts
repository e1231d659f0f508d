import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { isAlive } from '../../src/db/embedded/process.ts'
import {
  DataDirInUseError,
  type EmbeddedOptions,
  type EmbeddedPostgres,
  lockDataDir,
  startEmbedded,
} from '../../src/db/embedded.ts'
import { forgetful, temporaryDir } from '../support/postgres.ts'
import { until } from '../support/until.ts'

let dir: string
let servers: EmbeddedPostgres[]

/** No fsync, but synchronous commits: these tests kill servers, not machines. */
const settings = { ...forgetful, synchronous_commit: 'on' }
/** A DATA_DIR after its first start, to copy: creating one takes as long as the rest of a test. */
const made = temporaryDir()

beforeAll(async () => {
  const first = await startEmbedded({ dir: made, log: silentLogger, settings })
  await first.stop()
})

afterAll(() => rmSync(made, { recursive: true, force: true }))

beforeEach(() => {
  dir = temporaryDir()
  servers = []
})

/** Copies the DATA_DIR that is already initialized. */
const initialize = () => execFileSync('cp', ['-a', `${made}/.`, dir])

afterEach(async () => {
  await Promise.all(servers.map((server) => server.stop()))
  rmSync(dir, { recursive: true, force: true })
})

async function start(options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbedded({ dir, log: silentLogger, settings, ...options })
  servers.push(server)
  return server
}

async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

const mode = (...path: string[]) => (statSync(join(dir, ...path)).mode & 0o777).toString(8)

test('the first start creates a database that other users can neither read nor log in to', async () => {
  const server = await start()
  expect(server.attached).toBe(false)
  expect(await query(server.url, 'SELECT current_database()')).toEqual([{ current_database: 'ams' }])
  expect([mode(), mode('pg'), mode('pg-password'), mode('pg.log')]).toEqual(['711', '700', '600', '600'])
  const open = new URL(server.url)
  open.password = 'guess'
  await expect(query(open.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' })
})

test('the server listens only on the loopback interface and inherits no secrets of the service', async () => {
  initialize()
  process.env.OWNER_TOKEN = 'do-not-tell'
  const server = await start()
  expect(await query(server.url, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }])
  expect(readFileSync(`/proc/${server.pid}/environ`, 'utf8')).not.toContain('do-not-tell')
})

test('the server runs in its own session, so that Ctrl-C in the terminal does not reach it', async () => {
  initialize()
  const server = await start()
  const session = (pid: number | 'self') =>
    readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[3]
  expect(session(server.pid)).toBe(String(server.pid))
  expect(session('self')).not.toBe(String(server.pid))
})

const asRoot = process.getuid?.() === 0

test.runIf(asRoot)("the server starts below a folder that PostgreSQL's user cannot enter", async () => {
  chmodSync(dir, 0o700)
  const server = await start({ dir: join(dir, 'closed', 'data') })
  expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
})

test.runIf(asRoot)(
  'an error names the folder that PostgreSQL cannot pass through, and the remedy',
  async () => {
    chmodSync(dir, 0o700)
    const only = join(dir, 'bin')
    mkdirSync(only)
    symlinkSync(execFileSync('sh', ['-c', 'command -v id'], { encoding: 'utf8' }).trim(), join(only, 'id'))
    const path = process.env.PATH
    process.env.PATH = only
    try {
      await expect(start({ dir: join(dir, 'closed', 'data') })).rejects.toThrow(
        `cannot pass through ${dir}. Allow that (chmod o+x ${dir})`,
      )
    } finally {
      process.env.PATH = path
    }
  },
)

test('data is still there after a stop and a start', async () => {
  initialize()
  const first = await start()
  await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS one')
  await first.stop()
  expect(isAlive(first.pid)).toBe(false)
  const second = await start()
  expect(second.attached).toBe(false)
  expect(await query(second.url, 'SELECT one FROM kept')).toEqual([{ one: 1 }])
})

test('a start attaches to the server that a killed service left running', async () => {
  initialize()
  const first = await start()
  const second = await start()
  expect(second).toMatchObject({ attached: true, pid: first.pid, url: first.url })
})

test('concurrent starts create one database and run one server', async () => {
  const all = await Promise.all([start(), start(), start(), start()])
  expect(new Set(all.map((server) => server.pid)).size).toBe(1)
  expect(all.filter((server) => !server.attached)).toHaveLength(1)
})

test('a pid file whose process id now belongs to another program does not prevent a start', async () => {
  initialize()
  const first = await start()
  await first.stop()
  writeFileSync(
    join(dir, 'pg', 'postmaster.pid'),
    `${process.pid}\n${join(dir, 'pg')}\n0\n1\n\n127.0.0.1\n0 0\nready\n`,
  )
  const second = await start()
  expect(second.attached).toBe(false)
  expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
})

test('files left behind by a killed initdb are removed', async () => {
  mkdirSync(join(dir, 'pg.new-dead'))
  await start()
  expect(() => statSync(join(dir, 'pg.new-dead'))).toThrow('ENOENT')
})

test.each(['started', 'attached to'])(
  'a server that was %s is restarted at the same address after it is killed',
  async (how) => {
    initialize()
    if (how === 'attached to') await start()
    const server = await start({ supervise: true })
    await query(server.url, 'CREATE TABLE kept AS SELECT 1 AS one')
    for (let round = 0; round < 2; round++) {
      const before = server.pid
      process.kill(before, 'SIGKILL')
      await until(() => server.pid !== before)
      expect(await until(() => query(server.url, 'SELECT one FROM kept'))).toEqual([{ one: 1 }])
    }
  },
)

test('a stopped server is not restarted', async () => {
  initialize()
  const server = await start({ supervise: true })
  await server.stop()
  expect(isAlive(server.pid)).toBe(false)
  const next = await start() // would attach to a restarted server
  expect(next.attached).toBe(false)
})

test('releasing the server leaves it running while it is in use, and stops it otherwise', async () => {
  initialize()
  const service = await start()
  const client = new pg.Client({ connectionString: service.url })
  await client.connect()
  const command = await start()
  await command.release()
  expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  await client.end()
  const last = await start()
  await last.release()
  expect(isAlive(service.pid)).toBe(false)
})

test('a second service on the same folder is refused with the id of the process that uses it', async () => {
  const release = await lockDataDir(dir)
  await expect(lockDataDir(dir)).rejects.toThrow(DataDirInUseError)
  await expect(lockDataDir(dir)).rejects.toThrow(`process ${process.pid}`)
  release()
  const again = await lockDataDir(dir)
  again()
})

function holdInAnotherProcess(): ChildProcess {
  const script = `import { lockDataDir } from './src/db/embedded.ts'; await lockDataDir(process.argv[1]); console.log('held'); setInterval(() => {}, 1000)`
  return spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script, dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

test('the lock of a killed service is taken over, even if its process id is in use again', async () => {
  const other = holdInAnotherProcess()
  await new Promise((resolve) => other.stdout?.once('data', resolve))
  await expect(lockDataDir(dir)).rejects.toThrow(DataDirInUseError)
  other.kill('SIGKILL')
  await new Promise((resolve) => other.once('close', resolve))
  const release = await lockDataDir(dir)
  const file = join(dir, 'service.lock')
  const lock = JSON.parse(readFileSync(file, 'utf8'))
  release()
  writeFileSync(file, JSON.stringify({ ...lock, born: 'another life' }))
  const reused = await lockDataDir(dir)
  reused()
})
