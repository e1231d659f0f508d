import pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import type { Channel } from '../../src/channel/channel.ts'
import { createEmailChannel } from '../../src/channel/email/email-channel.ts'
import type { Outbound, Progress } from '../../src/core/channel/outbound.ts'
import { createNotifier } from '../../src/db/notify.ts'
import { Outbox, type OutboxDeps } from '../../src/message/sending/outbox.ts'
import { blobsOf } from '../support/blobs.ts'
import { createFakeClock } from '../support/clock.ts'
import { fakeResolver } from '../support/dns.ts'
import { createTestLog } from '../support/log.ts'
import { type Relay, startRelay } from '../support/relay.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

const clock = createFakeClock()
const log = createTestLog()
let service: TestService
let owner: Tenant
beforeAll(async () => {
  service = await startService({ environment: { ROLES: 'api' }, world: { clock } })
  owner = await service.workspace()
})

const write = async (agent: TestAgent, ...to: string[]) =>
  (await agent.api('POST', `/agents/${agent.id}/messages`, { channel: 'email', to, text: 'hi' })).body
    .id as string
/** Nobody waits to be accepted. */
const noCrowd: OutboxDeps['drafts'] = { caughtUp: () => null }

/** Starts a separate worker that sends with `send`, until the test stops it. */
const startWorker = (send: Channel['send'], drafts = noCrowd) => {
  const email = { send } as unknown as Channel
  const notifier = createNotifier({ url: service.databaseUrl, pool: service.db.pool, log, clock })
  const feed = { committed: () => undefined }
  const channels = { email }
  const links = { linkKey: new Uint8Array(32), publicUrl: () => service.http }
  const approval = {
    approvalKey: new Uint8Array(32),
    rates: { takeAll: () => null },
    mailer: { normalize: (address: string) => address, send: () => undefined },
  }
  const outbox = new Outbox({
    drafts,
    ...service.db,
    ...links,
    ...approval,
    blobs: blobsOf(service),
    clock,
    log,
    notifier,
    feed,
    channels,
    random: () => 0,
  })
  outbox.start()
  return outbox
}

test('sent mail whose outcome cannot be written yet holds up no other mail', async () => {
  const [busy, second, other] = await Promise.all([1, 2, 3].map(() => createTestAgent(service, owner)))
  for (let n = 0; n < 8; n++)
    await Promise.all([write(busy!, 'a@example.com'), write(second!, 'b@example.com')])
  clock.advance(10)
  const id = await write(other!, 'next@example.com')
  const holder = new pg.Client({ connectionString: service.databaseUrl })
  await holder.connect()
  await holder.query('begin')
  const agents = [busy!.id, second!.id]
  await holder.query('select from message where agent_id = any($1) for update', [agents])
  const started: string[] = []
  const outbox = startWorker(({ envelopeTo }: Outbound) => {
    started.push(...envelopeTo)
    return Promise.resolve({ accepted: envelopeTo, rejected: [] })
  })
  const statuses = async () =>
    (await service.db.pool.query('select status from message where agent_id = any($1)', [agents])).rows
  await until(() => started.length >= 16)
  expect(started).not.toContain('next@example.com')
  clock.advance(1_000)
  await until(
    async () => (await other!.api('GET', `/agents/${other!.id}/messages/${id}`)).body.status === 'sent',
  )
  expect((await statuses()).every(({ status }) => status === 'sending')).toBe(true)
  await holder.query('commit')
  await holder.end()
  await until(async () => (await statuses()).every(({ status }) => status === 'sent'))
  await outbox.stop(0)
})

test('while others wait to be accepted, messages are sent a second later, then all of them, and at once when nobody waits', async () => {
  const agents = await Promise.all([1, 2, 3].map(() => createTestAgent(service, owner)))
  const started: string[] = []
  let [asked, end] = [0, () => {}]
  let behind: Promise<void> | null = new Promise((resolve) => {
    end = resolve
  })
  const send = ({ envelopeTo }: Outbound) => {
    started.push(...envelopeTo)
    return Promise.resolve({ accepted: envelopeTo, rejected: [] })
  }
  const caughtUp = () => {
    asked++
    return behind
  }
  const outbox = startWorker(send, { caughtUp })
  await until(() => {
    clock.advance(100)
    return asked > 0
  })
  // More than the worker claims at a time.
  for (let n = 0; n < 7; n++)
    await Promise.all(agents.map((agent, index) => write(agent, `crowd${n}-${index}@example.com`)))
  clock.advance(700)
  const ids = agents.map(({ id }) => id)
  const leased = 'select from job where agent_id = any($1) and lease_owner is not null'
  expect((await service.db.pool.query(leased, [ids])).rows).toEqual([])
  asked = 0
  clock.advance(300)
  await until(() => started.length === 21)
  await until(() => asked > 1)
  await write(agents[0]!, 'next@example.com')
  behind = null
  end()
  await until(() => started.includes('next@example.com'))
  await outbox.stop(0)
})

test('a crowd delays the messages of one busy agent by a second in all', async () => {
  const agent = await createTestAgent(service, owner)
  const started: string[] = []
  let asked = 0
  const never = new Promise<void>(() => undefined)
  const send = async ({ envelopeTo }: Outbound) => {
    started.push(...envelopeTo)
    await new Promise((resolve) => setTimeout(resolve, started.length % 7))
    return { accepted: envelopeTo, rejected: [] }
  }
  const caughtUp = () => {
    asked++
    return never
  }
  const outbox = startWorker(send, { caughtUp })
  await until(() => {
    clock.advance(100)
    return asked > 0
  })
  // More than are sent for one agent at a time.
  for (let n = 0; n < 40; n++) await write(agent, `one${n}@example.com`)
  clock.advance(1_000)
  await until(() => started.length === 40)
  await outbox.stop(0)
})

test('recipients whose servers hang delay only the mail of their own agent', async () => {
  const [slow, other] = [await createTestAgent(service, owner), await createTestAgent(service, owner)]
  const started: string[] = []
  const outbox = startWorker(({ envelopeTo }: Outbound, signal) => {
    started.push(envelopeTo[0]!)
    const refused = {
      accepted: [],
      rejected: envelopeTo.map((recipient) => ({ recipient, reason: 'stopped', permanent: true })),
    }
    if (envelopeTo[0]!.startsWith('quick')) return Promise.resolve({ accepted: envelopeTo, rejected: [] })
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(refused), { once: true }))
  })
  for (let n = 0; n < 40; n++) await write(slow, `slow${n}@example.com`)
  clock.advance(1_000)
  await until(() => started.length >= 16)
  const id = await write(other, 'quick@example.com')
  await until(() => {
    clock.advance(1_000)
    return started.includes('quick@example.com')
  })
  await until(
    async () => (await other.api('GET', `/agents/${other.id}/messages/${id}`)).body.status === 'sent',
  )
  expect(started.filter((recipient) => recipient.startsWith('slow')).length).toBeLessThan(40)
  await outbox.stop(0)
})

test('a recipient that got a mail before its worker died does not get it again from the next one', async () => {
  const relay: Relay = await startRelay()
  const channel = createEmailChannel({
    mailDomain: 'agents.localhost',
    smtp: { host: '127.0.0.1', port: 0, tls: null },
    relayUrl: relay.url,
    outboxDir: service.dataDir,
    dataDir: service.dataDir,
    resolver: fakeResolver({}),
    log,
  })
  const agent = await createTestAgent(service, owner)
  const id = await write(agent, 'a@example.com', 'b@example.com', 'c@example.com')
  // Dies between two recipients: only the progress recorded until then is stored.
  const dying = (message: Outbound, signal: AbortSignal, progress?: Progress) => {
    if (message.id !== id) return Promise.resolve({ accepted: message.envelopeTo, rejected: [] })
    const took: Progress['took'] = async (recipient, part) => {
      await progress!.took(recipient, part)
      if (recipient === 'b@example.com') throw new Error('dead')
    }
    return channel.send(message, signal, { of: (recipient) => progress!.of(recipient), took })
  }
  const first = startWorker(dying)
  clock.advance(1_000)
  await relay.got(2)
  await until(
    async () =>
      (await service.db.pool.query('select attempts from job where lane = $1', [id])).rows[0].attempts === 1,
  )
  await first.stop(0)
  const second = startWorker((message, signal, progress) =>
    message.id === id
      ? channel.send(message, signal, progress)
      : Promise.resolve({ accepted: message.envelopeTo, rejected: [] }),
  )
  await until(async () => {
    clock.advance(60_000)
    return (await agent.api('GET', `/agents/${agent.id}/messages/${id}`)).body.status === 'sent'
  })
  expect(relay.mails.map(({ to }) => to)).toEqual([['a@example.com'], ['b@example.com'], ['c@example.com']])
  await second.stop(0)
  await channel.close()
  await relay.stop()
})
