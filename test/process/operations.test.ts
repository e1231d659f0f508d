import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../support/port.ts'
import { temporaryDir } from '../support/postgres.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

/** The commands and files of docs/operations.md, used as they are written there, except for ports and folders. */

const root = join(import.meta.dirname, '..', '..')
const manual = readFileSync(join(root, 'docs', 'operations.md'), 'utf8')
const deployment = (name: string) => readFileSync(join(root, 'docs', 'deployment', name), 'utf8')
const chapter = (title: string): string =>
  manual.split(/^## /m).find((part) => part.startsWith(`${title}\n`))!
const blocks = (title: string): string[] =>
  [...chapter(title).matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block!)
const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

const folder = temporaryDir()
let service: ServiceProcess
let http: string
let token: string

beforeAll(async () => {
  execFileSync(process.execPath, [join(root, 'src', 'build.mjs')])
  chmodSync(folder, 0o711) // PostgreSQL's user passes through it
  for (const name of ['backup', 'backup-of-keys', 'bin']) mkdirSync(join(folder, name))
  // What `npm start -- ARGUMENTS` does in a checkout that is built.
  const npm = `#!/bin/sh\n[ "$1" = start ] && shift\n[ "$1" = -- ] && shift\nexec node ${join(root, 'dist', 'main.js')} "$@"\n`
  writeFileSync(join(folder, 'bin', 'npm'), npm, { mode: 0o755 })
  service = run({ DATA_DIR: join(folder, 'data'), TRUST_PROXY: '127.0.0.1' })
  http = (await service.ready()).http
  token = readFileSync(join(folder, 'data', 'owner-token'), 'utf8').trim()
})
afterAll(async () => {
  service.kill('SIGTERM')
  await service.exited
  await cleanUp(folder)
})

const shell = (script: string) =>
  promisify(execFile)('sh', ['-ec', script], {
    cwd: folder,
    env: {
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      HOME: folder,
      PORT: '0',
      SMTP_PORT: '0',
      LOG_LEVEL: 'warn',
    },
  })

test('the commands of the chapter on backups back up a running service and restore it', async () => {
  const api = apiOf(http, token)
  const { body } = await api('POST', '/agents', { name: 'Bot', icon: 'bot' })
  const { body: before } = await api('GET', `/agents/${body.id}`)
  const here = (block: string) => block.replaceAll(' /backup', ` ${folder}/backup`)
  const [backup, restore] = blocks('Backup and restore').map(here)
  expect((await shell(backup!)).stderr).toBe('')
  const lines = restore!.trimEnd().split('\n')
  expect(lines.pop()).toBe('DATA_DIR=new npm start')
  expect(JSON.parse((await shell(lines.join('\n'))).stdout).rows).toBeGreaterThan(5)
  const restored = run({ DATA_DIR: join(folder, 'new') })
  const again = apiOf((await restored.ready()).http, token)
  expect((await again('GET', `/agents/${body.id}`)).body).toEqual(before)
  restored.kill('SIGTERM')
  expect((await restored.exited).code).toBe(0)
})

test('the command that makes the secrets of compose.yaml makes some that the service takes', async () => {
  const [, command] = /^#\s+(printf .* > \.env)$/m.exec(deployment('compose.yaml'))!
  await shell(command!)
  const written = Object.fromEntries(
    readFileSync(join(folder, '.env'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s, 2)),
  )
  expect(Buffer.from(written.MASTER_KEY, 'base64')).toHaveLength(32)
  expect(written.POSTGRES_PASSWORD).toMatch(/^[0-9a-f]{48}$/)
})

test.skipIf(!has('systemd-analyze'))('systemd accepts the unit (skipped without systemd)', async () => {
  const unit = join(folder, 'agent-messaging.service')
  // The program need not be installed here.
  writeFileSync(unit, deployment('agent-messaging.service').replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'))
  const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', unit])
  expect(stdout + stderr).not.toContain('agent-messaging.service')
})

const get = (port: number, path: string, headers = {}) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const asked = request(
      { port, path, headers, host: '127.0.0.1', rejectUnauthorized: false },
      (response) => {
        response.once('data', (chunk: Buffer) => {
          resolve({ status: response.statusCode!, text: chunk.toString() })
          asked.destroy()
        })
      },
    )
    asked.on('error', reject).end()
  })

test.skipIf(!has('nginx'))(
  'nginx passes requests and streams on, and hides the metrics (skipped without nginx)',
  async () => {
    const port = await freePort()
    const pair = await generate([{ name: 'commonName', value: 'ams.example.com' }], { keyType: 'ec' })
    const dir = join(folder, 'nginx')
    mkdirSync(dir)
    writeFileSync(join(dir, 'fullchain.pem'), pair.cert)
    writeFileSync(join(dir, 'privkey.pem'), pair.private)
    const block = deployment('nginx.conf')
      .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
      .replaceAll('/etc/letsencrypt/live/ams.example.com', dir)
      .replace('http://127.0.0.1:4000', http)
    writeFileSync(
      join(dir, 'nginx.conf'),
      `pid ${dir}/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${block}}\n`,
    )
    const nginx = spawn('nginx', ['-p', dir, '-c', join(dir, 'nginx.conf'), '-g', 'daemon off;'], {
      stdio: 'ignore',
    })
    try {
      await until(() =>
        get(port, '/healthz').then(
          ({ status }) => status === 200,
          () => false,
        ),
      )
      expect((await get(port, '/metrics')).status).toBe(403)
      const api = apiOf(http, token)
      const { body: agent } = await api('POST', '/agents', { name: 'Streaming', icon: 'bot' })
      const own = (await api('POST', `/agents/${agent.id}/tokens`, {})).body.token
      const connection = await apiOf(http, own)('PUT', `/agents/${agent.id}/connection`, {
        client: 'c',
        machine: 'm',
      })
      const path = `/agents/${agent.id}/connections/${connection.body.id}/events`
      const stream = await get(port, path, { Authorization: `Bearer ${own}` })
      expect(stream).toEqual({ status: 200, text: expect.stringContaining('retry: 3000') })
    } finally {
      nginx.kill('SIGTERM')
    }
  },
)
