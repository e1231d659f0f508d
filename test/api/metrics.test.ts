import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { COMMIT, VERSION } from '../../src/core/version.ts'
import { migrate } from '../../src/db/migrate.ts'
import { MIGRATIONS } from '../../src/db/schema.ts'
import { openEvents } from '../support/events.ts'
import { post } from '../support/letter.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

let service: TestService
let owner: Tenant
let agent: TestAgent
let receiver: Receiver
beforeAll(async () => {
  service = await startService()
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  receiver = await createReceiver()
})
afterAll(() => receiver.close())

/** Returns the samples of the page by name and labels, as they are written there. */
const scrape = async (base = service.http): Promise<Record<string, number>> => {
  const response = await fetch(`${base}/metrics`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  )
}
const grown = (before: Record<string, number>, after: Record<string, number>, name: string) =>
  (after[name] ?? 0) - (before[name] ?? 0)

test('mails, events, sends, deliveries and requests are counted by outcome, and the page needs no token', async () => {
  const path = `/agents/${agent.id}`
  await agent.api('POST', `${path}/webhooks`, { url: `${receiver.url}/sound` })
  await agent.api('POST', `${path}/webhooks`, { url: `${receiver.url}/failing` })
  receiver.always('/failing', 500)
  const before = await scrape()
  await post(service, { from: 'stranger@example.com', to: agent.address, text: 'refused' })
  await agent.api('PUT', `${path}/access/email`, { admit: 'anyone', senders: [] })
  await post(service, { from: 'ann@example.com', to: agent.address, text: 'received' })
  await agent.api('POST', `${path}/messages`, { channel: 'email', to: ['bo@example.com'], text: 'hi' })
  await agent.api('GET', `/agents/${randomUUID()}`)
  const after = await until(async () => {
    const now = await scrape()
    const done = [
      'ams_webhook_deliveries_total{outcome="delivered"}',
      'ams_webhook_deliveries_total{outcome="failed"}',
      'ams_sends_total{outcome="sent"}',
    ]
    return done.every((name) => grown(before, now, name) >= 1) && now
  })
  expect(grown(before, after, 'ams_mails_total{verdict="received"}')).toBe(1)
  expect(grown(before, after, 'ams_mails_total{verdict="sender"}')).toBe(1)
  expect(grown(before, after, 'ams_events_total{channel="email"}')).toBe(1)
  expect(grown(before, after, 'ams_webhook_deliveries_total{outcome="delivered"}')).toBe(1)
  expect(grown(before, after, 'ams_http_requests_total{status="4xx"}')).toBe(1)
  expect(grown(before, after, 'ams_http_requests_total{status="2xx"}')).toBeGreaterThanOrEqual(2)
  expect(after.ams_webhook_lanes).toBeGreaterThanOrEqual(0)
  expect(after['ams_database_connections{state="total"}']).toBeGreaterThan(0)
  // reading the page does not wait for a connection either
  await until(async () => (await scrape())['ams_database_connections{state="waiting"}'] === 0)
  expect(after.nodejs_eventloop_lag_seconds).toBeGreaterThanOrEqual(0)
  expect(after.process_resident_memory_bytes).toBeGreaterThan(0)
})

test('open streams and subscriptions are counted', async () => {
  const connection = await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
  const stream = await openEvents(
    `${service.http}/agents/${agent.id}/connections/${connection.body.id}/events`,
    agent.token,
  )
  expect((await scrape()).ams_streams).toBe(1)
  const leaving = new AbortController()
  await fetch(`${service.http}/graphql`, {
    method: 'POST',
    signal: leaving.signal,
    headers: {
      Authorization: `Bearer ${agent.token}`,
      'Content-Type': 'application/json',
      Accept: 'text/event-stream',
    },
    body: JSON.stringify({
      query: `subscription { messageReceived(agentId: "${agent.id}", after: 0) { id } }`,
    }),
  })
  await until(async () => (await scrape()).ams_graphql_subscriptions === 1)
  stream.close()
  leaving.abort()
  await until(async () => {
    const { ams_streams, ams_graphql_subscriptions } = await scrape()
    return ams_streams === 0 && ams_graphql_subscriptions === 0
  })
})

test('SMTP sessions and their response codes are counted', async () => {
  const before = await scrape()
  const socket = connect(service.smtp.port, service.smtp.host)
  await until(async () => (await scrape()).ams_smtp_sessions === 1)
  socket.destroy()
  await until(async () => (await scrape()).ams_smtp_sessions === 0)
  await post(service, { from: 'ann@example.com', to: [agent.address, 'nobody@agents.localhost'], text: 'hi' })
  const after = await scrape()
  expect(grown(before, after, 'ams_smtp_answers_total{code="250"}')).toBe(1)
  expect(grown(before, after, 'ams_smtp_answers_total{code="550"}')).toBe(1)
})

test('the age of the oldest due job ignores retries that are not due yet', async () => {
  const webhook = '{kind="webhook"}'
  const lag = async (kind: string) => (await scrape())[`ams_oldest_due_job_seconds${kind}`]
  await until(async () => (await lag(webhook)) === 0 && (await lag('{kind="send"}')) === 0)
  const [failing] = await service.db.prisma.webhook.findMany({ where: { attempts: { gt: 0 } } })
  expect(failing!.retryAt).not.toBeNull()
  const held = { leaseOwner: randomUUID(), leaseUntil: new Date(Date.now() + 60_000) }
  await service.db.prisma.webhook.updateMany({
    where: { id: failing!.id },
    data: { ...held, retryAt: new Date(Date.now() - 30_000) },
  })
  expect(await lag(webhook)).toBeGreaterThanOrEqual(30)
})

test('requests are timed by the class of their route, refusals counted by status, and streams left out', async () => {
  const before = await scrape()
  await agent.api('GET', `/agents/${randomUUID()}`)
  await fetch(`${service.http}/nowhere`, { method: 'DELETE' })
  await fetch(`${service.http}/a/${agent.id}`, { method: 'POST' })
  await fetch(`${service.http}/mcp`, { method: 'POST' })
  const connection = await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
  const path = `/agents/${agent.id}/connections/${connection.body.id}/events`
  const stream = await openEvents(`${service.http}${path}`, agent.token)
  stream.close()
  await until(async () => (await scrape()).ams_streams === 0)
  const after = await scrape()
  const timed = (route: string) =>
    grown(before, after, `ams_http_request_duration_seconds_count{route="${route}"}`)
  expect(timed('rest_write')).toBe(2)
  expect([timed('rest_read'), timed('message_url'), timed('mcp')]).toEqual([1, 1, 1])
  expect(grown(before, after, 'ams_http_refusals_total{status="404"}')).toBe(2)
  expect(grown(before, after, 'ams_http_refusals_total{status="401"}')).toBeGreaterThanOrEqual(2)
})

test('mails and deliveries are timed, and lookups counted by outcome', async () => {
  const before = await scrape()
  await post(service, { from: 'bo@example.com', to: agent.address, text: 'timed' })
  const after = await until(async () => {
    const now = await scrape()
    return grown(before, now, 'ams_webhook_delay_seconds_count{attempt="first"}') > 0 && now
  })
  expect(grown(before, after, 'ams_smtp_data_duration_seconds_count{outcome="stored"}')).toBe(1)
  // example.com was looked up when the first of these mails was verified.
  expect(after['ams_dns_lookups_total{outcome="absent"}']).toBeGreaterThan(0)
})

test('queues, failing webhooks, domains, the database and the build are described', async () => {
  const now = await until(async () => {
    const page = await scrape()
    const isIdle = page['ams_queue_depth{queue="send"}'] === 0
    return isIdle && page['ams_failing_webhooks{state="retrying"}'] === 1 && page
  })
  expect(now['ams_database_up{database="main"}']).toBe(1)
  expect(now['ams_queue_depth{queue="deletion"}']).toBe(0)
  expect(now['ams_database_size_bytes{database="main"}']).toBeGreaterThan(1e6)
  expect(now['ams_domains{state="broken"}']).toBe(0)
  const build = `version="${VERSION}",commit="${COMMIT ?? 'unknown'}",node="${process.versions.node}"`
  expect(now[`ams_build_info{${build}}`]).toBe(1)
})

test('labels contain no ids, addresses or URLs', async () => {
  const names = Object.keys(await scrape()).filter((name) => name.startsWith('ams_'))
  expect(names.length).toBeGreaterThan(12)
  const label = String.raw`[a-z]+="(?:[a-z0-9_]+|\+Inf|\d+(?:\.\d+)+)"`
  for (const name of names) expect(name).toMatch(new RegExp(`^ams_[a-z_]+(\\{${label}(,${label}){0,2}\\})?$`))
  expect(names.length).toBeLessThan(500)
})

test('a process without the API serves its own metrics', async () => {
  const other = await service.again({ ROLES: 'worker' })
  const page = await scrape(other.http)
  expect(page.ams_webhook_lanes).toBeDefined()
  expect(page['ams_mails_total{verdict="received"}']).toBe(0)
})

test('the metrics say how the schema of the database differs from this build, and who migrates it', async () => {
  const state = async () => {
    const page = await scrape()
    return ['pending', 'unknown', 'running'].map((one) => page[`ams_migrations{state="${one}"}`])
  }
  expect(await state()).toEqual([0, 0, 0])
  const { pool } = service.db
  const [{ last }] = (await pool.query('select max(migration_name) as last from _prisma_migrations'))
    .rows as [{ last: string }]
  await pool.query('update _prisma_migrations set finished_at = null where migration_name = $1', [last])
  await pool.query(
    `insert into _prisma_migrations (id, checksum, migration_name, finished_at) values ($1, 'x', '29990101000000_later', now())`,
    [randomUUID()],
  )
  // Holds the lock that migrations wait for, and ends with its connection.
  const holder = new pg.Client(service.databaseUrl)
  await holder.connect()
  await holder.query('select pg_advisory_lock(72707369)')
  const migrating = migrate(service.databaseUrl, MIGRATIONS, silentLogger)
  await until(async () => JSON.stringify(await state()) === '[1,1,1]')
  await pool.query('update _prisma_migrations set finished_at = now() where migration_name = $1', [last])
  await pool.query(`delete from _prisma_migrations where migration_name = '29990101000000_later'`)
  await holder.end()
  await migrating
  await until(async () => JSON.stringify(await state()) === '[0,0,0]')
})
