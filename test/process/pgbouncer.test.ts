import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type EventStream, openEvents } from '../support/events.ts'
import { deliver } from '../support/mail.ts'
import { missing, type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts'
import { execute, temporaryDir, urlOf } from '../support/postgres.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import { type Api, apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Two processes of the service behind Debian's PgBouncer in transaction mode, which shares four connections. */

const server = inject('postgres').url
const name = `pooled_${randomBytes(6).toString('hex')}`
const dataDir = temporaryDir()
const direct = urlOf(server, name)
let pooler: PgBouncer
let settings: Record<string, string>

beforeAll(async () => {
  if (missing) return
  execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')])
  await execute(server, `CREATE DATABASE ${name}`)
  pooler = await startPgBouncer(server)
  settings = {
    DATA_DIR: dataDir,
    DATABASE_URL: pooler.through(direct),
    DATABASE_DIRECT_URL: direct,
    MASTER_KEY: randomBytes(32).toString('base64'),
    OWNER_TOKEN: 'a token of the owner, chosen by hand',
    WEBHOOK_ALLOW: '127.0.0.1',
    RATE_LIMIT: '100000',
  }
})
afterAll(async () => {
  if (missing) return
  await cleanUp(dataDir)
  await pooler.stop()
  await execute(server, `DROP DATABASE ${name} WITH (FORCE)`)
})

const refusal = async (changes: Record<string, string>) => {
  const service = run({ ...settings, ...changes, LOG_LEVEL: 'silent' })
  expect((await service.exited).code).toBe(2)
  return service.stderr
}

describe.skipIf(missing !== null)(`behind PgBouncer${missing ? `: ${missing}` : ''}`, () => {
  test('a pooler is recognized, and where it leads is checked', async () => {
    const { DATABASE_DIRECT_URL: _, ...pooledOnly } = settings
    const unaware = run({ ...pooledOnly, LOG_LEVEL: 'silent' })
    expect((await unaware.exited).code).toBe(2)
    expect(unaware.stderr).toMatch(/^DATABASE_URL is .*it is a pooler: set DATABASE_DIRECT_URL.*\n$/)
    expect(await refusal({ DATABASE_DIRECT_URL: settings.DATABASE_URL! })).toMatch(
      /^DATABASE_DIRECT_URL is .*it is a pooler/,
    )
    expect(await refusal({ DATABASE_URL: pooler.through(server) })).toMatch(
      /^DATABASE_URL is .*it leads to another database than DATABASE_DIRECT_URL/,
    )
  })

  describe('two processes', () => {
    let processes: ServiceProcess[]
    let places: { http: string; smtp: string }[]
    let owners: Api[]
    let receiver: Receiver
    let agent: { id: string; address: string; token: string }
    let stream: EventStream

    beforeAll(async () => {
      if (missing) return
      processes = [run(settings), run(settings)]
      places = await Promise.all(processes.map((each) => each.ready()))
      owners = places.map(({ http }) => apiOf(http, settings.OWNER_TOKEN!))
      receiver = await createReceiver()
      const [owner] = owners as [Api]
      const { id } = (await owner('POST', '/agents', { name: 'Bot', icon: 'bot' })).body
      await owner('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] })
      await owner('POST', `/agents/${id}/webhooks`, { url: `${receiver.url}/hook` })
      const [{ value: address }] = (await owner('GET', `/agents/${id}/addresses`)).body
      const { token } = (await owner('POST', `/agents/${id}/tokens`, {})).body
      agent = { id, address, token }
      const own = apiOf(places[1]!.http, token)
      const { body } = await own('PUT', `/agents/${id}/connection`, { client: 'c', machine: 'm' })
      stream = await openEvents(`${places[1]!.http}/agents/${id}/connections/${body.id}/events`, token)
    })
    afterAll(async () => {
      stream?.close()
      await receiver?.close()
    })

    let sent = 0
    /** Mail to one process: 250 means that it is stored. */
    const mail = (to: { smtp: string }, subject = `mail ${sent}`) =>
      deliver(to.smtp, { from: `s${sent++}@example.com`, to: agent.address, subject, text: 'hi' })

    test('started at the same time, they create one workspace', () => {
      expect((processes[0]!.stdout + processes[1]!.stdout).match(/Owner token/g)).toHaveLength(1)
    })

    test('receive, notify each other, deliver, send and answer, with more requests than connections', async () => {
      const received = Array.from({ length: 20 }, (_, n) => mail(places[n % 2]!))
      const sends = Array.from({ length: 10 }, (_, n) =>
        owners[n % 2]!(
          'POST',
          `/agents/${agent.id}/messages`,
          { channel: 'email', to: [`bo${n}@example.com`], text: 'hi' },
          { 'Idempotency-Key': `send ${n}` },
        ),
      )
      const agents = Array.from({ length: 10 }, (_, n) =>
        owners[n % 2]!(
          'POST',
          '/agents',
          { name: `Bot ${n}`, icon: 'bot' },
          { 'Idempotency-Key': `agent ${n}` },
        ),
      )
      const mutation =
        'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { message { status agent { name } } } }'
      const input = { agentId: agent.id, channel: 'email', to: ['ann@example.com'], text: 'hi' }
      const mutations = Array.from({ length: 10 }, (_, n) =>
        owners[n % 2]!(
          'POST',
          '/graphql',
          { query: mutation, variables: { input } },
          { 'Idempotency-Key': `mutation ${n}` },
        ),
      )
      const reads = Array.from({ length: 40 }, (_, n) =>
        owners[n % 2]!('POST', '/graphql', {
          query:
            '{ viewer { name workspace { plan { usage { agents } } } } agents { name messages { edges { node { text } } } } }',
        }),
      )
      await Promise.all(received)
      for (const { status, body } of await Promise.all(sends)) {
        expect(status, JSON.stringify(body)).toBe(201)
        await until(
          async () =>
            (await owners[0]!('GET', `/agents/${agent.id}/messages/${body.id}`)).body.status === 'sent',
        )
      }
      for (const { status } of await Promise.all(agents)) expect(status).toBe(201)
      for (const { body } of await Promise.all([...mutations, ...reads]))
        expect(body.errors ?? []).toEqual([])
      await stream.got(20)
      await receiver.got('/hook', 20)
      expect(stream.frames.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1))
      const found = await owners[1]!('GET', `/agents/${agent.id}/messages?q=hi&direction=inbound&limit=100`)
      expect(found.body.items).toHaveLength(20)
    })

    test('commands work beside them', async () => {
      const command = async (...args: string[]) => {
        const process = run(settings, ...args)
        expect([(await process.exited).code, process.stderr]).toEqual([0, expect.any(String)])
        return JSON.parse(process.stdout)
      }
      await owners[0]!('PUT', `/agents/${agent.id}/secrets/KEY`, { value: 'v' })
      expect(await command('rotate-key', '--data-keys')).toMatchObject({ workspaces: 1, unreadable: 0 })
      expect(await command('token', '--member', 'owner@localhost')).toHaveProperty('token')
    })

    test('after the pooler was killed and restarted, they continue, and no accepted mail is lost', async () => {
      const accepted: string[] = []
      let stopped = false
      const writing = Promise.all(
        places.map(async (place, n) => {
          for (let count = 0; !stopped; count++) {
            const subject = `drill ${n} ${count}`
            await mail(place, subject)
              .then(() => accepted.push(subject))
              .catch((error) => expect(error.responseCode).toBe(451))
          }
        }),
      )
      await until(() => accepted.length > 10)
      await pooler.kill()
      const waiting = accepted.length
      await until(async () => (await owners[0]!('GET', '/readyz')).status === 503)
      await pooler.start()
      await until(() => accepted.length > waiting + 10)
      stopped = true
      await writing
      const stored = new Set<string>()
      for (let cursor = ''; ; ) {
        const path = `/agents/${agent.id}/messages?direction=inbound&limit=100${cursor}`
        const { body } = await owners[1]!('GET', path)
        for (const { subject } of body.items) stored.add(subject)
        if (!body.nextCursor) break
        cursor = `&cursor=${body.nextCursor}`
      }
      expect(accepted.filter((subject) => !stored.has(subject))).toEqual([])
      const last = (await owners[0]!('GET', `/agents/${agent.id}/events?after=0&limit=100`)).body
      expect(last.items.length).toBeGreaterThan(20)
      await until(() => stream.frames.length >= 20 + accepted.length)
      await until(() => receiver.received.length >= 20 + accepted.length)
    })

    test('no statement met a connection that it was not prepared on', async () => {
      for (const service of processes) {
        service.kill('SIGTERM')
        expect((await service.exited).code).toBe(0)
        expect(service.stderr.match(/.*prepared statement.*/g)).toBeNull()
      }
    })
  })
})
