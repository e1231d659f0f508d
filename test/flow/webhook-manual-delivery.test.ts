import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventIdOf } from '../../src/event/event.ts'
import { listDeliveries } from '../../src/webhook/deliveries.ts'
import { resendDelivery, testWebhook } from '../../src/webhook/operate.ts'
import { openTestDatabase } from '../support/database.ts'
import { createReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { createWebhookBench } from '../support/webhooks.ts'

/** Deliveries on request: tests, and events that are sent again. */

const db = await openTestDatabase()
let bench = createWebhookBench(db)
let receiver = await createReceiver()
beforeEach(async () => {
  bench = createWebhookBench(db)
  receiver = await createReceiver()
})
afterEach(async () => {
  await bench.close()
  await receiver.close()
})
afterAll(() => receiver.close())

/** How late a retry may be: the poll may have looked while the webhook was leased for a manual delivery. */
const POLL_MS = 1_500

let paths = 0
const lane = async () => {
  const viewer = await bench.agent()
  const path = `/hook-${++paths}`
  const { webhook, secret } = await bench.webhook(viewer, receiver.url + path)
  receiver.expect(path, secret)
  const { id } = webhook
  const ask = () => testWebhook(bench.operations, viewer, viewer.id, id)
  const again = (deliveryId: string) =>
    resendDelivery(bench.operations, viewer, { agentId: viewer.id, webhookId: id, deliveryId })
  const log = async () =>
    (await listDeliveries(db, viewer, { agentId: viewer.id, webhookId: id }, { limit: 100 })).items
  const delivery = (deliveryId: string) =>
    until(async () => (await log()).find((one) => one.id === deliveryId && one.status !== 'pending'))
  return { viewer, path, id, ask, again, log, delivery }
}
const positionIs = (id: string, position: bigint) =>
  until(async () => (await bench.state(id))?.position === position)
const rowOf = (id: string) => db.prisma.webhook.findFirstOrThrow({ where: { id } })

describe('a webhook test', () => {
  test('is sent only to its webhook, signed and with its own event ID, and listed among the deliveries', async () => {
    const { viewer, path, id, ask, delivery } = await lane()
    await bench.webhook(viewer, `${receiver.url}/sibling`)
    bench.worker()
    const asked = await ask()
    expect(asked).toMatchObject({
      id: asked.id,
      eventId: expect.stringMatching(/^test_[0-9a-f]{32}$/),
      status: 'pending',
      attempts: [],
    })
    const [got] = await receiver.got(path, 1)
    expect(got!.verified).toEqual({
      eventId: asked.eventId,
      name: 'webhook.test',
      timestamp: bench.clock.now().toISOString(),
      data: { agent: { id: viewer.id, name: 'Scout' }, webhook: { id } },
    })
    expect(got!.headers['webhook-id']).toBe(asked.eventId)
    expect(await delivery(asked.id)).toMatchObject({
      ...asked,
      status: 'delivered',
      attempts: [{ status: 204 }],
    })
    await bench.raise(viewer.id, 1)
    expect((await receiver.got('/sibling', 1))[0]!.body).toContain('message.received')
    expect((await receiver.got(path, 2))[1]!.verified.cursor).toBe('1')
    await until(async () => (await rowOf(id)).answered === 1)
  })

  test('is sent while a retry is pending, and the retry still happens at its time', async () => {
    const { viewer, path, id, ask, delivery } = await lane()
    bench.worker()
    receiver.answer(path, 503)
    await bench.raise(viewer.id, 2)
    const before = await until(async () => (await bench.state(id))?.retryAt && rowOf(id))
    expect(await delivery((await ask()).id)).toMatchObject({ status: 'delivered' })
    await until(async () => (await rowOf(id)).leaseOwner === null)
    expect(await rowOf(id)).toEqual({ ...before, asked: 1, answered: 1, revision: expect.any(Number) })
    bench.clock.advance(9_999)
    expect(await delivery((await ask()).id)).toMatchObject({ status: 'delivered' })
    expect(receiver.received).toHaveLength(3)
    await until(async () => (await rowOf(id)).leaseOwner === null)
    bench.clock.advance(1 + POLL_MS)
    expect((await receiver.got(path, 5)).map(({ verified }) => verified.cursor)).toEqual([
      '1',
      undefined,
      undefined,
      '1',
      '2',
    ])
  })

  test('that fails is attempted once and does not change the webhook’s state', async () => {
    const { path, id, ask, delivery } = await lane()
    bench.worker()
    receiver.answer(path, 500, 413)
    expect(await delivery((await ask()).id)).toMatchObject({ status: 'expired', attempts: [{ status: 500 }] })
    expect(await delivery((await ask()).id)).toMatchObject({ status: 'skipped', attempts: [{ status: 413 }] })
    expect(await bench.state(id)).toMatchObject({ attempts: 0, error: null, retryAt: null, position: 0n })
    expect(receiver.received).toHaveLength(2)
  })

  test('with a 410 response removes the webhook', async () => {
    const { path, id, ask } = await lane()
    bench.worker()
    receiver.answer(path, 410)
    await ask()
    await until(async () => (await bench.state(id)) === null)
    expect(await db.prisma.job.count({ where: { lane: id } })).toBe(0)
  })

  test('waits for the POST in flight', async () => {
    const { viewer, path, ask, delivery } = await lane()
    bench.worker()
    let release = () => undefined as unknown
    receiver.answer(path, (res) => {
      release = () => res.writeHead(204).end()
    })
    await bench.raise(viewer.id, 3)
    await receiver.got(path, 1)
    const asked = await Promise.all([ask(), ask()])
    release()
    for (const { id } of asked) expect(await delivery(id)).toMatchObject({ status: 'delivered' })
    const got = await receiver.got(path, 5)
    expect(got.map(({ verified }) => verified.cursor).filter(Boolean)).toEqual(['1', '2', '3'])
    expect(receiver.mostAtOnce).toBe(1)
  })

  test('without a notification is found by the poll', async () => {
    const { id, ask, delivery } = await lane()
    const { notifier } = bench.operations
    bench.worker({ notifier: { ...notifier, subscribe: () => () => undefined } })
    const asked = await ask()
    await until(async () => {
      bench.clock.advance(100)
      return (await rowOf(id)).answered === 1
    })
    expect(await delivery(asked.id)).toMatchObject({ status: 'delivered' })
  })

  test('that a stopped worker left behind is taken over by the next one', async () => {
    const { path, ask, delivery } = await lane()
    const first = bench.worker()
    receiver.answer(path, () => undefined)
    const asked = await ask()
    await receiver.got(path, 1)
    await first.stop(10)
    bench.worker()
    expect(await delivery(asked.id)).toMatchObject({ status: 'delivered', attempts: [{ status: 204 }] })
    const [one, two] = await receiver.got(path, 2)
    expect(two!.body).toBe(one!.body)
  })

  test('is refused when too many are pending', async () => {
    const { ask } = await lane()
    for (let i = 0; i < 100; i++) await ask()
    await expect(ask()).rejects.toMatchObject({ code: 'conflict' })
  })
})

describe('sending an event again', () => {
  test('posts the same bytes with the same ID in a separate record, and leaves the first record unchanged', async () => {
    const { viewer, path, again, log, delivery } = await lane()
    bench.worker()
    receiver.answer(path, 413)
    const events = await bench.raise(viewer.id, 3)
    await until(async () => (await log()).every(({ status }) => status !== 'pending'))
    const first = (await log()).find(({ status }) => status === 'skipped')!
    await db.prisma.agent.update({ where: { id: viewer.id }, data: { name: 'Renamed' } })
    const second = await again(first.id)
    expect(second).toMatchObject({
      id: second.id,
      eventId: eventIdOf(events[0]!),
      status: 'pending',
      attempts: [],
    })
    expect(await delivery(second.id)).toMatchObject({ status: 'delivered', attempts: [{ status: 204 }] })
    const got = await receiver.got(path, 4)
    expect(got[3]!.headers['webhook-id']).toBe(got[0]!.headers['webhook-id'])
    expect(got[3]!.body).toBe(got[0]!.body)
    expect(got[3]!.verified.cursor).toBe('1')
    expect(await delivery(first.id)).toEqual(first)
    const third = await again(second.id) // from the record of an event that was sent again
    expect(third.eventId).toBe(first.eventId)
    await delivery(third.id)
    await bench.raise(viewer.id, 1)
    expect((await receiver.got(path, 6)).at(-1)!.verified.cursor).toBe('4')
    expect(receiver.mostAtOnce).toBe(1)
  })

  test('is a conflict while it is pending, for a test, and for an event that is no longer stored', async () => {
    const { viewer, path, id, ask, again, log, delivery } = await lane()
    const conflict = { code: 'conflict' }
    await bench.store(viewer.id, 2)
    await bench.store(viewer.id, 1, { channel: 'url', subject: null })
    const pending = await log()
    for (const one of pending) await expect(again(one.id)).rejects.toMatchObject(conflict)
    bench.worker()
    await positionIs(id, 3n)
    const [url, second, first] = await log()
    await expect(again(url!.id)).rejects.toMatchObject(conflict)
    const probe = await ask()
    await delivery(probe.id)
    await expect(again(probe.id)).rejects.toMatchObject(conflict)
    await db.prisma.event.delete({ where: { agentId_id: { agentId: viewer.id, id: 1 } } })
    await expect(again(first!.id)).rejects.toMatchObject(conflict)
    receiver.answer(path, () => undefined) // the first of two stays pending
    const both = await Promise.allSettled([again(second!.id), again(second!.id)])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('is not_found for deliveries and webhooks of others', async () => {
    const one = await lane()
    const other = await lane()
    await bench.store(one.viewer.id, 1)
    const [delivery] = await one.log()
    await expect(other.again(delivery!.id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(one.again(randomUUID())).rejects.toMatchObject({ code: 'not_found' })
    const { operations } = bench
    await expect(testWebhook(operations, other.viewer, one.viewer.id, one.id)).rejects.toMatchObject({
      code: 'not_found',
    })
    await expect(testWebhook(operations, other.viewer, other.viewer.id, one.id)).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})

test('the list of deliveries has events and requested deliveries together, newest first, in pages', async () => {
  const { viewer, id, ask, log } = await lane()
  const expected: string[] = []
  for (let i = 0; i < 4; i++) {
    const [event] = await bench.store(viewer.id, 1)
    expected.unshift(eventIdOf(event!))
    bench.clock.advance(10)
    expected.unshift((await ask()).eventId)
    bench.clock.advance(10)
  }
  expect((await log()).map(({ eventId }) => eventId)).toEqual(expected)
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page = await listDeliveries(db, viewer, { agentId: viewer.id, webhookId: id }, { limit: 3, cursor })
    seen.push(...page.items.map(({ eventId }) => eventId))
    cursor = page.nextCursor
  } while (cursor)
  expect(seen).toEqual(expected)
})
