import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { eventIdOf, handoverBinding } from '../../src/event/event.ts'
import { listDeliveries } from '../../src/webhook/deliveries.ts'
import { openTestDatabase } from '../support/database.ts'
import { createReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { createWebhookBench } from '../support/webhooks.ts'

const db = await openTestDatabase()
let bench = createWebhookBench(db)
const receiver = await createReceiver()
beforeEach(() => {
  bench = createWebhookBench(db)
})
afterEach(() => bench.close())
afterAll(() => receiver.close())

let paths = 0
/** Creates an agent with a webhook on its own path. */
const lane = async (workspaceId?: string) => {
  const viewer = await bench.agent(workspaceId)
  const path = `/hook-${++paths}`
  const { webhook, secret } = await bench.webhook(viewer, receiver.url + path)
  receiver.expect(path, secret)
  return { viewer, path, id: webhook.id, secret }
}
const positionIs = (id: string, position: bigint) =>
  until(async () => (await bench.state(id))?.position === position)
const retryOf = (id: string) => until(async () => (await bench.state(id))?.retryAt)

test('events arrive once, in order and signed, and are recorded', async () => {
  const { viewer, path, id } = await lane()
  bench.worker()
  const events = await bench.raise(viewer.id, 300)
  const got = await receiver.got(path, 300)
  expect(got.map(({ verified }) => verified?.eventId)).toEqual(events.map(eventIdOf))
  expect(got.map(({ headers }) => headers['webhook-id'])).toEqual(events.map(eventIdOf))
  await positionIs(id, 300n)
  const { items, nextCursor } = await listDeliveries(
    db,
    viewer,
    { agentId: viewer.id, webhookId: id },
    { limit: 2 },
  )
  expect(items[0]).toMatchObject({
    eventId: eventIdOf(events.at(-1)!),
    status: 'delivered',
    attempts: [{ status: 204 }],
  })
  const next = await listDeliveries(
    db,
    viewer,
    { agentId: viewer.id, webhookId: id },
    { limit: 2, cursor: nextCursor },
  )
  expect(next.items[0]?.eventId).toBe(eventIdOf(events.at(-3)!))
  expect(await db.prisma.job.count({ where: { lane: id, NOT: { state: 'delivered', attempts: 1 } } })).toBe(0)
  expect(receiver.mostAtOnce).toBe(1)
})

test('a backlog from before the worker’s start is delivered in order', async () => {
  const { viewer, path, id } = await lane()
  const events = await bench.store(viewer.id, 1000)
  bench.worker()
  const got = await receiver.got(path, 1000)
  expect(got.map(({ verified }) => verified?.eventId)).toEqual(events.map(eventIdOf))
  await positionIs(id, 1000n)
})

test('a retry after 503 has the same bytes and ID with a new time and signature, and later events wait', async () => {
  const { viewer, path, id } = await lane()
  bench.worker()
  receiver.answer(path, 503, 503)
  await bench.raise(viewer.id, 3)
  expect((await retryOf(id)).getTime()).toBe(bench.clock.now().getTime() + 10_000)
  expect(await bench.state(id)).toMatchObject({
    attempts: 1,
    error: 'answered 503',
    position: 0n,
    leaseOwner: null,
  })
  bench.clock.advance(10_000)
  await receiver.got(path, 2)
  await until(async () => (await bench.state(id))?.attempts === 2)
  expect((await retryOf(id)).getTime()).toBe(bench.clock.now().getTime() + 60_000)
  bench.clock.advance(60_000)
  const got = await receiver.got(path, 5)
  expect(got.map(({ verified }) => verified?.cursor)).toEqual(['1', '1', '1', '2', '3'])
  expect(got[1]!.body).toBe(got[0]!.body)
  expect(Number(got[1]!.headers['webhook-timestamp'])).toBe(Number(got[0]!.headers['webhook-timestamp']) + 10)
  expect(got[1]!.headers['webhook-signature']).not.toBe(got[0]!.headers['webhook-signature'])
  await positionIs(id, 3n)
  expect(await bench.state(id)).toMatchObject({ attempts: 0, error: null, retryAt: null })
  const { items } = await listDeliveries(db, viewer, { agentId: viewer.id, webhookId: id }, { limit: 10 })
  expect(items.at(-1)!.attempts.map(({ status }) => status)).toEqual([503, 503, 204])
})

test('a retry after the agent was renamed still has its previous name', async () => {
  const { viewer, path, id } = await lane()
  bench.worker()
  receiver.answer(path, 503)
  await bench.raise(viewer.id, 1)
  await retryOf(id)
  await db.prisma.agent.update({ where: { id: viewer.id }, data: { name: 'Renamed' } })
  bench.clock.advance(10_000)
  const [first, second] = await receiver.got(path, 2)
  expect(second!.body).toBe(first!.body)
  await bench.raise(viewer.id, 1)
  expect((await receiver.got(path, 3)).at(-1)!.verified.data.agent).toEqual({
    id: viewer.id,
    name: 'Renamed',
  })
})

test('410 removes the webhook and its jobs', async () => {
  const { viewer, path, id } = await lane()
  bench.worker()
  receiver.answer(path, 410)
  await bench.raise(viewer.id, 2)
  await until(async () => (await bench.state(id)) === null)
  expect(await db.prisma.job.count({ where: { lane: id } })).toBe(0)
  const other = await lane()
  await bench.raise(viewer.id, 1)
  await bench.raise(other.viewer.id, 1)
  await receiver.got(other.path, 1)
  expect(await receiver.got(path, 1)).toHaveLength(1)
})

test('413 skips the event and continues with the next one', async () => {
  const { viewer, path, id } = await lane()
  bench.worker()
  receiver.answer(path, 413)
  await bench.raise(viewer.id, 2)
  await receiver.got(path, 2)
  await positionIs(id, 2n)
  const { items } = await listDeliveries(db, viewer, { agentId: viewer.id, webhookId: id }, { limit: 10 })
  expect(items.map(({ status }) => status)).toEqual(['delivered', 'skipped'])
})

test('a redirect is not followed', async () => {
  const { viewer, path, id } = await lane()
  const elsewhere = await lane()
  bench.worker()
  receiver.answer(path, { status: 307, headers: { location: receiver.url + elsewhere.path } })
  await bench.raise(viewer.id, 1)
  await retryOf(id)
  expect(await bench.state(id)).toMatchObject({ error: 'answered 307 (redirects are not followed)' })
  await bench.raise(elsewhere.viewer.id, 1)
  expect(await receiver.got(elsewhere.path, 1)).toMatchObject([
    { verified: { data: { agent: { id: elsewhere.viewer.id } } } },
  ])
})

test('Retry-After lengthens the delay', async () => {
  const { viewer, path, id } = await lane()
  bench.worker()
  receiver.answer(path, { status: 429, headers: { 'retry-after': '45' } })
  await bench.raise(viewer.id, 1)
  expect((await retryOf(id)).getTime()).toBe(bench.clock.now().getTime() + 45_000)
})

test('an event is abandoned after three days, and the lane continues with the next one', async () => {
  const { viewer, path, id } = await lane()
  bench.worker()
  receiver.always(path, 500)
  await bench.raise(viewer.id, 1)
  let attempts = 1
  for (;;) {
    const { retryAt, position } = await until(async () => {
      const state = await bench.state(id)
      return state && (state.attempts === attempts || state.position === 1n) && state
    })
    if (position === 1n) break
    bench.clock.advance(retryAt!.getTime() - bench.clock.now().getTime())
    attempts++
  }
  expect(await receiver.got(path, 17)).toHaveLength(17)
  expect(await db.prisma.job.findFirst({ where: { lane: id } })).toMatchObject({
    state: 'expired',
    attempts: 17,
  })
  expect(await bench.state(id)).toMatchObject({
    attempts: 0,
    retryAt: null,
    error: 'an event was given up after 3 days: answered 500',
  })
  receiver.always(path, 204)
  await bench.raise(viewer.id, 1)
  expect((await receiver.got(path, 18)).at(-1)?.body).toContain('"cursor":"2"')
})

test('an event that waited too long in the queue is abandoned without an attempt', async () => {
  const { viewer, path, id } = await lane()
  await bench.store(viewer.id, 5, { createdAt: new Date(bench.clock.now().getTime() - 73 * 3_600_000) })
  await bench.store(viewer.id, 1)
  bench.worker()
  const got = await receiver.got(path, 1)
  expect(got[0]!.verified.cursor).toBe('6')
  await positionIs(id, 6n)
  expect(await db.prisma.job.count({ where: { lane: id, state: 'expired', attempts: 0 } })).toBe(5)
})

test('a webhook that does not respond does not delay another one of its agent', async () => {
  const hanging = await lane()
  receiver.always(hanging.path, () => undefined)
  const path = `/hook-${++paths}`
  const { secret } = await bench.webhook(hanging.viewer, receiver.url + path)
  receiver.expect(path, secret)
  bench.worker({}, { attemptMs: 60_000, leaseMs: 90_000 })
  await bench.raise(hanging.viewer.id, 1)
  await receiver.got(hanging.path, 1)
  await bench.raise(hanging.viewer.id, 50)
  expect((await receiver.got(path, 51)).map(({ verified }) => verified.cursor)).toEqual(
    Array.from({ length: 51 }, (_, i) => String(i + 1)),
  )
})

test('a Message URL message is delivered with its text, which is then erased, and only to webhooks with a job', async () => {
  const { viewer, path, id } = await lane()
  const [event] = await bench.store(viewer.id, 1, { channel: 'url', subject: null })
  const payload = new Uint8Array(
    await bench.keyring.seal(viewer.workspaceId, 'wake up', handoverBinding(event!.messageId)),
  )
  await db.prisma.job.updateMany({ where: { lane: id }, data: { payload } })
  await bench.store(viewer.id, 1, { channel: 'url', subject: null })
  await db.prisma.job.deleteMany({ where: { lane: id, seq: 2 } })
  bench.worker()
  const got = await receiver.got(path, 1)
  expect(got[0]!.verified.data.message).toMatchObject({ channel: 'url', text: 'wake up', sender: {} })
  await positionIs(id, 2n)
  expect(await db.prisma.job.findFirst({ where: { lane: id } })).toMatchObject({
    state: 'delivered',
    payload: null,
  })
})

test('an event whose job is missing is still delivered and recorded', async () => {
  const { viewer, path, id } = await lane()
  await bench.store(viewer.id, 2)
  await db.prisma.job.deleteMany({ where: { lane: id, seq: 1 } })
  bench.worker()
  await receiver.got(path, 2)
  await positionIs(id, 2n)
  expect(await db.prisma.job.count({ where: { lane: id, state: 'delivered' } })).toBe(2)
})
