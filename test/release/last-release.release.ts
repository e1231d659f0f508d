import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, inject, test } from 'vitest'
import { afterFile } from '../support/after-file.ts'
import { type EventStream, openEvents } from '../support/events.ts'
import { deliver } from '../support/mail.ts'
import { execute, temporaryDir, urlOf } from '../support/postgres.ts'
import { cleanUp, run, runIn, type ServiceProcess } from '../support/process.ts'
import { createReceiver } from '../support/receiver.ts'
import { type Api, apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

/**
 * Builds the last release, starts it, and then this build beside it, which migrates the database, as in a rolling
 * deployment: what either of them accepts arrives at the listeners of both. Then the last release again, alone, on what this
 * build wrote. `RELEASE=v1.0.0` names another commit than the one before the newest migration.
 */

const root = join(import.meta.dirname, '..', '..')
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
const release =
  process.env.RELEASE ?? git('rev-parse', `${git('log', '-1', '--format=%H', '--', 'prisma/migrations')}^`)
const [releaseDir, dataDir] = [join(temporaryDir(), 'release'), temporaryDir()]
const name = `release_${randomBytes(6).toString('hex')}`
const settings = {
  DATA_DIR: dataDir,
  DATABASE_URL: urlOf(inject('postgres').url, name),
  MASTER_KEY: randomBytes(32).toString('base64'),
  OWNER_TOKEN: 'a token of the owner, chosen by hand',
  WEBHOOK_ALLOW: '127.0.0.1',
}

/** Copies a commit into a folder and builds it with the packages that are installed here. */
const build = (commit: string): void => {
  mkdirSync(releaseDir)
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 30 })
  execFileSync('tar', ['-x', '-C', releaseDir], { input: archive })
  symlinkSync(join(root, 'node_modules'), join(releaseDir, 'node_modules'))
  execFileSync(process.execPath, ['src/build.mjs'], { cwd: releaseDir })
}

beforeAll(async () => {
  build(release)
  await execute(inject('postgres').url, `CREATE DATABASE ${name}`)
}, 600_000)
afterFile(async () => {
  await cleanUp(dataDir)
  rmSync(join(releaseDir, '..'), { recursive: true, force: true })
  await execute(inject('postgres').url, `DROP DATABASE ${name} WITH (FORCE)`)
})

interface Running {
  service: ServiceProcess
  http: string
  smtp: string
  owner: Api
}

const started = async (service: ServiceProcess): Promise<Running> => {
  const { http, smtp } = await service.ready()
  return { service, http, smtp, owner: apiOf(http, settings.OWNER_TOKEN) }
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

test('what the last release and this build accept side by side arrives at the listeners of both', async () => {
  const receiver = await createReceiver()
  afterFile(() => receiver.close())
  const old = await started(runIn(releaseDir, settings))

  /** Creates an agent with a webhook and a stream, all of them at one process. */
  const listen = async ({ http, owner }: Running) => {
    const agent = (await owner('POST', '/agents', { name: 'Bot', icon: 'bot' })).body
    const [{ value: address }] = (await owner('GET', `/agents/${agent.id}/addresses`)).body
    await owner('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
    const hook = await owner('POST', `/agents/${agent.id}/webhooks`, { url: `${receiver.url}/${agent.id}` })
    receiver.expect(`/${agent.id}`, hook.body.secret)
    const { token } = (await owner('POST', `/agents/${agent.id}/tokens`, {})).body
    const connected = await apiOf(http, token)('PUT', `/agents/${agent.id}/connection`, {
      client: 'c',
      machine: 'm',
    })
    const stream = await openEvents(
      `${http}/agents/${agent.id}/connections/${connected.body.id}/events`,
      token,
    )
    afterFile(() => stream.close())
    return { id: agent.id as string, address: address as string, stream }
  }
  type Listener = { id: string; address: string; stream: EventStream }

  let written = 0
  const write = ({ smtp }: Running, { address }: Listener) =>
    deliver(smtp, { from: `s${written++}@example.com`, to: address, subject: 'Hi', text: 'hi' })
  const send = async ({ owner }: Running, { id }: Listener) => {
    const message = { channel: 'email', to: ['bo@example.com'], text: 'hi' }
    const sent = await owner('POST', `/agents/${id}/messages`, message)
    expect(sent.status).toBe(201)
    return async ({ owner: ask }: Running) =>
      expect((await ask('GET', `/agents/${id}/messages/${sent.body.id}`)).body.status).toBe('sent')
  }
  const webhooksOf = ({ id }: Listener) =>
    receiver.received.filter(({ path }) => path === `/${id}`).map(({ verified }) => Number(verified?.cursor))
  const arrived = async ({ stream, ...listener }: Listener, count: number) => {
    await until(
      () => stream.frames.length >= count && webhooksOf({ ...listener, stream }).length >= count,
      60_000,
    )
    expect(stream.frames.map(({ id }) => id)).toEqual(upTo(count))
    expect(webhooksOf({ ...listener, stream })).toEqual(upTo(count))
  }

  const first = await listen(old)
  await write(old, first)
  await arrived(first, 1)

  const build = await started(run(settings))
  const second = await listen(build)
  const both = [old, build]
  const listeners = [first, second]
  const sends: Awaited<ReturnType<typeof send>>[] = []
  for (let round = 0; round < 5; round++)
    for (const service of both)
      for (const listener of listeners) {
        await write(service, listener)
        sends.push(await send(service, listener))
      }
  await arrived(first, 11)
  await arrived(second, 10)
  for (const isSent of sends)
    for (const service of both)
      await until(async () => {
        await isSent(service)
        return true
      }, 60_000)
  for (const { owner } of both)
    for (const { id } of listeners) {
      expect((await owner('GET', `/agents/${id}/messages?limit=100&q=hi`)).status).toBe(200)
      expect(
        (await owner('GET', `/agents/${id}/messages?limit=100&direction=outbound`)).body.items,
      ).toHaveLength(10)
    }

  old.service.kill('SIGTERM')
  expect((await old.service.exited).code).toBe(0)
  await write(build, second)
  await arrived(second, 11)
  build.service.kill('SIGTERM')
  expect((await build.service.exited).code).toBe(0)
  for (const { service } of both) expect(service.stderr).not.toContain('"level":"error"')
})

test('the last release goes on with what this build wrote', async () => {
  const build = await started(run(settings))
  const { id } = (await build.owner('POST', '/agents', { name: 'Bot', icon: 'bot' })).body
  const agent = `/agents/${id}`
  const [{ value: address }] = (await build.owner('GET', `${agent}/addresses`)).body
  await build.owner('PUT', `${agent}/access/email`, { admit: 'anyone', senders: [] })
  const { token } = (await build.owner('POST', `${agent}/tokens`, {})).body
  await build.owner('PUT', `${agent}/secrets/card`, { value: '4111' })
  const write = ({ smtp }: Running, subject: string) =>
    deliver(smtp, { from: 'ann@example.com', to: address, subject, text: `about ${subject}` })
  const received = async ({ owner }: Running, count: number) => {
    const page = () => owner('GET', `${agent}/messages?direction=inbound`)
    await until(async () => (await page()).body.items.length === count)
    return (await page()).body.items
  }
  await write(build, 'apples')
  await write(build, 'pears')
  const [pears, apples] = await received(build, 2)
  expect((await build.owner('PATCH', `${agent}/messages/${apples.id}`, { read: true })).status).toBe(200)
  const sendAt = new Date(Date.now() + 3_600_000).toISOString()
  const later = { channel: 'email', to: ['bo@example.com'], text: 'later', sendAt }
  const scheduled = (await build.owner('POST', `${agent}/messages`, later)).body
  const done = await build.owner('PATCH', `${agent}/threads/${apples.threadId}`, { done: true })
  expect(done.status).toBe(200)
  await build.owner('POST', `${agent}/threads/${pears.threadId}/notes`, { text: 'Ask Bo.' })
  build.service.kill('SIGTERM')
  expect((await build.service.exited).code).toBe(0)

  const old = await started(runIn(releaseDir, settings))
  const [newest] = await received(old, 2)
  expect(newest).toMatchObject({ id: pears.id, subject: 'pears', readAt: null })
  const waiting = (await old.owner('GET', `${agent}/messages/${scheduled.id}`)).body
  expect(waiting.hold).toEqual({ reason: 'schedule', until: sendAt, by: null })
  const revealed = await apiOf(old.http, token)('POST', `${agent}/secrets/reveal`, {})
  expect(revealed.body).toEqual({ card: '4111' })
  await write(old, 'plums')
  await received(old, 3)
  const sent = await old.owner('POST', `${agent}/messages`, {
    channel: 'email',
    to: ['bo@example.com'],
    text: 'hi',
  })
  await until(
    async () => (await old.owner('GET', `${agent}/messages/${sent.body.id}`)).body.status === 'sent',
    60_000,
  )
  old.service.kill('SIGTERM')
  expect((await old.service.exited).code).toBe(0)
  expect(old.service.stderr).not.toContain('"level":"error"')

  const again = await started(run(settings))
  expect(await received(again, 3)).toHaveLength(3)
  const stillDone = await again.owner('GET', `${agent}/threads?state=done`)
  expect(stillDone.body.items.map(({ id }: { id: string }) => id)).toEqual([apples.threadId])
  again.service.kill('SIGTERM')
  expect((await again.service.exited).code).toBe(0)
})
