import { execFileSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { EXCLUDES } from '../../src/db/schema.ts'
import { runDoctor } from '../../src/doctor/doctor.ts'
import type { Report } from '../../src/doctor/report.ts'
import { dkimKeys } from '../../src/email-domain/dkim.ts'
import { createKeyring } from '../../src/workspace/encryption/keyring.ts'
import { createWorkspace } from '../../src/workspace/workspace.ts'
import { afterFile } from '../support/after-file.ts'
import { openTestDatabase } from '../support/database.ts'
import { startDns, type Zone } from '../support/dns.ts'
import { freePort } from '../support/port.ts'
import { temporaryDir } from '../support/postgres.ts'
import { cleanUp, run } from '../support/process.ts'
import { createTestAgent, startService } from '../support/service.ts'
import { giveNumber, openTwilio } from '../support/sms.ts'
import { startTelegram } from '../support/telegram.ts'

const dataDir = temporaryDir()
beforeAll(
  () => void execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')]),
  120_000,
)
afterAll(() => cleanUp(dataDir))

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterFile(() => void server.close())
  return String((server.address() as AddressInfo).port)
}
const nameServer = async (zone: Zone): Promise<string> => {
  const server = await startDns(zone)
  afterFile(() => server.stop())
  return server.address
}
const certificate = async (name: string, days: number) => {
  const made = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    notBeforeDate: new Date(Date.now() - 40 * 86_400_000),
    notAfterDate: new Date(Date.now() + days * 86_400_000),
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
  })
  const files = { SMTP_TLS_CERT: join(dataDir, `${name}.crt`), SMTP_TLS_KEY: join(dataDir, `${name}.key`) }
  writeFileSync(files.SMTP_TLS_CERT, made.cert)
  writeFileSync(files.SMTP_TLS_KEY, made.private)
  return files
}
const examine = async (environment: Record<string, string>): Promise<Report> =>
  JSON.parse((await runDoctor({ DATA_DIR: dataDir, ...environment }, { json: true })).text)
const said = ({ findings }: Report, ...statuses: string[]): string[] =>
  findings.filter(({ status }) => statuses.includes(status)).map(({ area, message }) => `${area}: ${message}`)

test('before the first start, a set-up without settings has no problem, and nothing is created', async () => {
  const doctor = run({ DATA_DIR: join(dataDir, 'never') }, 'doctor')
  expect(await doctor.exited).toEqual({ code: 0, signal: null })
  expect(doctor.stdout).toContain('There is no embedded database yet')
  expect(doctor.stdout).toMatch(/^0 problems, 1 warning\.$/m)
  expect(existsSync(join(dataDir, 'never'))).toBe(false)
})

test('the doctor names each fault of a broken set-up with a remedy, shows no secret, and exits with 1', async () => {
  const db = await openTestDatabase(2)
  await createWorkspace(
    { ...db, masterKey: randomBytes(32) },
    { name: 'Acme', ownerEmail: 'owner@example.com', plan: 'unlimited' },
  )
  const dns = await nameServer({
    'agents.example.org': {
      MX: [{ priority: 10, exchange: 'old.example.org' }],
      TXT: ['v=spf1 -all', 'v=spf1 ip4:192.0.2.1 -all'],
    },
    '_dmarc.agents.example.org': { TXT: ['v=DMARC1; p=maybe'] },
    'mx.example.org': { A: ['127.0.0.1'] },
  })
  const stranger = createHttpServer((_, response) =>
    response.writeHead(502, { Date: new Date(Date.now() - 3_600_000).toUTCString() }).end('Bad Gateway'),
  )
  const port = await listen(stranger)
  const broken = {
    DATA_DIR: dataDir,
    DATABASE_URL: db.url,
    MASTER_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'loud',
    MAIL_DOMAIN: 'agents.example.org',
    MAIL_HOST: 'mx.example.org',
    DNS_SERVERS: dns,
    PORT: port,
    SMTP_PORT: port,
    SMTP_DIRECT: 'on',
    OWNER_EMAIL: 'owner@example.net',
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    RSPAMD_URL: `http://127.0.0.1:${await freePort()}`,
    TWILIO_ACCOUNT_SID: 'AC1',
    TWILIO_AUTH_TOKEN: 'hush-hush',
    TWILIO_API_URL: `http://127.0.0.1:${port}`,
    ...(await certificate('old.example.org', -1)),
  }
  const doctor = run(broken, 'doctor')
  expect(await doctor.exited).toEqual({ code: 1, signal: null })
  const { stdout } = doctor
  for (const words of [
    'LOG_LEVEL is "loud"; it takes one of',
    'The master key is not the one that this database was created with.',
    'MX agents.example.org: The record points to a different host.',
    'SPF agents.example.org: there are 2 records',
    'TXT _dmarc.agents.example.org: Its p= must be none, quarantine or reject.',
    'SPF does not allow 127.0.0.1 to send for agents.example.org',
    'PTR of 127.0.0.1 (mx.example.org): there is no such record.',
    `PORT ${port} is in use by another program.`,
    `SMTP_PORT ${port} is in use by another program.`,
    'The certificate of SMTP_TLS_CERT expired on',
    'The certificate of SMTP_TLS_CERT is not for mx.example.org, but for DNS:old.example.org.',
    'Twilio refuses: Twilio responded with HTTP 502',
    'does not answer (ECONNREFUSED)',
  ])
    expect(stdout).toContain(words)
  expect(stdout).toMatch(/The clock of this machine is 360[01] s ahead of that of 127\.0\.0\.1/)
  expect(stdout).toMatch(/^1[0-9] problems, \d+ warnings?\.$/m)
  expect(stdout).not.toContain('hush')
  expect(stdout).not.toContain(broken.MASTER_KEY)
  const problems = (await examine(broken)).findings.filter(({ status }) => status === 'problem')
  for (const { advice } of problems) expect(advice).toMatch(/^[A-Z].*[^ ]$/)
})

test('a set-up in which everything is right, beside its running service, has no problem', async () => {
  const [twilio, telegram] = [await openTwilio(), await startTelegram()]
  const manager = telegram.world.bot('manager_bot', { canManage: true })
  const [port, smtpPort] = [await freePort(), await freePort()]
  const zone: Zone = {
    'agents.example.org': {
      MX: [{ priority: 10, exchange: 'mx.example.org' }],
      TXT: ['v=spf1 a:mx.example.org -all'],
    },
    '_dmarc.agents.example.org': { TXT: ['v=DMARC1; p=reject'] },
    'mx.example.org': { A: ['127.0.0.1'] },
    '1.0.0.127.in-addr.arpa': { PTR: ['mx.example.org'] },
  }
  const environment = {
    ...twilio.environment,
    TELEGRAM_API_URL: telegram.url,
    TELEGRAM_MANAGER_TOKEN: manager.token,
    MAIL_DOMAIN: 'agents.example.org',
    MAIL_HOST: 'mx.example.org',
    SMTP_DIRECT: 'on',
    PORT: String(port),
    SMTP_PORT: String(smtpPort),
    DNS_SERVERS: await nameServer(zone),
    ...(await certificate('mx.example.org', 60)),
  }
  const service = await startService({ environment })
  const tenant = await service.workspace()
  const agent = await createTestAgent(service, tenant)
  await giveNumber(service, twilio, agent, '+15005550101')
  manager.webhook = {
    url: `http://localhost:${port}/channels/telegram/manager`,
    secret: undefined,
    allowed: [],
  }
  const keys = await dkimKeys(
    { ...service.db, keyring: createKeyring(service.db, service.masterKey), clock: systemClock },
    { domain: 'agents.example.org', workspaceId: null },
  )
  for (const { record } of keys) zone[record.name] = { TXT: [record.value] }
  const settings = {
    ...environment,
    DATABASE_URL: service.databaseUrl,
    MASTER_KEY: Buffer.from(service.masterKey).toString('base64'),
  }
  const report = await examine(settings)
  // Whether something listens on port 25 depends on the machine that runs this test.
  const portless = said(report, 'problem', 'warning').filter((text) => !text.startsWith('ports: Port 25 of'))
  expect(portless).toEqual([])
  expect(said(report, 'ok')).toEqual(
    expect.arrayContaining([
      `ports: The service answers on PORT ${port} and is ready.`,
      expect.stringMatching(/^database: All \d+ migrations are applied\.$/),
      'dns: PTR of 127.0.0.1 is mx.example.org.',
      'clock: The clock agrees with that of the database.',
      'providers: Twilio sends the texts of 1 numbers here.',
      'providers: @manager_bot may create bots.',
    ]),
  )

  twilio.numbers.get('+15005550101')!.smsUrl = 'https://elsewhere.example.com/sms'
  manager.webhook = null
  manager.canManage = false
  const key = keys[0]!.record.name
  zone[key] = { TXT: ['v=DKIM1; k=rsa; p=AAAA'] }
  await tenant.api('POST', '/domains', { name: 'customer.example.com' })
  const later = await examine(settings)
  expect(said(later, 'problem').filter((text) => !text.startsWith('ports: Port 25 of'))).toEqual([
    `dns: TXT ${key}: The record contains a different key, or only a part of this one.`,
    expect.stringMatching(/^providers: Twilio sends the texts of \+15005550101 to https:\/\/elsewhere/),
    'providers: @manager_bot (TELEGRAM_MANAGER_TOKEN) may not manage bots.',
    expect.stringMatching(/^providers: Telegram sends the updates of @manager_bot to nowhere/),
  ])
  expect(said(later, 'warning')).toContain('dns: MX customer.example.com: There is no such record.')
})

test('a database that cannot be reached, and one that is not UTF8, are problems in words', async () => {
  const MASTER_KEY = randomBytes(32).toString('base64')
  const port = await freePort()
  const away = await examine({ DATABASE_URL: `postgresql://me:hush@127.0.0.1:${port}/ams`, MASTER_KEY })
  expect(away.ok).toBe(false)
  expect(said(away, 'problem')[0]).toMatch(
    /^database: The database of DATABASE_URL cannot be used: .*ECONNREFUSED/,
  )
  expect(JSON.stringify(away)).not.toContain('hush')
  const db = await openTestDatabase(1)
  const name = `latin_${randomBytes(6).toString('hex')}`
  await db.pool.query(`create database ${name} encoding 'SQL_ASCII' template template0 locale 'C'`)
  afterFile(() => db.pool.query(`drop database ${name} with (force)`).then(() => undefined))
  const url = new URL(db.url)
  url.pathname = `/${name}`
  const empty = await examine({ DATABASE_URL: url.href, MASTER_KEY })
  expect(said(empty, 'problem')).toEqual([
    expect.stringMatching(/^database: The encoding of the database is SQL_ASCII/),
  ])
  expect(said(empty, 'ok')).toContain('database: The database is empty: the first start creates its tables.')
})

test('a database that Citus distributes is a problem, with what to do', async () => {
  const db = await openTestDatabase(1)
  const settings = { DATABASE_URL: db.url, MASTER_KEY: randomBytes(32).toString('base64') }
  const distributed = (report: Report) =>
    report.findings.filter(({ message }) => message.includes('distributed with Citus'))
  expect(distributed(await examine(settings))).toEqual([])
  // As Citus has it, as far as it is read.
  await db.pool.query(`set allow_system_table_mods = on;
    create table pg_catalog.pg_dist_partition (logicalrelid regclass); insert into pg_dist_partition values ('message')`)
  const report = await examine(settings)
  expect(report.ok).toBe(false)
  expect(distributed(report)).toEqual([
    {
      area: 'database',
      status: 'problem',
      message: expect.stringMatching(/with version 1\.1\.0, dump it .* and restore/),
      advice: 'Until then this build does not start.',
    },
  ])
})

const byWord = ({ findings }: Report, words: RegExp) => findings.filter(({ message }) => words.test(message))

test('time limits of the role are named, and those that the service cannot bear are warned of', async () => {
  const db = await openTestDatabase(1)
  const settings = { DATABASE_URL: db.url, MASTER_KEY: randomBytes(32).toString('base64') }
  const limits = async (more: Record<string, string> = {}) =>
    byWord(await examine({ ...settings, ...more }), /time limits/)
  const name = new URL(db.url).pathname.slice(1)
  const set = (limit: string) => db.pool.query(`alter database ${name} set ${limit}`)
  expect(await limits()).toMatchObject([{ status: 'ok', message: expect.stringContaining('no time limits') }])
  await set(`statement_timeout = '1s'`)
  // The service sets its own; with a pooler it cannot.
  expect(await limits()).toMatchObject([
    {
      status: 'ok',
      message: expect.stringMatching(/migrations, dumps and restores end .*: statement_timeout = 1s\.$/),
    },
  ])
  expect(await limits({ DATABASE_DIRECT_URL: db.url })).toMatchObject([
    {
      status: 'warning',
      message: expect.stringMatching(/end what the service does: statement_timeout = 1s\.$/),
    },
  ])
  await set(`lock_timeout = '500ms'`)
  await set(`idle_in_transaction_session_timeout = '1min'`)
  const [found] = await limits()
  expect(found).toMatchObject({ status: 'warning', advice: expect.stringContaining('RESET lock_timeout') })
  expect(found!.message).toMatch(/end what the service does: lock_timeout = 500ms\.$/)
})

test('migrations that are pending, begun or unknown are named, with a wrong key at the same time', async () => {
  const db = await openTestDatabase(1)
  const settings = { DATABASE_URL: db.url, MASTER_KEY: randomBytes(32).toString('base64') }
  await createWorkspace(
    { ...db, masterKey: randomBytes(32) },
    { name: 'Acme', ownerEmail: 'owner@example.com', plan: 'unlimited' },
  )
  const [{ last }] = (await db.pool.query('select max(migration_name) as last from _prisma_migrations'))
    .rows as [{ last: string }]
  const row = (name: string, logs: string | null, finished: string) =>
    db.pool.query(
      `insert into _prisma_migrations (id, checksum, migration_name, logs, finished_at) values ($1, 'x', $2, $3, ${finished})`,
      [randomUUID(), name, logs],
    )
  const remove = (name: string) =>
    db.pool.query('delete from _prisma_migrations where migration_name = $1', [name])
  const found = async () => {
    const report = await examine(settings)
    // Also before the upgrade, which a wrong key would stop.
    expect(said(report, 'problem')).toContain(
      'database: The master key is not the one that this database was created with.',
    )
    return byWord(report, /[mM]igration|later release/).filter(({ message }) => !/time limits/.test(message))
  }
  await remove(last)
  expect(await found()).toMatchObject([
    {
      status: 'warning',
      message: expect.stringMatching(/older than this build: 1 migration of \d+ pending/),
    },
  ])
  await row(last, EXCLUDES, 'null')
  expect(await found()).toMatchObject([
    { status: 'warning', message: `The migration ${last} has begun and is not finished.` },
  ])
  await db.pool.query('update _prisma_migrations set logs = null where migration_name = $1', [last])
  expect(await found()).toMatchObject([{ status: 'problem', message: `The migration ${last} failed.` }])
  await db.pool.query('update _prisma_migrations set finished_at = now() where migration_name = $1', [last])
  await row('29990101000000_later', null, 'now()')
  expect(await found()).toMatchObject([
    { status: 'warning', message: 'The database is newer than this build by 1 migration.' },
  ])
  await row('29990101000001_fence', EXCLUDES, 'now()')
  expect(await found()).toMatchObject([
    { status: 'problem', message: expect.stringMatching(/belongs to a later release.*29990101000001_fence/) },
  ])
})
