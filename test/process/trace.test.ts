import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase } from '../support/database.ts'
import { deliver } from '../support/mail.ts'
import { temporaryDir } from '../support/postgres.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

/** The command, with the log of the service that it asks about. */

const dir = temporaryDir()
const root = join(import.meta.dirname, '..', '..')
let settings: Record<string, string>
let service: ServiceProcess
let agent: { id: string; address: string }
let owner: ReturnType<typeof apiOf>
let agents: ReturnType<typeof apiOf>
beforeAll(async () => {
  execFileSync(process.execPath, [join(root, 'src', 'build.mjs')])
  const { url } = await openTestDatabase(1)
  settings = {
    DATA_DIR: dir,
    DATABASE_URL: url,
    MASTER_KEY: randomBytes(32).toString('base64'),
    OWNER_TOKEN: 'a token of the owner, chosen by hand',
    LOG_LEVEL: 'info',
  }
  service = run(settings)
  const { http } = await service.ready()
  owner = apiOf(http, settings.OWNER_TOKEN!)
  const { id } = (await owner('POST', '/agents', { name: 'Support', icon: 'bot' })).body
  agent = { id, address: (await owner('GET', `/agents/${id}/addresses`)).body[0].value }
  agents = apiOf(http, (await owner('POST', `/agents/${id}/tokens`, { name: 'robot' })).body.token)
})
afterAll(async () => {
  service.kill('SIGTERM')
  await service.exited
  await cleanUp(dir)
})

const logFile = () => {
  const file = join(dir, 'service.log')
  writeFileSync(file, `not of the service\n{"half": \n${service.stderr}`)
  return file
}
const trace = async (...args: string[]) => {
  const command = run({ ...settings, LOG_LEVEL: 'error' }, 'trace', ...args)
  return { code: (await command.exited).code, stdout: command.stdout, stderr: command.stderr }
}

test('a request that changed nothing is found in the log, with who made it and how it ended', async () => {
  const refused = await agents('PATCH', '/workspace', { keepRefusedDays: 9 })
  expect(refused.status).toBe(403)
  const id = refused.headers.get('x-request-id')!
  await until(() => service.stderr.includes(id))
  const alone = await trace(id)
  expect([alone.code, alone.stdout]).toEqual([1, ''])
  expect(alone.stderr).toMatch(/^Nothing is stored of it\. .* add --log FILE\.\n$/)
  const { code, stdout } = await trace('--log', logFile(), id)
  expect(code).toBe(0)
  expect(stdout).toMatch(/^Lines of the log that name /)
  expect(stdout).toMatch(
    /log request: .*"kind":"agent".*"tokenId":"[0-9a-f-]{36}".* method=PATCH .* status=403 /,
  )
  const json = JSON.parse((await trace('--json', '--log', logFile(), id)).stdout)
  expect(json).toMatchObject([{ kind: 'log', moments: [{ kind: 'log', subject: 'request' }] }])
})

test('a session over SMTP that was refused is found by the sender and by the recipient', async () => {
  const { host, port } = { host: '127.0.0.1', port: (await service.ready()).smtp.split(':').at(-1) }
  const letter = { from: 'mallory@example.com', to: 'nobody@agents.localhost', text: 'The secret is 4711.' }
  await deliver(`${host}:${port}`, letter).catch(() => undefined)
  await until(() => service.stderr.includes('recipient refused'))
  for (const what of ['mallory@example.com', '<Nobody@agents.localhost>']) {
    const { code, stdout } = await trace('--log', logFile(), what)
    expect([what, code]).toEqual([what, 0])
    expect(stdout).toMatch(
      /log recipient refused over SMTP: .*recipient=nobody@agents\.localhost outcome=550/,
    )
    expect(stdout).not.toContain('4711')
  }
  expect((await trace('--log', logFile(), 'ory@example.com')).stderr).toMatch(/no line of the log names it/)
})

test('the log may come from standard input, and what is stored stands before it', async () => {
  const changed = await owner('PATCH', `/agents/${agent.id}`, { name: 'Helpdesk' })
  const id = changed.headers.get('x-request-id')!
  await until(() => service.stderr.includes(id))
  const main = join(root, 'dist', 'main.js')
  const env = { PATH: process.env.PATH, ...settings, LOG_LEVEL: 'error' }
  const command = spawn(process.execPath, [main, 'trace', '--log', '-', id], { env })
  command.stdin.end(service.stderr)
  const stdout = (await command.stdout.toArray()).join('')
  expect(stdout).toMatch(/^Request \S+ of member \S+, token .*\n.* token .*\n.* audit agent\.update: /)
  expect(stdout).toMatch(/\n\nLines of the log that name \S+\n.* log request: /)
})

test('a log that cannot be read is one line', async () => {
  for (const file of [join(dir, 'missing.log'), dir]) {
    const { code, stdout, stderr } = await trace('--log', file, agent.address)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^(ENOENT|EISDIR): .*\n$/)
  }
})
