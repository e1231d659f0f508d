import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { execute, temporaryDir, urlOf } from '../support/postgres.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { until } from '../support/until.ts'
import { startWire } from '../support/wire.ts'

/** What the service tells systemd: here a program of the same name that writes down what it is told. */

const root = join(import.meta.dirname, '..', '..')
let dataDir: string
let name: string
let settings: Record<string, string>

beforeAll(() => void execFileSync(process.execPath, [join(root, 'src', 'build.mjs')]), 120_000)
beforeEach(async () => {
  dataDir = temporaryDir()
  name = `manager_${randomBytes(6).toString('hex')}`
  await execute(inject('postgres').url, `CREATE DATABASE ${name}`)
  mkdirSync(join(dataDir, 'bin'))
  const program = join(dataDir, 'bin', 'systemd-notify')
  writeFileSync(program, '#!/bin/sh\necho "$*" >> "$NOTIFY_SOCKET"\n')
  chmodSync(program, 0o755)
  settings = {
    DATA_DIR: dataDir,
    DATABASE_URL: urlOf(inject('postgres').url, name),
    MASTER_KEY: randomBytes(32).toString('base64'),
    PATH: [join(dataDir, 'bin'), process.env.PATH].join(delimiter),
    WATCHDOG_USEC: '300000',
  }
})
afterEach(async () => {
  await cleanUp(dataDir)
  await execute(inject('postgres').url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
})

/** Starts a service whose manager notes what it is told in a file, and returns how to read that. */
const start = (
  as: string,
  more: Record<string, string> = {},
): { service: ServiceProcess; told: () => string[] } => {
  const file = join(dataDir, as)
  const told = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [])
  return { service: run({ ...settings, ...more, NOTIFY_SOCKET: file }), told }
}
/** Resolves when this many more messages of a kind were sent. */
const more = async (told: () => string[], count: number, kind: string): Promise<void> => {
  const all = () => told().filter((message) => message.includes(kind)).length
  const before = all()
  await until(() => all() >= before + count)
}

test('it is told that the service starts, is ready, works although the database is away, and stops', async () => {
  const wire = await startWire(settings.DATABASE_URL!)
  await wire.cut()
  const { service, told } = start('told', { DATABASE_URL: wire.url, DRAIN_SECONDS: '1' })
  await more(told, 3, 'EXTEND_TIMEOUT_USEC=90000000')
  service.kill('SIGHUP')
  await more(told, 3, 'EXTEND_TIMEOUT_USEC=90000000')
  expect(told().join()).not.toMatch(/READY|WATCHDOG/)
  await wire.mend()
  const { http, smtp } = await service.ready()
  await more(told, 3, 'WATCHDOG=1')
  expect(told().at(-1)).toBe(`READY=1 WATCHDOG=1 STATUS=HTTP ${http}, SMTP ${smtp}`)

  await wire.cut()
  await until(async () => (await fetch(`${http}/readyz`)).status === 503)
  await more(told, 10, 'WATCHDOG=1')
  await wire.mend()
  await until(async () => (await fetch(`${http}/readyz`)).status === 200)
  service.kill('SIGTERM')
  expect(await service.exited).toEqual({ code: 0, signal: null })
  expect(told().at(-1)).toBe('STOPPING=1 STATUS=Stopping EXTEND_TIMEOUT_USEC=31000000')
  await wire.cut()
})

test('it is told nothing while the event loop does not turn', async () => {
  const blockWhile = join(dataDir, 'block')
  const blocker = join(root, 'test', 'support', 'block-on-signal.mjs')
  const blocked = start('blocked', { NODE_OPTIONS: `--import=${blocker}`, BLOCK_WHILE: blockWhile })
  await blocked.service.ready()
  const other = start('other')
  await other.service.ready()
  await more(blocked.told, 2, 'WATCHDOG=1')
  writeFileSync(blockWhile, '')
  blocked.service.kill('SIGUSR2')
  // A message that was on its way, and none after it.
  await more(other.told, 10, 'WATCHDOG=1')
  const before = blocked.told().length
  await more(other.told, 20, 'WATCHDOG=1')
  expect(blocked.told()).toHaveLength(before)
  rmSync(blockWhile)
  await more(blocked.told, 2, 'WATCHDOG=1')

  blocked.service.kill('SIGSTOP')
  await more(other.told, 10, 'WATCHDOG=1')
  const stopped = blocked.told().length
  await more(other.told, 20, 'WATCHDOG=1')
  expect(blocked.told()).toHaveLength(stopped)
  blocked.service.kill('SIGCONT')
  await more(blocked.told, 2, 'WATCHDOG=1')
})

test('without systemd-notify the service works, and says so once', async () => {
  const { service } = start('told', { PATH: join(dataDir, 'empty') })
  const { http } = await service.ready()
  await until(() => service.stderr.includes('systemd-notify failed'))
  expect((await fetch(`${http}/readyz`)).status).toBe(200)
  service.kill('SIGTERM')
  expect(await service.exited).toEqual({ code: 0, signal: null })
  expect(service.stderr.match(/systemd-notify failed/g)).toHaveLength(1)
})

/** A stand-in for systemd: prints what arrives at a datagram socket. */
const SOCKET = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
while True: print(s.recv(4096), flush=True)
`

test('the real systemd-notify sends to the socket that systemd names', async ({ skip }) => {
  const missing = ['systemd-notify', 'python3'].filter(
    (program) => spawnSync(program, ['--version']).status !== 0,
  )
  if (missing.length > 0) skip(`${missing.join(' and ')} is not installed`)
  const socket = join(dataDir, 'notify')
  const systemd = spawn('python3', ['-c', SOCKET, socket], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    let received = ''
    systemd.stdout.on('data', (chunk) => (received += chunk))
    await until(() => existsSync(socket))
    const service = run({ ...settings, PATH: process.env.PATH!, NOTIFY_SOCKET: socket })
    await service.ready()
    await until(() => /READY=1\\nWATCHDOG=1\\nSTATUS=HTTP http/.test(received))
    service.kill('SIGTERM')
    await until(() => received.includes('STOPPING=1'))
    expect(await service.exited).toEqual({ code: 0, signal: null })
    expect(service.stderr).not.toContain('systemd-notify failed')
  } finally {
    systemd.kill('SIGKILL')
  }
})
