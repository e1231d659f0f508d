import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type App, startApp } from '../../src/app.ts'
import { readConfig } from '../../src/config/config.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { type OpenDb, openDb } from '../../src/db/client.ts'
import { createWorkspace } from '../../src/workspace/workspace.ts'
import { createTestDatabase } from '../support/database.ts'
import { type EventStream, openEvents } from '../support/events.ts'
import { expectFailure } from '../support/failure.ts'
import { handOver, SECRET } from '../support/inbound-http.ts'
import { deliver } from '../support/mail.ts'
import { expectPage, visit } from '../support/page.ts'
import { execute, temporaryDir } from '../support/postgres.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import { type Api, apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startWire, type Wire } from '../support/wire.ts'

/**
 * One service whose database becomes unavailable and available again: each test continues where the previous
 * one ended.
 */
const dataDir = temporaryDir()
let wire: Wire
let app: App
let owner: Api
let agent: { id: string; address: string; token: string }
let stream: EventStream
let receiver: Receiver
let close: () => Promise<void>

const openService = async (): Promise<string> => {
  const database = await createTestDatabase()
  wire = await startWire(database.url)
  const db: OpenDb = await openDb(wire.url, { max: 10, log: silentLogger })
  const masterKey = randomBytes(32)
  const config = readConfig({
    PORT: '0',
    SMTP_PORT: '0',
    DATA_DIR: dataDir,
    WEBHOOK_ALLOW: '127.0.0.1',
    INBOUND_SECRET: SECRET,
  })
  const resolver = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
  app = await startApp(
    config,
    { db, databaseUrl: wire.url, masterKey, close: async () => undefined },
    silentLogger,
    { resolver },
  )
  close = async () => {
    await app.stop(2_000)
    await db.close()
    await wire.cut()
    await database.drop()
  }
  const made = await createWorkspace(
    { ...db, masterKey },
    { name: 'Acme', ownerEmail: 'boss@example.com', plan: 'unlimited' },
  )
  return made.token
}

beforeAll(async () => {
  const token = await openService()
  owner = apiOf(app.http, token)
  receiver = await createReceiver()
  const { id } = (await owner('POST', '/agents', { name: 'Bot', icon: 'bot' })).body
  await owner('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] })
  await owner('POST', `/agents/${id}/webhooks`, { url: `${receiver.url}/hook` })
  const [{ value: address }] = (await owner('GET', `/agents/${id}/addresses`)).body
  const minted = (await owner('POST', `/agents/${id}/tokens`, {})).body
  agent = { id, address, token: minted.token }
  const connection = await apiOf(app.http, agent.token)('PUT', `/agents/${id}/connection`, {
    client: 'c',
    machine: 'm',
  })
  stream = await openEvents(`${app.http}/agents/${id}/connections/${connection.body.id}/events`, agent.token)
})
afterAll(async () => {
  stream.close()
  await close()
  await receiver.close()
  rmSync(dataDir, { recursive: true, force: true })
})

let count = 0
/** Sends each mail from a different sender, to stay below the rate limit. */
const write = (subject: string) =>
  deliver(app.smtp!, { from: `s${count++}@example.com`, to: agent.address, subject, text: 'hi' })

test('while the database is available, everything works', async () => {
  await write('One')
  await stream.got(1)
  await receiver.got('/hook', 1)
})

test('while the database is unavailable, HTTP responds with 503, SMTP with 451, and only /readyz is unhealthy', async () => {
  await wire.cut()
  for (const [method, path, body] of [
    ['GET', `/agents/${agent.id}`],
    ['GET', `/agents/${agent.id}/messages`],
    ['POST', '/agents', { name: 'x', icon: 'bot' }],
    ['POST', `/agents/${agent.id}/messages`, { channel: 'email', to: ['bo@example.com'], text: 'hi' }],
    ['GET', `/agents/${agent.id}/connections/${agent.id}/events`],
  ] as const) {
    const answer = await owner(method, path, body)
    expectFailure(answer, 'unavailable')
    expect(answer.text).not.toMatch(/ECONN|postgres|127\.0\.0\.1/i)
  }
  expect((await owner('GET', '/healthz')).status).toBe(200)
  expectFailure(await owner('GET', '/readyz'), 'unavailable')
  const graphql = await owner('POST', '/graphql', { query: '{ agents { id } }' })
  expect(graphql.body.errors ?? graphql.body.error).toMatchObject(
    graphql.body.errors ? [{ extensions: { code: 'unavailable' } }] : { code: 'unavailable' },
  )
  for (const kind of ['setup', 'join'])
    expectPage(await visit(app.http, `${app.http}/${kind}/ast_x`), 503, /Not at the moment/)
  await expect(write('Lost?')).rejects.toMatchObject({ responseCode: 451 })
  expectFailure(
    await handOver(app.http, { raw: 'From: a@example.com\r\n\r\nhi', from: '', to: agent.address }),
    'unavailable',
  )
})

test('while the database accepts no changes, writes respond with 503 and /readyz is unhealthy', async () => {
  await wire.mend()
  await until(async () => (await owner('GET', '/readyz')).status === 200)
  const readOnly = async (on: boolean) => {
    const name = new URL(wire.url).pathname.slice(1)
    await execute(
      wire.url,
      `ALTER DATABASE "${name}" SET default_transaction_read_only = ${on ? 'on' : 'off'}`,
    )
    // The connections of the pool have the old value.
    await wire.cut()
    await wire.mend()
  }
  await readOnly(true)
  await until(async () => (await owner('GET', `/agents/${agent.id}`)).status === 200)
  for (const [path, body] of [
    ['/agents', { name: 'x', icon: 'bot' }],
    [`/agents/${agent.id}/messages`, { channel: 'email', to: ['bo@example.com'], text: 'hi' }],
  ] as const) {
    const answer = await owner('POST', path, body)
    expectFailure(answer, 'unavailable')
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
  }
  expectFailure(await owner('GET', '/readyz'), 'unavailable')
  await expect(write('Lost?')).rejects.toMatchObject({ responseCode: 451 })
  const undo = new URL(wire.url)
  undo.searchParams.set('options', '-c default_transaction_read_only=off')
  await execute(undo.href, `ALTER DATABASE "${undo.pathname.slice(1)}" RESET default_transaction_read_only`)
  await wire.cut()
})

test('once the database is available again, everything works without a restart, including open streams and webhooks', async () => {
  await wire.mend()
  await until(async () => (await owner('GET', `/agents/${agent.id}`)).status === 200)
  await until(async () => (await owner('GET', '/readyz')).status === 200)
  await until(() => write('Two').then(() => true))
  const frames = await stream.got(2)
  expect(frames.map(({ id }) => id)).toEqual([1, 2])
  const { items } = (await owner('GET', `/agents/${agent.id}/messages`)).body
  expect(items.map(({ subject }: { subject: string }) => subject)).toEqual(['Two', 'One'])
  const deliveries = await receiver.got('/hook', 2)
  expect(deliveries.map(({ body }) => JSON.parse(body).data.message.subject)).toEqual(['One', 'Two'])
})

/** The statement that commits a mail and everything that belongs to it. */
const STORING = 'store bare arrivals'
const SIDES = ['before', 'after'] as const

test.each(SIDES)(
  'when the connection breaks %s a mail is committed, it gets 451, and sending it again stores it once',
  async (side) => {
    const subject = `Cut off ${side}`
    const raw = `From: cut-${side}@example.com\r\nTo: ${agent.address}\r\nSubject: ${subject}\r\nMessage-ID: <${side}@example.com>\r\n\r\nhi`
    const mail = { envelope: { from: `cut-${side}@example.com`, to: agent.address }, raw }
    const cut = wire.cutAt(side, STORING)
    await expect(deliver(app.smtp!, mail)).rejects.toMatchObject({ responseCode: 451 })
    await cut
    await wire.mend()
    await until(() => deliver(app.smtp!, mail).then(() => true))
    const { items } = (await owner('GET', `/agents/${agent.id}/messages`)).body
    expect(items.filter((message: { subject: string }) => message.subject === subject)).toHaveLength(1)
    const events = (await owner('GET', `/agents/${agent.id}/events?limit=100`)).body.items
    expect(events.filter(({ messageId }: { messageId: string }) => messageId === items[0].id)).toHaveLength(1)
    expect((await stream.got(events.length)).map(({ id }) => id)).toEqual(
      events.map(({ id }: { id: number }) => id),
    )
  },
)

test.each(SIDES)(
  'when the connection breaks %s a request with a key is committed, it gets 503, and a retry runs it once',
  async (side) => {
    const body = { channel: 'email', to: ['bo@example.com'], subject: `Key cut off ${side}`, text: 'hi' }
    const send = () =>
      owner('POST', `/agents/${agent.id}/messages`, body, { 'Idempotency-Key': `cut-${side}` })
    const cut = wire.cutAt(side, 'idempotency_key', 'COMMIT')
    expectFailure(await send(), 'unavailable')
    await cut
    await wire.mend()
    const again = await until(async () => {
      const answer = await send()
      return answer.status === 201 && answer
    })
    expect(again.headers.get('idempotency-replayed')).toBe(side === 'after' ? 'true' : null)
    const { items } = (await owner('GET', `/agents/${agent.id}/messages`)).body
    expect(items.filter(({ subject }: { subject: string }) => subject === body.subject)).toMatchObject([
      { id: again.body.id },
    ])
  },
)

test('during repeated outages, every mail that got 250 is stored once and in order', async () => {
  const accepted: string[] = []
  const refused: number[] = []
  let over = false
  const mailing = async (sender: number) => {
    for (let n = 0; !over; n++) {
      const subject = `${sender}/${n}`
      await write(subject).then(
        () => accepted.push(subject),
        (error) => refused.push(error.responseCode),
      )
    }
  }
  const senders = Promise.all([0, 1, 2].map(mailing))
  for (let round = 0; round < 3; round++) {
    const before = accepted.length
    await until(() => accepted.length > before + 3)
    await wire.cutAt(round % 2 === 0 ? 'after' : 'before', STORING)
    const refusals = refused.length
    await until(() => refused.length > refusals)
    await wire.mend()
  }
  over = true
  await senders
  expect(new Set(refused)).toEqual(new Set([451]))
  const logged = (await owner('GET', `/agents/${agent.id}/events?limit=100`)).body.items.map(
    ({ id }: { id: number }) => id,
  )
  expect(logged).toEqual(logged.map((_: number, index: number) => index + 1))
  const { items } = (await owner('GET', `/agents/${agent.id}/messages?limit=100`)).body
  expect(items.map(({ subject }: { subject: string }) => subject)).toEqual(expect.arrayContaining(accepted))
  await stream.got(logged.length)
  expect(stream.frames.map(({ id }) => id)).toEqual(logged)
})
