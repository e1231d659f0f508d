import { afterEach, beforeEach, expect, test } from 'vitest'
import { listDeliveries, withRequest } from '../../src/webhook/deliveries.ts'
import { updateWebhook, type WebhookChanges } from '../../src/webhook/update.ts'
import { addWebhook, listWebhooks } from '../../src/webhook/webhook.ts'
import { openTestDatabase } from '../support/database.ts'
import { createTestLog } from '../support/log.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { createWebhookBench, type WebhookBench } from '../support/webhooks.ts'

/** Headers and templates that change, or cannot be read, while workers deliver. */

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

let paths = 0
const lane = async (format: { headers?: Record<string, string>; body?: object }) => {
  const viewer = await bench.agent()
  const path = `/format-${++paths}`
  const given = { url: receiver.url + path, ...format }
  const { webhook, secret } = await addWebhook(bench.operations, viewer, viewer.id, given)
  receiver.expect(path, secret)
  const ref = { agentId: viewer.id, webhookId: webhook.id }
  return {
    ...{ viewer, path, ref, id: webhook.id },
    change: (changes: WebhookChanges) => updateWebhook(bench.operations, viewer, ref, changes),
    list: () => listDeliveries(bench.operations, viewer, ref, { limit: 100 }),
  }
}
const positionIs = (id: string, position: bigint) =>
  until(async () => (await bench.state(id))?.position === position)

test('a change during deliveries repeats none and keeps their order', async () => {
  const { viewer, path, id, change } = await lane({
    headers: { 'x-key': 'the old value' },
    body: { old: '{{cursor}}' },
  })
  bench.worker()
  bench.worker()
  await bench.raise(viewer.id, 150)
  await receiver.got(path, 30)
  await change({ headers: { 'x-key': 'the new value' }, body: { new: '{{cursor}}' } })
  await bench.raise(viewer.id, 150)
  await positionIs(id, 300n)
  const got = (await receiver.got(path, 300)).map(({ verified, headers }) => ({
    ...verified,
    key: headers['x-key'],
  }))
  const firstNew = got.findIndex((one) => 'new' in one)
  expect(firstNew).toBeGreaterThan(0)
  expect(got).toEqual(
    Array.from({ length: 300 }, (_, n) =>
      n < firstNew
        ? { old: String(n + 1), key: 'the old value' }
        : { new: String(n + 1), key: 'the new value' },
    ),
  )
  expect(receiver.mostAtOnce).toBe(1)
})

test('a change reaches a worker without a notification when it next renews its lease', async () => {
  const { viewer, id, change } = await lane({})
  const notifier = { ...bench.operations.notifier, subscribe: () => () => undefined }
  bench.worker({ notifier }, { leaseMs: 1500, attemptMs: 500 })
  await bench.raise(viewer.id, 1)
  await positionIs(id, 1n)
  await change({ body: { only: '{{cursor}}' } })
  await until(async () => {
    await bench.raise(viewer.id, 1)
    return receiver.received.some(({ verified }) => 'only' in verified)
  })
  const seen = receiver.received.map(({ verified }) => Number(verified.only ?? verified.cursor))
  expect(seen).toEqual(Array.from(seen, (_, n) => n + 1))
})

test('nothing is sent without headers that cannot be read, until they are set again', async () => {
  const { viewer, path, id, ref, change, list } = await lane({ headers: { 'x-key': 'a secret value' } })
  await db.prisma.webhook.updateMany({ where: { id }, data: { headers: new Uint8Array(60).fill(1) } })
  const log = createTestLog()
  bench.worker({ log })
  await bench.raise(viewer.id, 1)
  const failed = await until(async () => {
    const { items } = await list()
    return items[0]!.attempts.length > 0 && items[0]!
  })
  expect(failed.attempts).toMatchObject([{ error: 'internal: the delivery could not be prepared' }])
  expect(log.text()).toContain('could not read the headers or the template of a webhook')
  expect(receiver.received).toEqual([])
  expect((await withRequest(bench.operations, failed)).request.headers.map(([name]) => name)).not.toContain(
    'x-key',
  )
  expect(await listWebhooks(bench.operations, viewer, ref.agentId)).toMatchObject([{ id, headers: {} }])
  await change({ headers: { 'x-key': 'another value' } })
  const [sent] = await receiver.got(path, 1)
  expect(sent!.headers['x-key']).toBe('another value')
})

test('a paused webhook stays paused when its format changes', async () => {
  const { viewer, path, change } = await lane({})
  await change({ paused: true })
  await change({ body: { n: '{{cursor}}' } })
  bench.worker()
  await bench.raise(viewer.id, 1)
  const other = await lane({})
  await bench.raise(other.viewer.id, 1)
  await receiver.got(other.path, 1)
  expect(receiver.received).toHaveLength(1)
  await change({ paused: false })
  expect((await receiver.got(path, 1))[0]!.verified).toEqual({ n: '1' })
})
