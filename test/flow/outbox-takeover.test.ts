import { afterEach, beforeAll, expect, test } from 'vitest'
import type { Channel } from '../../src/channel/channel.ts'
import type { Outbound, Progress, SendResult } from '../../src/core/channel/outbound.ts'
import { createNotifier } from '../../src/db/notify.ts'
import { Outbox } from '../../src/message/sending/outbox.ts'
import { SEND_LEASE_S } from '../../src/message/stored/send-job.ts'
import { blobsOf } from '../support/blobs.ts'
import { createFakeClock } from '../support/clock.ts'
import { createTestLog } from '../support/log.ts'
import { createTestAgent, startService, type TestAgent, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

/**
 * A message belongs to the worker that is sending it for as long as its lease is renewed, and then only to
 * the next worker.
 */

const clock = createFakeClock()
let log = createTestLog()
let service: TestService
let agent: TestAgent
beforeAll(async () => {
  service = await startService({ environment: { ROLES: 'api' }, world: { clock } })
  agent = await createTestAgent(service, await service.workspace())
})

interface Held {
  message: Outbound
  progress: Progress
  /** Finishes the attempt. */
  end(result: Partial<SendResult>): void
}

let running: Outbox[] = []
/** Starts a worker whose channel holds each message until the test ends the attempt or the worker stops. */
const startWorker = () => {
  log = createTestLog()
  const held: Held[] = []
  const send: Channel['send'] = (message, signal, progress) =>
    new Promise((resolve) => {
      const end: Held['end'] = (result) => resolve({ accepted: [], rejected: [], ...result })
      signal.addEventListener('abort', () => end({ accepted: message.envelopeTo }), { once: true })
      held.push({ message, progress: progress!, end })
    })
  const notifier = createNotifier({ url: service.databaseUrl, pool: service.db.pool, log, clock })
  const channels = { email: { send } as unknown as Channel }
  const feed = { committed: () => undefined }
  const links = { linkKey: new Uint8Array(32), publicUrl: () => service.http }
  const approval = {
    approvalKey: new Uint8Array(32),
    rates: { takeAll: () => null },
    mailer: { normalize: (address: string) => address, send: () => undefined },
  }
  const outbox = new Outbox({
    drafts: { caughtUp: () => null },
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
  running.push(outbox)
  outbox.start()
  return { outbox, held, log }
}
afterEach(async () => {
  await Promise.all(running.map((outbox) => outbox.stop(0)))
  running = []
})

const write = async (...to: string[]): Promise<string> =>
  (await agent.api('POST', `/agents/${agent.id}/messages`, { channel: 'email', to, text: 'hi' })).body.id
const read = async (id: string) => (await agent.api('GET', `/agents/${agent.id}/messages/${id}`)).body
const becomes = (id: string, status: string) =>
  until(async () => {
    const message = await read(id)
    return message.status === status && message
  })
const leaseEndsIn = (id: string, seconds: number) =>
  service.db.pool.query('update job set lease_until = now() + make_interval(secs => $2) where lane = $1', [
    id,
    seconds,
  ])
const jobOf = async (id: string) => {
  const text = `select state, attempts, log, extract(epoch from lease_until - now())::float8 as "leaseLeft" from job where lane = $1`
  return (await service.db.pool.query(text, [id])).rows[0]
}
/** Lets almost the time of a lease pass; resolves when the worker has renewed the lease, 2 s before its end at the latest. */
const renewed = async (id: string) => {
  await leaseEndsIn(id, SEND_LEASE_S / 2)
  let seconds = SEND_LEASE_S - 2
  await until(async () => {
    if (seconds-- > 0) clock.advance(1_000)
    return (await jobOf(id)).leaseLeft > SEND_LEASE_S / 2
  })
}

test('a message stays with its worker for as long as the attempt lasts, even while the worker stops', async () => {
  const id = await write('slow@example.com')
  const { outbox, held } = startWorker()
  await until(() => held.length === 1)
  const other = startWorker()
  for (let leases = 0; leases < 3; leases++) await renewed(id)
  const stopped = outbox.stop(60_000)
  await renewed(id)
  held[0]!.end({ accepted: ['slow@example.com'] })
  await stopped
  expect(await read(id)).toMatchObject({ status: 'sent', error: null })
  const next = await write('next@example.com')
  clock.advance(1_000)
  await until(() => other.held.length > 0)
  expect(other.held.map(({ message }) => message.id)).toEqual([next])
})

test('a worker does not claim a message again that it still sends, even after its lease ended', async () => {
  const id = await write('late@example.com')
  const { held } = startWorker()
  await until(() => held.length === 1)
  await leaseEndsIn(id, -1)
  const next = await write('next@example.com')
  clock.advance(1_000)
  await until(() => held.length > 1)
  expect(held.map(({ message }) => message.id)).toEqual([id, next])
  for (const [n, address] of ['late@example.com', 'next@example.com'].entries())
    held[n]!.end({ accepted: [address] })
  await becomes(next, 'sent')
})

test('the result of an attempt is not written once another worker has the message', async () => {
  const id = await write('ann@example.com')
  const first = startWorker()
  await until(() => first.held.length === 1)
  await leaseEndsIn(id, -1)
  const second = startWorker()
  await until(() => second.held.length === 1)
  expect(second.held[0]!.message).toMatchObject({ id, envelopeTo: ['ann@example.com'] })
  await expect(first.held[0]!.progress.took('ann@example.com', 'part')).rejects.toThrow(/lease/)
  first.held[0]!.end({
    rejected: [{ recipient: 'ann@example.com', reason: 'no such user', permanent: true }],
  })
  await until(() => first.log.text().includes('claimed by another worker'))
  expect(await read(id)).toMatchObject({ status: 'sending', error: null })
  expect(await jobOf(id)).toMatchObject({
    state: 'pending',
    attempts: 0,
    log: [],
    leaseLeft: expect.any(Number),
  })
  second.held[0]!.end({ accepted: ['ann@example.com'] })
  expect(await becomes(id, 'sent')).toMatchObject({ error: null })
  expect(await jobOf(id)).toMatchObject({
    state: 'delivered',
    attempts: 1,
    log: [{ ms: expect.any(Number) }],
  })
})

test('a worker whose attempt fails releases only its own claim', async () => {
  const id = await write('bob@example.com')
  const first = startWorker()
  await until(() => first.held.length === 1)
  await leaseEndsIn(id, -1)
  const second = startWorker()
  await until(() => second.held.length === 1)
  // An attempt that throws releases its claim, so that the message is retried immediately.
  first.held[0]!.end({ accepted: null as unknown as string[] })
  await until(() => first.log.text().includes('attempt to send a message failed unexpectedly'))
  await first.outbox.stop(0)
  expect((await jobOf(id)).leaseLeft).toBeGreaterThan(0)
  second.held[0]!.end({ accepted: ['bob@example.com'] })
  await becomes(id, 'sent')
})
