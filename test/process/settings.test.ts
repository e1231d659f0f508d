import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { execute, temporaryDir, urlOf } from '../support/postgres.ts'
import { cleanUp, run } from '../support/process.ts'
import { apiOf } from '../support/service.ts'

// Each start of Node and PostgreSQL takes seconds on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

const dataDir = temporaryDir()
beforeAll(() => void execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')]), 120_000)
afterAll(() => cleanUp(dataDir))

describe('a setting that cannot be', () => {
  test.each([
    [
      { PORT: 'http', ROLES: 'api,cook', OWNER_TOKEN: 'hush', MASTER_KEY: 'hush-hush', LOG_LEVEL: 'loud' },
      [
        'PORT is "http"; it takes a port',
        'ROLES is "api,cook"',
        'OWNER_TOKEN is a value of 4 characters (not shown)',
        '32 bytes',
        'LOG_LEVEL is "loud"',
      ],
    ],
    [{ DATABASE_URL: 'postgresql://me:hush@db/x' }, ['MASTER_KEY is not set']],
  ])('%j ends the start with 2, named with what it got and what it takes', async (settings, says) => {
    const process = run({ DATA_DIR: join(dataDir, 'never'), ...settings })
    expect((await process.exited).code).toBe(2)
    for (const words of says) expect(process.stderr).toContain(words)
    expect(process.stderr).not.toContain('hush')
    expect(process.stdout).toBe('')
    expect(existsSync(join(dataDir, 'never'))).toBe(false)
  })
})

test('a port that is taken ends the start with what is wrong, and leaves nothing running', async () => {
  const first = run({ DATA_DIR: dataDir })
  const { http, smtp } = await first.ready()
  const dir = temporaryDir()
  for (const settings of [{ PORT: new URL(http).port }, { SMTP_PORT: smtp.split(':')[1]! }]) {
    const second = run({ DATA_DIR: dir, ...settings })
    expect((await second.exited).code).toBeGreaterThan(0)
    expect(second.stderr).toMatch(/^Cannot listen on 127\.0\.0\.1:\d+: another program listens there already\./m)
    expect(existsSync(join(dir, 'pg', 'postmaster.pid'))).toBe(false)
  }
  first.kill('SIGTERM')
  expect((await first.exited).code).toBe(0)
  rmSync(dir, { recursive: true })
})

describe('DATABASE_URL', () => {
  const name = `process_${randomBytes(6).toString('hex')}`
  const settings = () => ({
    DATA_DIR: join(dataDir, 'outside'),
    DATABASE_URL: urlOf(inject('postgres').url, name),
    MASTER_KEY: randomKey,
    OWNER_TOKEN: 'a token of the owner, chosen by hand',
  })
  const randomKey = randomBytes(32).toString('base64')
  beforeAll(() => execute(inject('postgres').url, `CREATE DATABASE ${name}`))
  afterAll(() => execute(inject('postgres').url, `DROP DATABASE ${name} WITH (FORCE)`))

  test('is used in place of the embedded one, by several processes at once', async () => {
    const [one, two] = [run(settings()), run(settings())]
    const [first, second] = await Promise.all([one.ready(), two.ready()])
    expect(readdirSync(settings().DATA_DIR)).not.toContain('pg')
    const owner = apiOf(first.http, settings().OWNER_TOKEN)
    const created = await owner('POST', '/agents', { name: 'Bot', icon: 'bot' })
    expect(created.status).toBe(201)
    expect((await apiOf(second.http, settings().OWNER_TOKEN)('GET', '/agents')).body).toEqual([created.body])
    expect((one.stdout + two.stdout).match(/Owner token/g)).toHaveLength(1)
    for (const service of [one, two]) {
      service.kill('SIGTERM')
      expect((await service.exited).code).toBe(0)
    }
  })

  test('with another MASTER_KEY than it was made with is refused with 2', async () => {
    const service = run({ ...settings(), MASTER_KEY: randomBytes(32).toString('base64') })
    expect((await service.exited).code).toBe(2)
    expect(service.stderr).toContain('MASTER_KEY')
  })

  test('that nobody answers ends the start with what is wrong, without its password', async () => {
    const service = run({ ...settings(), DATABASE_URL: 'postgresql://me:hush@127.0.0.1:1/x' })
    expect((await service.exited).code).toBe(1)
    expect(service.stderr).toMatch(/ECONNREFUSED|cannot reach|refused/)
    expect(service.stderr).not.toContain('hush')
  })
})

test('a process without the api serves health alone', async () => {
  const service = run({ DATA_DIR: dataDir, ROLES: 'worker' })
  const { http, smtp } = await service.ready()
  expect(smtp).toBeNull()
  const nobody = apiOf(http, null)
  expect((await nobody('GET', '/healthz')).status).toBe(200)
  expect((await nobody('GET', '/agents')).status).toBe(404)
  service.kill('SIGTERM')
  expect((await service.exited).code).toBe(0)
})
