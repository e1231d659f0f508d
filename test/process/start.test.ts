import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cookieClient } from '../support/cookie-client.ts'
import { openEvents } from '../support/events.ts'
import { deliver } from '../support/mail.ts'
import { temporaryDir } from '../support/postgres.ts'
import { cleanUp, lives, postgresOf, run, type ServiceProcess } from '../support/process.ts'
import { type Api, apiOf } from '../support/service.ts'
import { openTwilio } from '../support/sms.ts'
import { until } from '../support/until.ts'

/** The life of one service, in order: each test continues where the previous one ended. */
const dataDir = temporaryDir()
const settings = { DATA_DIR: dataDir, OWNER_EMAIL: 'boss@example.com' }
let service: ServiceProcess
let ready: { http: string; smtp: string }
let token: string
let owner: Api
let agent: { id: string; address: string }

const start = async () => {
  service = run(settings)
  ready = await service.ready()
  owner = apiOf(ready.http, token)
}
const modeOf = (...path: string[]) => (statSync(join(dataDir, ...path)).mode & 0o777).toString(8)
const write = (subject: string) =>
  deliver(ready.smtp, { from: 'boss@example.com', to: agent.address, subject, text: 'hi' })
const subjects = async (): Promise<string[]> =>
  (await owner('GET', `/agents/${agent.id}/messages?limit=100`)).body.items.map(
    (item: { subject: string }) => item.subject,
  )

beforeAll(
  () => void execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')]),
  120_000,
)
afterAll(() => cleanUp(dataDir))

test('the first start prints the owner token and a link to sign in once, then a ready line', async () => {
  service = run(settings)
  ready = await service.ready()
  expect(ready).toEqual({
    ready: true,
    http: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    smtp: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
  })
  const lines = service.stdout.trimEnd().split('\n')
  expect(lines).toHaveLength(3)
  token = /amt_[0-9A-Za-z]{43}/.exec(lines[0]!)![0]
  expect(service.stderr).not.toContain(token)
  expect(readFileSync(join(dataDir, 'owner-token'), 'utf8').trim()).toBe(token)
  owner = apiOf(ready.http, token)
  expect((await owner('GET', '/agents')).body).toEqual([])
  const link = /http:\/\/localhost:\d+\/app\/sign-in#asl_[0-9A-Za-z]{43}$/.exec(lines[1]!)![0]
  expect(new URL(link).port).toBe(new URL(ready.http).port)
  const browser = cookieClient({ http: ready.http })
  expect((await browser.submit('/app/sign-in/link', { link })).location).toBe('/app')
  expect(await (await browser.ask('{ viewer { email } }')).text()).toContain('boss@example.com')
  expect(service.stderr).not.toMatch(/a(?:sl|ms)_[0-9A-Za-z]{8}/)
})

test('the first start logs how many migrations it applied, and not each of them', () => {
  const told = service.stderr.split('\n').filter((line) => line.includes('database migrated'))
  expect(told.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ migrations: expect.any(Number), last: expect.stringMatching(/^\d{14}_\w+$/) }),
  ])
})

test('other users can pass through DATA_DIR but read nothing in it', () => {
  expect(statSync(dataDir).mode & 0o777).toBe(0o711)
  expect(modeOf('pg')).toBe('700')
  const files = readdirSync(dataDir, { withFileTypes: true }).filter((entry) => entry.isFile())
  expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(['master.key', 'owner-token']))
  for (const { name } of files) expect({ name, mode: modeOf(name) }).toEqual({ name, mode: '600' })
})

test('an agent can be created, receive a mail and send a reply', async () => {
  const { body } = await owner('POST', '/agents', { name: 'Bot', icon: 'bot' })
  const [{ value }] = (await owner('GET', `/agents/${body.id}/addresses`)).body
  agent = { id: body.id, address: value }
  expect((await write('First')).response).toMatch(/^250/)
  const [message] = (await owner('GET', `/agents/${agent.id}/messages`)).body.items
  expect(message.subject).toBe('First')
  const answer = await owner('POST', `/agents/${agent.id}/messages`, { replyTo: message.id, text: 'yes' })
  await until(
    async () => (await owner('GET', `/agents/${agent.id}/messages/${answer.body.id}`)).body.status === 'sent',
  )
  expect(modeOf('outbox')).toMatch(/^7[01]1$|^700$/)
  const [mail] = readdirSync(join(dataDir, 'outbox'))
  expect(modeOf('outbox', mail!)).toBe('600')
})

test('an incoming mail prints nothing on stdout', async () => {
  const oddlySigned =
    'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=example.com; s=x; l=999; h=from; bh=AA==; b=AA=='
  const raw = `${oddlySigned}\r\nFrom: boss@example.com\r\nSubject: Odd\r\n\r\nhi\r\n`
  expect(
    (await deliver(ready.smtp, { envelope: { from: 'boss@example.com', to: agent.address }, raw })).response,
  ).toMatch(/^250/)
  expect(service.stdout.trimEnd().split('\n')).toHaveLength(3)
})

test('SIGTERM stops the service within 10 seconds despite open streams, and stops PostgreSQL', async () => {
  const minted = await owner('POST', `/agents/${agent.id}/tokens`, {})
  const own = apiOf(ready.http, minted.body.token)
  const { body } = await own('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
  const stream = await openEvents(
    `${ready.http}/agents/${agent.id}/connections/${body.id}/events`,
    minted.body.token,
  )
  expect(stream.status).toBe(200)
  const { hostname, port } = new URL(ready.http)
  for (const sent of ['', 'GET /agents HTTP/1.1\r\nHo'])
    connect(Number(port), hostname)
      .on('error', () => undefined)
      .write(sent)
  const postgres = postgresOf(dataDir)
  const started = performance.now()
  service.kill('SIGTERM')
  expect(await service.exited).toEqual({ code: 0, signal: null })
  expect(performance.now() - started).toBeLessThan(10_000)
  await stream.ended
  expect(lives(postgres)).toBe(false)
})

test('the next start still has all data and prints no token', async () => {
  await start()
  expect(service.stdout.trimEnd().split('\n')).toHaveLength(1)
  expect(service.stdout).not.toContain('amt_')
  expect(await subjects()).toEqual(['Odd', 'Re: First', 'First'])
})

test('a second service on the same DATA_DIR is refused with 2 and the reason', async () => {
  const second = run(settings)
  expect((await second.exited).code).toBe(2)
  expect(second.stderr).toContain(`DATA_DIR ${dataDir} is in use by another service (process ${service.pid})`)
  expect(second.stdout).toBe('')
  expect((await owner('GET', '/agents')).status).toBe(200)
})

test('the workspace and token commands print one JSON line with a working token while the service runs', async () => {
  const runCommand = async (...args: string[]) => {
    const command = run(settings, ...args)
    expect(await command.exited).toEqual({ code: 0, signal: null })
    expect(command.stdout).toMatch(/^\{.*\}\n$/)
    return JSON.parse(command.stdout)
  }
  const made = await runCommand('workspace', '--name', 'Other', '--owner', 'other@example.com')
  expect(made).toEqual({
    workspace: expect.any(String),
    member: expect.any(String),
    token: expect.stringMatching(/^amt_/),
  })
  expect((await apiOf(ready.http, made.token)('GET', '/agents')).body).toEqual([])
  const again = await runCommand('token', '--member', 'Boss@Example.com')
  expect((await apiOf(ready.http, again.token)('GET', '/agents')).body).toMatchObject([{ id: agent.id }])
  expect((await owner('GET', '/agents')).status).toBe(200)
})

test('the sign-in command prints one JSON line with a link that works in the running service', async () => {
  const publicUrl = { PUBLIC_URL: ready.http.replace('127.0.0.1', 'localhost') }
  const command = run({ ...settings, ...publicUrl }, 'sign-in', '--member', 'boss@example.com')
  expect(await command.exited).toEqual({ code: 0, signal: null })
  const made = JSON.parse(command.stdout)
  expect(made).toEqual({
    workspace: expect.any(String),
    member: expect.any(String),
    url: expect.stringMatching(/#asl_/),
    expiresAt: expect.any(String),
  })
  const browser = cookieClient({ http: ready.http })
  expect((await browser.submit('/app/sign-in/link', { link: made.url })).status).toBe(303)
  expect((await browser.ask('{ viewer { email } }')).status).toBe(200)
  const unknown = run(settings, 'sign-in')
  expect((await unknown.exited).code).toBe(2)
  expect(unknown.stderr).toContain('set PUBLIC_URL')
})

test('the number command assigns a number of the Twilio account to a workspace', async () => {
  const twilio = await openTwilio()
  for (const value of ['+15005550101', '+15005550102'])
    twilio.numbers.set(value, { sid: `PN${value.slice(1)}`, smsUrl: 'https://elsewhere' })
  const assignNumber = async (...args: string[]) => {
    const command = run({ ...settings, ...twilio.environment }, 'number', ...args)
    return { ...(await command.exited), stdout: command.stdout, stderr: command.stderr }
  }
  const { body: workspace } = await owner('GET', '/workspace')
  const value = '+15005550101'
  expect(await assignNumber('--value', value)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('name one with --workspace ID'),
  })
  const taken = await assignNumber('--value', value, '--workspace', workspace.id)
  expect(taken).toMatchObject({ code: 0, stderr: '' })
  const made = JSON.parse(taken.stdout)
  expect(made).toEqual({ workspace: workspace.id, id: expect.any(String), value })
  expect(JSON.parse((await assignNumber('--value', value, '--workspace', workspace.id)).stdout)).toEqual(made)
  expect((await owner('GET', '/phone-numbers')).body).toMatchObject([{ id: made.id, value, addressId: null }])
  expect(twilio.numbers.get(value)!.smsUrl).toBe('https://elsewhere')
  const missing = await assignNumber('--value', '+15005550109', '--workspace', workspace.id)
  expect(missing).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('has no number +15005550109'),
  })
  const without = run(settings, 'number', '--value', value)
  expect((await without.exited).code).toBe(2)
  expect(without.stderr).toContain('TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN are not set')
})

test('an invalid command exits with 2 and a failed one with 1, each with the reason', async () => {
  const cases = [
    {
      args: ['token', '--member', 'nobody@example.com'],
      code: 1,
      says: 'There is no member nobody@example.com',
    },
    { args: ['token'], code: 2, says: '--member is missing' },
    { args: ['dance'], code: 2, says: 'Unknown command dance' },
  ]
  for (const { args, code, says } of cases) {
    const command = run(settings, ...args)
    expect((await command.exited).code).toBe(code)
    expect(command.stderr).toContain(says)
    expect(command.stdout).toBe('')
  }
})

test('kill -9 loses nothing, and the next start works', async () => {
  await write('Before the kill')
  service.kill('SIGKILL')
  await service.exited
  await start()
  expect(await subjects()).toContain('Before the kill')
  await write('After the kill')
  expect(await subjects()).toContain('After the kill')
})

test('while PostgreSQL is killed and restarted, requests get 503 or 451, and no accepted mail is lost', async () => {
  const postgres = postgresOf(dataDir)
  const accepted: string[] = []
  const refused: string[] = []
  const statuses = new Set<number>()
  let recovered = 0
  const mailing = async () => {
    for (let n = 0; recovered < 3; n++) {
      const killed = !lives(postgres)
      await write(`Mail ${n}`).then(
        () => {
          accepted.push(`Mail ${n}`)
          if (killed) recovered++
        },
        (error) => refused.push(String(error.responseCode)),
      )
    }
  }
  const reading = async () => {
    while (recovered < 3) statuses.add((await owner('GET', `/agents/${agent.id}`)).status)
  }
  const both = Promise.all([mailing(), reading()])
  await until(() => accepted.length > 2 && statuses.has(200))
  process.kill(postgres, 'SIGKILL')
  await both
  for (const status of statuses) expect([200, 503]).toContain(status)
  for (const code of refused) expect(code).toBe('451')
  expect(await subjects()).toEqual(expect.arrayContaining(accepted))
  expect((await owner('GET', '/readyz')).status).toBe(200)
  expect(lives(service.pid)).toBe(true)
})

test('SIGINT stops the service and PostgreSQL', async () => {
  const postgres = postgresOf(dataDir)
  service.kill('SIGINT')
  expect(await service.exited).toEqual({ code: 0, signal: null })
  expect(lives(postgres)).toBe(false)
})

test('warnings of Node are lines of the log', async () => {
  const warn = "data:text/javascript,process.on('SIGWINCH',()=>process.emitWarning('odd'))"
  service = run({ ...settings, NODE_OPTIONS: `--import ${warn}` })
  await service.ready()
  service.kill('SIGWINCH')
  await until(() => service.stderr.includes('odd'))
  const lines = service.stderr.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ level: 'warn', name: 'Warning', warning: 'odd', msg: 'warning of Node' }),
  )
  service.kill('SIGTERM')
  await service.exited
})
