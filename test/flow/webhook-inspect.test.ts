import { afterEach, beforeEach, expect, test } from 'vitest'
import { currentListeners } from '../../src/agent/listening/connection.ts'
import { listDeliveries, readDelivery } from '../../src/webhook/deliveries.ts'
import { testWebhook } from '../../src/webhook/operate.ts'
import { resendGivenUp } from '../../src/webhook/replay.ts'
import { updateWebhook } from '../../src/webhook/update.ts'
import { openTestDatabase } from '../support/database.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { createWebhookBench, type WebhookBench } from '../support/webhooks.ts'

/** What is shown of deliveries, and pausing. */

const db = await openTestDatabase(20)
let bench: WebhookBench
let receiver: Receiver
beforeEach(async () => {
  bench = createWebhookBench(db)
  receiver = await createReceiver()
})
afterEach(async () => {
  await bench.close()
  await receiver.close()
})

const HOUR = 3_600_000
let paths = 0
const lane = async () => {
  const viewer = await bench.agent()
  const path = `/inspect-${++paths}`
  const { webhook, secret } = await bench.webhook(viewer, receiver.url + path)
  receiver.expect(path, secret)
  const ref = { agentId: viewer.id, webhookId: webhook.id }
  return {
    viewer,
    path,
    ref,
    id: webhook.id,
    update: (changes: { name?: string | null; paused?: boolean }) =>
      updateWebhook(bench.operations, viewer, ref, changes),
    list: (request: Partial<Parameters<typeof listDeliveries>[3]> = {}) =>
      listDeliveries(bench.operations, viewer, ref, { limit: 20, ...request }),
    read: async (deliveryId: string) => readDelivery(bench.operations, viewer, { ...ref, deliveryId }),
  }
}
const positionIs = (id: string, position: bigint) =>
  until(async () => (await bench.state(id))?.position === position)
const cursors = async (path: string, count: number) =>
  (await receiver.got(path, count)).map(({ body }) => Number(JSON.parse(body).cursor))

test('a delivery shows the request that was sent and what was answered', async () => {
  const { viewer, path, id, list, read } = await lane()
  const body = `${'é'.repeat(511)}x…\0 and more`
  receiver.answer(path, { status: 201, headers: { 'x-note': 'a\u00e9', 'set-cookie': 'session=1' }, body })
  bench.worker()
  await bench.raise(viewer.id, 1)
  await positionIs(id, 1n)
  const [delivery] = (await list()).items
  const shown = await read(delivery!.id)
  const [sent] = await receiver.got(path, 1)
  expect(shown.request).toEqual({
    url: receiver.url + path,
    headers: [
      ['content-type', sent!.headers['content-type']],
      ['user-agent', sent!.headers['user-agent']],
      ['webhook-id', sent!.headers['webhook-id']],
    ],
    body: sent!.body,
  })
  const [attempt] = shown.delivery.attempts
  // The first KiB ends in the middle of a character, which is left out.
  expect(attempt).toMatchObject({ status: 201, answer: { body: `${'é'.repeat(511)}x` } })
  const names = attempt!.answer!.headers.map(([name]) => name)
  expect(names).toContain('x-note')
  expect(names).not.toContain('set-cookie')
  expect(JSON.stringify(shown)).not.toContain('whsec_')
})

test('nothing is stored of the answer to a message that is not stored', async () => {
  const { viewer, path, id, list, read } = await lane()
  receiver.answer(path, { status: 200, body: 'you said: the secret plan' })
  bench.worker()
  await bench.raise(viewer.id, 1, { channel: 'url' })
  await positionIs(id, 1n)
  const [delivery] = (await list()).items
  expect(delivery!.attempts).toEqual([{ at: expect.any(String), status: 200, ms: expect.any(Number) }])
  expect((await read(delivery!.id)).request.body).toBeNull()
})

test('deliveries can be listed by status', async () => {
  const { viewer, path, id, list } = await lane()
  receiver.answer(path, 413, 413)
  bench.worker()
  await bench.raise(viewer.id, 2)
  await positionIs(id, 2n)
  await bench.raise(viewer.id, 3)
  await positionIs(id, 5n)
  const ends = async (status: 'delivered' | 'skipped' | 'pending', limit = 20, cursor?: string) => {
    const page = await list({ status, limit, cursor })
    return { ids: page.items.map(({ eventId }) => Number(eventId.split('_').at(-1))), next: page.nextCursor }
  }
  expect(await ends('skipped')).toEqual({ ids: [2, 1], next: null })
  expect(await ends('pending')).toEqual({ ids: [], next: null })
  const first = await ends('delivered', 2)
  expect(first.ids).toEqual([5, 4])
  expect(await ends('delivered', 2, first.next!)).toEqual({ ids: [3], next: null })
})

test('a paused webhook gets nothing, listens to nothing, and continues in order when it is resumed', async () => {
  const { viewer, path, id, ref, update } = await lane()
  bench.worker()
  bench.worker()
  await bench.raise(viewer.id, 1)
  await positionIs(id, 1n)
  expect(await update({ paused: true, name: 'CRM' })).toMatchObject({
    name: 'CRM',
    pausedAt: expect.any(Date),
  })
  await until(async () => (await bench.state(id))?.leaseOwner === null)
  await bench.raise(viewer.id, 2)
  expect(await currentListeners(bench.operations, viewer.id)).toEqual([])
  await expect(testWebhook(bench.operations, viewer, ref.agentId, ref.webhookId)).rejects.toMatchObject({
    code: 'conflict',
  })
  // Another webhook of the agent gets what the paused one does not, so the workers have seen the events.
  const other = await bench.webhook(viewer, `${receiver.url}/other-${id}`)
  receiver.expect(`/other-${id}`, other.secret)
  await bench.raise(viewer.id, 1)
  await receiver.got(`/other-${id}`, 1)
  expect((await bench.state(id))?.position).toBe(1n)
  bench.clock.advance(100 * HOUR)
  expect(await update({ paused: false })).toMatchObject({ name: 'CRM', pausedAt: null })
  expect(await cursors(path, 4)).toEqual([1, 2, 3, 4])
  expect(await update({ name: null })).toMatchObject({ name: null })
})

test('events that were given up are resent from a time on, and only these', async () => {
  const { viewer, path, id, ref, list } = await lane()
  bench.worker()
  await bench.raise(viewer.id, 8)
  await positionIs(id, 8n)
  receiver.answer(path, { status: 500, body: 'broken' })
  await bench.raise(viewer.id, 2)
  await until(async () => (await bench.state(id))?.attempts === 1)
  await bench.close()
  bench.clock.advance(80 * HOUR)
  const since = bench.clock.now()
  bench.worker()
  await bench.raise(viewer.id, 1)
  await positionIs(id, 11n)
  const expired = await list({ status: 'expired' })
  expect(expired.items.map(({ attempts }) => attempts.at(-1)?.answer?.body)).toEqual([undefined, 'broken'])
  const again = (from: Date) => resendGivenUp(bench.operations, viewer, ref, { since: from })
  expect(await again(since)).toEqual({ events: 0 })
  expect(await again(new Date(0))).toEqual({ events: 2 })
  expect(await cursors(path, 12)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 9, 10])
  await positionIs(id, 11n)
  expect((await list({ status: 'expired' })).items).toEqual([])
})
