import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { execute, temporaryDir, urlOf } from '../support/postgres.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startWire } from '../support/wire.ts'

const dataDir = temporaryDir()
beforeAll(
  () => void execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')]),
  120_000,
)
afterAll(() => cleanUp(dataDir))

describe('an invalid setting', () => {
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
  ])(
    'as in %j ends the start with 2, and is named with its value and what is valid',
    async (settings, says) => {
      const process = run({ DATA_DIR: join(dataDir, 'never'), ...settings })
      expect((await process.exited).code).toBe(2)
      for (const words of says) expect(process.stderr).toContain(words)
      expect(process.stderr).not.toContain('hush')
      expect(process.stdout).toBe('')
      expect(existsSync(join(dataDir, 'never'))).toBe(false)
    },
  )
})

describe('a valid setting that cannot be used', () => {
  let first: ServiceProcess
  let taken: { PORT: string; SMTP_PORT: string }
  const dir = temporaryDir()
  beforeAll(async () => {
    first = run({ DATA_DIR: dataDir })
    const { http, smtp } = await first.ready()
    taken = { PORT: new URL(http).port, SMTP_PORT: smtp.split(':')[1]! }
  })
  afterAll(async () => {
    first.kill('SIGTERM')
    expect((await first.exited).code).toBe(0)
    await cleanUp(dir)
  })

  const refused = async (settings: Record<string, string>) => {
    const service = run({ DATA_DIR: dir, LOG_LEVEL: 'silent', ...settings })
    expect((await service.exited).code).toBe(2)
    expect(service.stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(existsSync(join(dir, 'pg', 'postmaster.pid'))).toBe(false)
    return service.stderr
  }

  test.each(['PORT', 'SMTP_PORT'] as const)(
    '(%s of another program) ends the start with 2 and one line',
    async (name) => {
      const never = join(dir, 'never')
      expect(await refused({ [name]: taken[name], DATA_DIR: never })).toMatch(
        new RegExp(
          `^${name} is ${taken[name]}; it takes a port that is free on 127\\.0\\.0\\.1: another program listens there already\\.`,
        ),
      )
      expect(existsSync(never)).toBe(false)
    },
  )

  test.each([
    ['HOST', 'no-such-host.invalid', 'this name is not known'],
    ['SMTP_HOST', 'no-such-host.invalid', 'this name is not known'],
    ['HOST', '192.0.2.1', 'an address of this machine'],
    ['SMTP_HOST', '192.0.2.1', 'an address of this machine'],
    ['PLAN', 'platinum', 'one of free, team, unlimited'],
  ])('(%s=%s) ends the start with 2 and one line', async (name, value, says) => {
    const line = await refused({ [name]: value })
    expect(line).toMatch(new RegExp(`^${name} is "${value}"; it takes .+\\.$`, 'm'))
    expect(line).toContain(says)
    expect(line).not.toContain('database connection lost')
  })

  test.each([
    ['a file', () => import.meta.filename],
    ['a folder below a file', () => join(import.meta.filename, 'data')],
    ['a place where no folder can be created', () => '/proc/ams/data'],
    ['a place where no file can be created', () => '/proc'],
  ])('(DATA_DIR that is %s) ends the start with 2 and one line', async (_, place) => {
    const value = place()
    expect(await refused({ DATA_DIR: value })).toMatch(
      new RegExp(
        `^DATA_DIR is ${JSON.stringify(value)}; it takes a folder that this user may write in \\(E[A-Z]+\\)\\.$`,
        'm',
      ),
    )
  })
})

test('--help prints the usage and exits with 0, even with invalid settings', async () => {
  const process = run({ PORT: 'http' }, '--help')
  expect((await process.exited).code).toBe(0)
  expect(process.stdout).toContain('npm start -- workspace --name NAME --owner EMAIL')
  expect(process.stderr).toBe('')
})

test('--version prints the version', async () => {
  const process = run({ PORT: 'http' }, '--version')
  expect((await process.exited).code).toBe(0)
  expect(process.stdout).toMatch(/^\d+\.\d+\.\d+( \([0-9a-f]{12}\))?\n$/)
})

test.each([[['token', '--member', 'owner@localhost']], [['psql', '-c', 'select 1']]])(
  'the command %j beside no database says so, and creates none',
  async (args) => {
    for (const existing of [false, true]) {
      const folder = existing ? temporaryDir() : join(dataDir, 'never')
      const process = run({ DATA_DIR: folder }, ...args)
      expect((await process.exited).code).toBe(2)
      expect(process.stderr).toBe(
        `There is no database in DATA_DIR ${folder}: set DATA_DIR, or DATABASE_URL, as the service has it.\n`,
      )
      expect(existing ? readdirSync(folder) : existsSync(folder)).toEqual(existing ? [] : false)
      if (existing) await cleanUp(folder)
    }
  },
)

test('a wrong command line ends with 2 and one line, without creating a database', async () => {
  const process = run({ DATA_DIR: join(dataDir, 'never') }, 'fly')
  expect((await process.exited).code).toBe(2)
  expect(process.stderr).toMatch(/^.+ All commands: npm start -- --help\n$/)
  expect(existsSync(join(dataDir, 'never'))).toBe(false)
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

  test('is used instead of the embedded database, by several processes', async () => {
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

  test('that cannot be reached yet is waited for', async () => {
    const wire = await startWire(settings().DATABASE_URL)
    await wire.cut()
    const service = run({ ...settings(), DATABASE_URL: wire.url })
    await until(() =>
      service.stderr.includes('the database cannot be reached; waiting for it for up to 30 s'),
    )
    await wire.mend()
    await service.ready()
    service.kill('SIGTERM')
    expect((await service.exited).code).toBe(0)
    await wire.cut()
  })

  test('that does not come ends the start with 1: with 2, systemd would not start it again', async () => {
    const wire = await startWire(settings().DATABASE_URL)
    await wire.cut()
    const service = run({ ...settings(), DATABASE_URL: wire.url })
    expect((await service.exited).code).toBe(1)
    expect(service.stderr).toMatch(/it takes a PostgreSQL that can be used \(.+\)\.\n$/)
  })

  test('with another MASTER_KEY than the database was created with is refused with 2', async () => {
    const service = run({ ...settings(), MASTER_KEY: randomBytes(32).toString('base64') })
    expect((await service.exited).code).toBe(2)
    expect(service.stderr).toContain('MASTER_KEY')
  })

  describe('that cannot be used', () => {
    const elsewhere = (change: (url: URL) => void) => {
      const url = new URL(urlOf(inject('postgres').url, name))
      url.password ||= 'hush'
      change(url)
      return url.href
    }
    const role = `reader_${randomBytes(6).toString('hex')}`
    const latin = `latin_${randomBytes(6).toString('hex')}`
    beforeAll(async () => {
      await execute(
        urlOf(inject('postgres').url, name),
        `CREATE ROLE ${role} LOGIN PASSWORD 'hush'; REVOKE CREATE ON SCHEMA public FROM public`,
      )
      await execute(
        inject('postgres').url,
        `CREATE DATABASE ${latin} ENCODING LATIN1 LOCALE 'C' TEMPLATE template0`,
      )
    })
    afterAll(async () => {
      await execute(inject('postgres').url, `DROP ROLE ${role}`)
      await execute(inject('postgres').url, `DROP DATABASE ${latin}`)
    })

    test.each<[string, (url: URL) => void, RegExp]>([
      [
        'its database does not exist',
        (url) => Object.assign(url, { pathname: '/nowhere' }),
        /database does not exist/,
      ],
      ['its role does not exist', (url) => Object.assign(url, { username: 'nobody_here' }), /role/],
      [
        'its role may not create tables',
        (url) => Object.assign(url, { username: role, password: 'hush' }),
        /may not create tables/,
      ],
      [
        'the server does not support TLS',
        (url) => Object.assign(url, { search: '?sslmode=verify-full' }),
        /SSL/,
      ],
      [
        'the server does not support the TLS that a provider’s URL asks for',
        (url) => Object.assign(url, { search: '?sslmode=require' }),
        /SSL/,
      ],
      [
        'a certificate that its URL names is missing',
        (url) => Object.assign(url, { search: '?sslmode=verify-full&sslrootcert=/nowhere.pem' }),
        /no such file/,
      ],
      ['its encoding is not UTF8', (url) => Object.assign(url, { pathname: `/${latin}` }), /LATIN1/],
    ])(
      'ends the start with 2 and one line with the reason but not the password if %s',
      async (_, change, says) => {
        const DATABASE_URL = elsewhere(change)
        const service = run({ ...settings(), DATABASE_URL, LOG_LEVEL: 'silent' })
        expect((await service.exited).code).toBe(2)
        expect(service.stderr).toMatch(
          /^DATABASE_URL is "postgres(ql)?:\/\/\*\*\*@.+; it takes a PostgreSQL that can be used \(.+\)\.\n$/,
        )
        expect(service.stderr).toMatch(says)
        expect(service.stderr).not.toContain(new URL(DATABASE_URL).password)
      },
    )
  })
})

test('a process without the API serves only health checks', async () => {
  const service = run({ DATA_DIR: dataDir, ROLES: 'worker' })
  const { http, smtp } = await service.ready()
  expect(smtp).toBeNull()
  const nobody = apiOf(http, null)
  expect((await nobody('GET', '/healthz')).status).toBe(200)
  expect((await nobody('GET', '/agents')).status).toBe(404)
  expect(service.stderr).toContain('outgoing mail is stored, not sent')
  service.kill('SIGTERM')
  expect((await service.exited).code).toBe(0)
})

test('a process that sends nothing does not warn that outgoing mail is stored', async () => {
  const service = run({ DATA_DIR: dataDir, ROLES: 'api' })
  await service.ready()
  service.kill('SIGTERM')
  expect((await service.exited).code).toBe(0)
  expect(service.stderr).toContain('stopping')
  expect(service.stderr).not.toContain('outgoing mail is stored')
})
