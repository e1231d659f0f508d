import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { preparedDataDir } from '../support/prepared.ts'
import { cleanUp, lives, postgresOf, run, type ServiceProcess } from '../support/process.ts'
import { until } from '../support/until.ts'

/** However the service is stopped, its PostgreSQL does not outlive it. */

const root = join(import.meta.dirname, '..', '..')
const postgres = { pid: 0 }
let dataDir: string
let settings: Record<string, string>

beforeAll(() => void execFileSync(process.execPath, [join(root, 'src', 'build.mjs')]), 120_000)
beforeEach(() => {
  dataDir = preparedDataDir()
  settings = { DATA_DIR: dataDir }
})
afterEach(() => cleanUp(dataDir))

const startIt = async (): Promise<{ service: ServiceProcess; http: string }> => {
  const service = run(settings)
  const { http } = await service.ready()
  postgres.pid = postgresOf(dataDir)
  return { service, http }
}

/** Sends half a request, which a stopping server waits for. */
const holdOpen = async (http: string): Promise<void> => {
  const { hostname, port } = new URL(http)
  const socket = connect(Number(port), hostname).on('error', () => undefined)
  socket.write(
    'POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n',
  )
  await new Promise((resolve) => socket.once('data', resolve))
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  'a second %s while a request is waited for hurries the stop',
  async (signal) => {
    const { service, http } = await startIt()
    await holdOpen(http)
    service.kill(signal)
    await until(() => service.stderr.includes('"stopping"'))
    // One that follows at once is taken for the same request: npm passes on what the terminal also sends.
    await until(() => {
      service.kill(signal)
      return service.stderr.includes('stopping at once')
    })
    expect(await service.exited).toEqual({ code: 0, signal: null })
    expect(lives(postgres.pid)).toBe(false)
  },
)

test('with DRAIN_SECONDS a signal first makes the service not ready, and the next one hurries the stop', async () => {
  settings.DRAIN_SECONDS = '3600'
  const { service, http } = await startIt()
  expect((await fetch(`${http}/readyz`)).status).toBe(200)
  service.kill('SIGTERM')
  await until(async () => (await fetch(`${http}/readyz`)).status === 503)
  expect((await fetch(`${http}/healthz`)).status).toBe(200)
  await until(() => {
    service.kill('SIGTERM')
    return service.stderr.includes('stopping at once')
  })
  expect(await service.exited).toEqual({ code: 0, signal: null })
  expect(lives(postgres.pid)).toBe(false)
})

test('a closed terminal stops the service and PostgreSQL', async () => {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, PORT: '0', SMTP_PORT: '0', ...settings }
  // script(1) is the terminal: its end closes it.
  const command = `exec ${process.execPath} ${join(root, 'dist', 'main.js')}`
  const terminal = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  let output = ''
  terminal.stdout.on('data', (chunk) => (output += chunk))
  await until(() => output.includes('"ready":true'))
  postgres.pid = postgresOf(dataDir)
  const { pid } = JSON.parse(readFileSync(join(dataDir, 'service.lock'), 'utf8')) as { pid: number }
  terminal.kill('SIGKILL')
  await until(() => !lives(pid))
  expect(lives(postgres.pid)).toBe(false)
})

test('a signal during the start stops PostgreSQL, which has just been started', async () => {
  const service = run(settings)
  await until(() => existsSync(join(dataDir, 'pg', 'postmaster.pid')))
  postgres.pid = postgresOf(dataDir)
  service.kill('SIGTERM')
  expect(await service.exited).toEqual({ code: 0, signal: null })
  expect(service.stdout).not.toContain('"ready"')
  await until(() => !lives(postgres.pid))
})

test('after npm is killed and nobody reads the output, the service and PostgreSQL stop by themselves', async () => {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, PORT: '0', SMTP_PORT: '0', ...settings }
  const npm = spawn('npm', ['start'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  npm.stdout.on('data', (chunk) => (output += chunk))
  npm.stderr.resume()
  await until(() => output.includes('"ready":true'))
  postgres.pid = postgresOf(dataDir)
  const { pid } = JSON.parse(readFileSync(join(dataDir, 'service.lock'), 'utf8')) as { pid: number }
  expect(lives(pid)).toBe(true)
  npm.stdout.destroy()
  npm.stderr.destroy()
  npm.kill('SIGKILL')
  await until(() => !lives(pid))
  expect(lives(postgres.pid)).toBe(false)
})

test('a service that exits because of an error that nobody caught leaves no PostgreSQL', async () => {
  const { service } = await startIt()
  // Attached to the database of a process that was killed, it is as responsible for it as for its own.
  service.kill('SIGKILL')
  await service.exited
  expect(lives(postgres.pid)).toBe(true)
  const thrower = join(import.meta.dirname, '..', 'support', 'throw-on-signal.mjs')
  const second = run({ ...settings, NODE_OPTIONS: `--import=${thrower}` })
  await second.ready()
  expect(postgresOf(dataDir)).toBe(postgres.pid)
  second.kill('SIGUSR2')
  expect((await second.exited).code).toBe(1)
  await until(() => !lives(postgres.pid))
})
