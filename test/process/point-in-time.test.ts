import { execFile, type SpawnOptions, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { runAs } from '../../src/db/embedded/user.ts'
import { startDns } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { openEvents } from '../support/events.ts'
import { deliver } from '../support/mail.ts'
import { temporaryDir } from '../support/postgres.ts'
import { cleanUp, lives, run, type ServiceProcess } from '../support/process.ts'
import { createReceiver } from '../support/receiver.ts'
import { startRelay } from '../support/relay.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

/**
 * A PostgreSQL of the operator's own with an archive of its WAL is lost under load, and restored to a chosen time with
 * docs/deployment/rehearse-restore. It needs PostgreSQL's server programs; the embedded ones lack pg_basebackup.
 */

const root = join(import.meta.dirname, '..', '..')
const script = join(root, 'docs', 'deployment', 'rehearse-restore', 'main.mjs')
const NEEDED = ['initdb', 'postgres', 'pg_ctl', 'pg_basebackup', 'psql', 'pg_isready']
const folders = [
  ...[18, 17, 16, 15, 14].map((version) => `/usr/lib/postgresql/${version}/bin`),
  ...(process.env.PATH ?? '').split(delimiter),
]
const programs = folders.find((dir) => NEEDED.every((program) => existsSync(join(dir, program))))

const folder = temporaryDir()
chmodSync(folder, 0o711) // PostgreSQL's user passes through it
const [data, archive, base, scratch] = ['data', 'archive', 'base', 'scratch'].map((part) =>
  join(folder, part),
) as [string, string, string, string]

/** Runs one of PostgreSQL's programs as a user that it accepts. */
const postgres = (program: string, ...args: string[]): void => {
  const user = runAs(data, join(programs!, 'postgres'))
  const asked = user.command(join(programs!, program), args)
  const options: SpawnOptions = { ...asked.options, cwd: '/', stdio: ['ignore', 'ignore', 'inherit'] }
  const { status } = spawnSync(asked.file, asked.args, options)
  if (status !== 0) throw new Error(`${program} ended with ${status}`)
}
const owned = (path: string): void => {
  mkdirSync(path)
  const { owner } = runAs(data, join(programs!, 'postgres'))
  if (owner) chownSync(path, owner.uid, owner.gid)
}
const url = (host: string): string => `postgresql:///ams?host=${host}&user=postgres`

const startPrimary = (): void => {
  for (const path of [archive, data]) owned(path)
  postgres('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync')
  const settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    fsync: 'off',
    archive_mode: 'on',
    archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f.part && mv ${archive}/%f.part ${archive}/%f`,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
  appendFileSync(join(data, 'postgresql.conf'), lines.join(''))
  chmodSync(folder, 0o777) // for the socket
  postgres('pg_ctl', '-D', data, '-w', '-l', join(archive, 'log'), 'start')
  psql('postgres', 'create database ams')
}
const psql = (database: string, statement: string): string => {
  const target = `postgresql:///${database}?host=${folder}&user=postgres`
  const ran = spawnSync(join(programs!, 'psql'), ['-XqAt', '-d', target, '-c', statement], {
    encoding: 'utf8',
  })
  if (ran.status !== 0) throw new Error(ran.stderr)
  return ran.stdout.trim()
}
const pidOf = (dir: string): number => Number.parseInt(readFileSync(join(dir, 'postmaster.pid'), 'utf8'), 10)

/** As when the machine is gone. */
const losePrimary = async (): Promise<void> => {
  const pid = pidOf(data)
  process.kill(pid, 'SIGKILL')
  await until(() => !lives(pid))
  rmSync(data, { recursive: true })
}

afterAll(async () => {
  for (const dir of [data, join(scratch, 'data')])
    if (existsSync(join(dir, 'postmaster.pid'))) process.kill(pidOf(dir), 'SIGQUIT')
  await cleanUp(folder)
})

test.skipIf(!programs)(
  'a lost database comes back as it was at a chosen time, and works with clients that have seen more (skipped without pg_basebackup)',
  async () => {
    startPrimary()
    const [relay, receiver, dns] = [
      await startRelay(),
      await createReceiver(),
      await startDns(proves('example.com')),
    ]
    const settings = {
      DATABASE_URL: url(folder),
      DATA_DIR: join(folder, 'service'),
      MASTER_KEY: randomBytes(32).toString('base64'),
      OWNER_TOKEN: randomBytes(32).toString('hex'),
      DNS_SERVERS: dns.address,
      SMTP_RELAY_URL: relay.url,
      WEBHOOK_ALLOW: '127.0.0.1',
      RATE_LIMIT: '1000000',
    }
    const start = async (service: ServiceProcess) => ({ service, ...(await service.ready()) })
    const first = await start(run(settings))
    const api = apiOf(first.http, settings.OWNER_TOKEN)
    const { id } = (await api('POST', '/agents', { name: 'Bot', icon: 'bot' })).body
    await api('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] })
    await api('PUT', `/agents/${id}/secrets/KEY`, { value: 'tr0ub4dor' })
    const [{ value: to }] = (await api('GET', `/agents/${id}/addresses`)).body
    const { token } = (await api('POST', `/agents/${id}/tokens`, {})).body
    const { secret } = (await api('POST', `/agents/${id}/webhooks`, { url: `${receiver.url}/hook` })).body
    receiver.expect('/hook', secret)
    const connection = (
      await apiOf(first.http, token)('PUT', `/agents/${id}/connection`, { client: 'c', machine: 'm' })
    ).body
    const events = `/agents/${id}/connections/${connection.id}/events?after=0`
    const stream = await openEvents(first.http + events, token)

    const over = new AbortController()
    const acknowledged: string[] = []
    const write = async () => {
      for (let n = 0; !over.signal.aborted; n++) {
        const subject = `mail ${n}`
        await deliver(first.smtp, { from: `s${n}@example.com`, to, subject, text: 'hi' })
        acknowledged.push(subject)
      }
    }
    const writing = write()
    const more = async (count: number) => {
      const before = acknowledged.length
      await until(() => acknowledged.length >= before + count)
    }
    await more(20)
    postgres('pg_basebackup', '-h', folder, '-U', 'postgres', '-D', base, '-c', 'fast', '--no-sync')
    await more(20)
    const letter = { channel: 'email', to: ['bo@example.com'], subject: 'due', text: 'hi' }
    const sendAt = new Date(Date.now() + 10_000).toISOString()
    const due = (await api('POST', `/agents/${id}/messages`, { ...letter, sendAt })).body.id

    const ask = (env: Record<string, string>, ...args: string[]) =>
      promisify(execFile)(process.execPath, [script, ...args], {
        env: { PATH: `${programs}${delimiter}${process.env.PATH}`, HOME: folder, ...env },
        maxBuffer: 2 ** 26,
      }).catch((error: { code: number; stdout: string; stderr: string }) => {
        throw new Error(`the script ended with ${error.code}: ${error.stdout} ${error.stderr}`)
      })
    const noted = join(folder, 'noted.json')
    const fingerprint = await ask({}, 'fingerprint', '--url', url(folder))
    writeFileSync(noted, fingerprint.stdout)
    const { time, tables } = JSON.parse(fingerprint.stdout)
    await more(20)
    await until(() => relay.mails.length === 1)
    over.abort()
    await writing
    const seen = acknowledged.length
    await stream.got(seen)
    await receiver.got('/hook', seen)
    const last = psql('ams', 'select pg_walfile_name(pg_switch_wal())')
    await until(() => existsSync(join(archive, last)))
    await losePrimary()
    first.service.kill('SIGKILL')
    await first.service.exited

    const place = ['--base', base, '--archive', archive]
    const nothing: [string, ...string[]][] = [
      ['There is no', '--base', join(folder, 'none'), '--archive', archive],
      ['is no base backup', '--base', archive, '--archive', archive],
      ['The base backup was begun at', ...place, '--until', '2020-01-01 00:00:00+00'],
      ['it takes a time with its zone', ...place, '--until', '2020-01-01 00:00:00'],
      [
        'recovery ended before configured recovery target was reached',
        ...place,
        '--until',
        '2100-01-01T00:00:00Z',
      ],
      // The end of the archive is not what was noted.
      ['"differences":["', ...place, '--compare', noted, '--json'],
    ]
    for (const [message, ...args] of nothing) await expect(ask({}, ...args)).rejects.toThrow(message)

    const { DATABASE_URL: _, ...others } = settings
    const found = JSON.parse(
      (
        await ask(
          { ...others, PORT: '0', SMTP_PORT: '0' },
          ...['--base', base, '--archive', archive, '--until', time, '--compare', noted, '--json', '--keep'],
          ...['--scratch', scratch, '--service', `${process.execPath} ${join(root, 'dist', 'main.js')}`],
        )
      ).stdout,
    )
    expect(found.differences).toEqual([])
    expect(found.tables).toEqual(tables)
    expect(tables.message.rows).toBeGreaterThan(40)
    expect(tables.message.rows).toBeLessThan(seen)
    expect(found.service).toContainEqual(
      expect.objectContaining({ status: 'ok', message: expect.stringContaining('master key opens') }),
    )

    postgres(
      'pg_ctl',
      '-D',
      join(scratch, 'data'),
      '-w',
      '-l',
      join(scratch, 'log'),
      '-o',
      `-c config_file=${scratch}/postgresql.conf`,
      'start',
    )
    const restored = { ...settings, DATABASE_URL: url(scratch) }
    const prepared = run(restored, 'after-restore', '--hold')
    expect(await prepared.exited).toMatchObject({ code: 0 })
    expect(JSON.parse(prepared.stdout)).toEqual({ held: 1 })
    const again = await start(run(restored))
    const owner = apiOf(again.http, settings.OWNER_TOKEN)
    const ahead = await openEvents(again.http + events, token, { 'Last-Event-ID': String(seen) })
    await deliver(again.smtp, { from: 'new@example.com', to, subject: 'after', text: 'hi' })
    await ahead.got(1)
    expect(ahead.frames.map(({ id: event }) => event)).toEqual([1_000_000_001])
    await until(() => receiver.received.some(({ verified }) => Number(verified?.cursor) === 1_000_000_001))
    expect((await apiOf(again.http, token)('POST', `/agents/${id}/secrets/reveal`, {})).body).toEqual({
      KEY: 'tr0ub4dor',
    })
    expect((await owner('GET', `/agents/${id}/messages/${due}`)).body).toMatchObject({
      status: 'sending',
      hold: { reason: 'approval' },
    })
    expect(relay.mails).toHaveLength(1)
    await owner('POST', `/agents/${id}/messages/${due}/approve`, {})
    await relay.got(2)
    expect(new Set(relay.mails.map(({ mail }) => mail.messageId)).size).toBe(1)
    ahead.close()
    again.service.kill('SIGTERM')
    expect((await again.service.exited).code).toBe(0)
    await Promise.all([relay.stop(), receiver.close()])
  },
)
