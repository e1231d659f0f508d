import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { runPsql } from '../../src/backup/psql.ts'
import { deliver } from '../support/mail.ts'
import { execute, temporaryDir, urlOf } from '../support/postgres.ts'
import { cleanUp, run } from '../support/process.ts'
import { type Api, apiOf } from '../support/service.ts'

/** The drill of docs/operations.md: an embedded database is dumped while it works, and restored elsewhere. */

const folder = temporaryDir()
const dataDir = join(folder, 'data')
const file = join(folder, 'backup.sql.gz')
const odd = 'Tabs\tand \\. back\\slashes, "quotes"\nand a line with\n\\.\nonly'
let token: string
let agent: string
let before: string

const name = `moved_${randomBytes(6).toString('hex')}`
const own = urlOf(inject('postgres').url, name)

const command = async (settings: Record<string, string>, ...args: string[]) => {
  const ran = run({ LOG_LEVEL: 'warn', ...settings }, ...args)
  const { code } = await ran.exited
  return { code, stdout: ran.stdout, stderr: ran.stderr }
}

/** Everything that a member sees of the agent, and a secret, which only the right master key opens. */
const seen = async (api: Api): Promise<string> => {
  const message = (await api('GET', `/agents/${agent}/messages`)).body.items[0]
  return JSON.stringify([
    (await api('GET', `/agents/${agent}`)).body,
    message,
    (await api('GET', `/agents/${agent}/messages/${message.id}/raw`)).text,
    (await api('GET', `/agents/${agent}/events?after=0`)).body.items,
    (await api('GET', `/agents/${agent}/messages?q=slashes`)).body.items.length,
  ])
}

beforeAll(async () => {
  execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')])
  chmodSync(folder, 0o711) // PostgreSQL's user passes through it
  mkdirSync(dataDir, { mode: 0o711 })
  await execute(inject('postgres').url, `create database ${name}`)
})
afterAll(async () => {
  await cleanUp(folder)
  await execute(inject('postgres').url, `drop database ${name} with (force)`)
})

test('dump writes a private, complete file beside a running service', async () => {
  const service = run({ DATA_DIR: dataDir, OWNER_EMAIL: 'boss@example.com' })
  const { http, smtp } = await service.ready()
  token = readFileSync(join(dataDir, 'owner-token'), 'utf8').trim()
  const api = apiOf(http, token)
  const { body } = await api('POST', '/agents', { name: 'Bot', icon: 'bot' })
  agent = body.id
  await api('PUT', `/agents/${agent}/access/email`, { admit: 'anyone', senders: [] })
  await api('PUT', `/agents/${agent}/secrets/KEY`, { value: 'tr0ub4dor' })
  const [{ value: to }] = (await api('GET', `/agents/${agent}/addresses`)).body
  await deliver(smtp, { from: 'ann@example.com', to, subject: 'Odd', text: odd })
  before = await seen(api)
  const dumped = await command({ DATA_DIR: dataDir }, 'dump', file)
  expect(dumped.code).toBe(0)
  expect(JSON.parse(dumped.stdout)).toMatchObject({
    file,
    rows: expect.any(Number),
    bytes: statSync(file).size,
  })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const text = gunzipSync(readFileSync(file)).toString()
  expect(text).toContain('copy "message" (')
  expect(text).not.toContain('tr0ub4dor')
  service.kill('SIGTERM')
  expect((await service.exited).code).toBe(0)
})

test('restore refuses what would destroy data, or could not be read: and changes nothing', async () => {
  expect(await command({ DATA_DIR: dataDir }, 'restore', file)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The database is not empty'),
  })
  const fresh = join(folder, 'fresh')
  expect(await command({ DATA_DIR: fresh }, 'restore', file)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no master key'),
  })
  const settings = { DATABASE_URL: own, DATA_DIR: fresh, MASTER_KEY: randomBytes(32).toString('base64') }
  expect(await command(settings, 'restore', file)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The master key is not the one of the dump'),
  })
  const cut = join(folder, 'cut.sql')
  const whole = gunzipSync(readFileSync(file))
  writeFileSync(cut, whole)
  truncateSync(cut, whole.length - 10)
  expect(await command(settings, 'restore', cut)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The dump is not complete'),
  })
  writeFileSync(cut, whole.toString().replace(/"migrations":\["[^"]+",/, '"migrations":['))
  expect(await command(settings, 'restore', cut)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The dump is of an older version (1 fewer migrations)'),
  })
  writeFileSync(cut, 'PGDMP\n')
  expect(await command(settings, 'restore', cut)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The file is not a dump of this service'),
  })
  const client = new pg.Client({ connectionString: own })
  client.on('error', () => undefined)
  await client.connect()
  expect((await client.query('select count(*)::int as n from workspace')).rows).toEqual([{ n: 0 }])
  expect((await client.query('select count(*)::int as n from plan')).rows[0].n).toBeGreaterThan(0)
  await client.end()
})

test.each([
  ['another embedded database', (): Record<string, string> => ({ DATA_DIR: join(folder, 'second') })],
  [
    'your own database',
    (): Record<string, string> => ({
      DATA_DIR: join(folder, 'third'),
      DATABASE_URL: own,
      MASTER_KEY: readFileSync(join(dataDir, 'master.key'), 'utf8').split('\n')[0]!,
    }),
  ],
])('restored into %s, everything is there as before', async (_, settingsOf) => {
  const settings = settingsOf()
  mkdirSync(settings.DATA_DIR!, { recursive: true, mode: 0o711 })
  if (!settings.DATABASE_URL)
    copyFileSync(join(dataDir, 'master.key'), join(settings.DATA_DIR!, 'master.key'))
  const restored = await command(settings, 'restore', file)
  expect(restored).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(restored.stdout).rows).toBeGreaterThan(10)
  const service = run(settings)
  const { http } = await service.ready()
  expect(service.stdout).not.toContain('amt_')
  const api = apiOf(http, token)
  expect(await seen(api)).toBe(before)
  // Clients may have seen events that came after the dump: their ids are not used again.
  expect((await api('GET', `/agents/${agent}/events?after=0`)).body.lastId).toBe(1_000_000_000)
  // New rows get new ids: the sequences went along.
  expect((await api('POST', '/agents', { name: 'Second', icon: 'bot' })).status).toBe(201)
  const minted = await api('POST', `/agents/${agent}/tokens`, {})
  const revealed = await apiOf(http, minted.body.token)('POST', `/agents/${agent}/secrets/reveal`, {})
  expect(revealed.body).toEqual({ KEY: 'tr0ub4dor' })
  service.kill('SIGTERM')
  expect((await service.exited).code).toBe(0)
})

const hasPsql = spawnSync('psql', ['--version']).status === 0

test.skipIf(!hasPsql)(
  'psql opens the database, and ends with its exit code (skipped without psql)',
  async () => {
    const asked = await command({ DATA_DIR: dataDir }, 'psql', '-Atc', 'select count(*) from agent')
    expect(asked).toMatchObject({ code: 0, stdout: '1\n' })
    expect((await command({ DATA_DIR: dataDir }, 'psql', '-c', 'select broken')).code).toBe(1)
  },
)

test('without psql, the command says what to install', async () => {
  vi.stubEnv('PATH', folder)
  const asked = runPsql('postgresql://me@127.0.0.1/ams', [])
  await expect(asked).rejects.toThrow('apt-get install postgresql-client')
  vi.unstubAllEnvs()
})
