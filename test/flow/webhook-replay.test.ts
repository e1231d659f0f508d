import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { rotateWebhook } from '../../src/webhook/operate.ts'
import { replayWebhook } from '../../src/webhook/replay.ts'
import { formatTopicKey, WEBHOOK_CHANGED } from '../../src/webhook/webhook.ts'
import { openTestDatabase } from '../support/database.ts'
import { createReceiver, type Received, type Receiver } from '../support/receiver.ts'
import { waitsForLock } from '../support/rows.ts'
import { until } from '../support/until.ts'
import { createWebhookBench, type WebhookBench } from '../support/webhooks.ts'

/** Changes to a lane while a worker holds it: a new secret, or an earlier position. */

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
const lane = async () => {
  const viewer = await bench.agent()
  const path = `/hook-${++paths}`
  const { webhook, secret } = await bench.webhook(viewer, receiver.url + path)
  receiver.expect(path, secret)
  const { id } = webhook
  const rotate = async () => (await rotateWebhook(bench.operations, viewer, viewer.id, id)).secret
  const replay = (after: number) =>
    replayWebhook(bench.operations, viewer, { agentId: viewer.id, webhookId: id }, { after })
  return { viewer, path, id, secret, rotate, replay }
}
const HOUR = 3_600_000
const positionIs = (id: string, position: bigint) =>
  until(async () => (await bench.state(id))?.position === position)
const cursors = (got: Received[]) => got.map(({ body }) => Number(JSON.parse(body).cursor))
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
/** Returns a notifier without notifications, as if those of another process were lost. */
const unnotified = () => ({ notifier: { ...bench.operations.notifier, subscribe: () => () => undefined } })

/** Tests which of the secrets verify a POST at the time when it was sent. */
const verifying = ({ headers, body }: Received, ...secrets: string[]): boolean[] => {
  vi.useFakeTimers({ toFake: ['Date'], now: Number(headers['webhook-timestamp']) * 1000 })
  try {
    return secrets.map((secret) => {
      try {
        return Boolean(new Webhook(secret).verify(body, headers))
      } catch {
        return false
      }
    })
  } finally {
    vi.useRealTimers()
  }
}
const signatures = ({ headers }: Received) => headers['webhook-signature']!.split(' ').length

describe('rotating the secret', () => {
  test('lets both secrets verify for 24 hours and then only the new one, even if the lane is held all the time', async () => {
    const { viewer, path, id, secret: old, rotate } = await lane()
    bench.worker({}, { idleMs: 60_000 })
    await bench.raise(viewer.id, 1)
    await positionIs(id, 1n)
    const secret = await rotate()
    expect(secret).toMatch(/^whsec_/)
    expect(secret).not.toBe(old)
    await bench.raise(viewer.id, 1)
    await receiver.got(path, 2)
    bench.clock.advance(24 * HOUR - 1)
    await bench.raise(viewer.id, 1)
    await receiver.got(path, 3)
    bench.clock.advance(1)
    await bench.raise(viewer.id, 1)
    const got = await receiver.got(path, 4)
    expect(got.map((one) => verifying(one, old, secret))).toEqual([
      [true, false],
      [true, true],
      [true, true],
      [false, true],
    ])
    expect(got.map(signatures)).toEqual([1, 2, 2, 1])
  })

  test('again within 24 hours drops the oldest secret', async () => {
    const { viewer, path, secret: first, rotate } = await lane()
    bench.worker()
    const second = await rotate()
    const third = await rotate()
    await bench.raise(viewer.id, 1)
    const [got] = await receiver.got(path, 1)
    expect(verifying(got!, first, second, third)).toEqual([false, true, true])
    const { secret } = await bench.webhook(viewer, receiver.url + path)
    expect(secret).toBe(third)
  })

  test('twice concurrently keeps both new secrets', async () => {
    const { viewer, path, secret: first, rotate } = await lane()
    const two = await Promise.all([rotate(), rotate()])
    bench.worker()
    await bench.raise(viewer.id, 1)
    const [got] = await receiver.got(path, 1)
    expect(verifying(got!, first, ...two)).toEqual([false, true, true])
  })

  test('during deliveries repeats none and keeps their order', async () => {
    const { viewer, path, id, secret: old, rotate } = await lane()
    bench.worker()
    bench.worker()
    await bench.raise(viewer.id, 200)
    await receiver.got(path, 50)
    const secret = await rotate()
    await bench.raise(viewer.id, 200)
    await positionIs(id, 400n)
    const got = await receiver.got(path, 400)
    expect(cursors(got)).toEqual(range(1, 400))
    expect(got.every((one) => verifying(one, old)[0])).toBe(true)
    expect(verifying(got.at(-1)!, secret)).toEqual([true])
    expect(receiver.mostAtOnce).toBe(1)
  })

  test('reaches a worker without a notification when it next renews its lease', async () => {
    const { viewer, path, id, rotate } = await lane()
    bench.worker(unnotified(), { leaseMs: 1500, attemptMs: 500 })
    await bench.raise(viewer.id, 1)
    await positionIs(id, 1n)
    await rotate()
    await until(async () => {
      await bench.raise(viewer.id, 1)
      bench.clock.advance(100)
      return receiver.received.some((one) => signatures(one) === 2)
    })
    expect(cursors(receiver.received)).toEqual(range(1, receiver.received.length))
    expect(path).toBe(receiver.received[0]!.path)
  })
})

describe('replaying', () => {
  test('sends all events after a position again in order, then continues, and extends their records', async () => {
    const { viewer, path, id, replay } = await lane()
    bench.worker()
    await bench.raise(viewer.id, 20)
    await positionIs(id, 20n)
    expect(await replay(15)).toEqual({ events: 5 })
    await receiver.got(path, 25)
    await positionIs(id, 20n)
    await bench.raise(viewer.id, 1)
    const got = await receiver.got(path, 26)
    expect(cursors(got)).toEqual([...range(1, 20), ...range(16, 21)])
    expect(got[20]!.headers['webhook-id']).toBe(got[15]!.headers['webhook-id'])
    expect(got[20]!.body).toBe(got[15]!.body)
    const job = await db.prisma.job.findFirstOrThrow({ where: { lane: id, seq: 16 } })
    expect(job).toMatchObject({ state: 'delivered', attempts: 2, log: [{ status: 204 }, { status: 204 }] })
  })

  test('reaches back to before the webhook was added, and skips texts that are not stored', async () => {
    const viewer = await bench.agent()
    await bench.store(viewer.id, 3)
    await bench.store(viewer.id, 1, { channel: 'url', subject: null })
    await bench.store(viewer.id, 1)
    const { webhook } = await bench.webhook(viewer, `${receiver.url}/late`)
    bench.worker()
    expect(
      await replayWebhook(
        bench.operations,
        viewer,
        { agentId: viewer.id, webhookId: webhook.id },
        { after: 1 },
      ),
    ).toEqual({
      events: 3,
    })
    expect(cursors(await receiver.got('/late', 3))).toEqual([2, 3, 5])
    await positionIs(webhook.id, 5n)
    expect(await db.prisma.job.count({ where: { lane: webhook.id, state: 'delivered' } })).toBe(3)
  })

  test('does nothing when there are no events after the position', async () => {
    const { viewer, path, id, replay } = await lane()
    bench.worker()
    await bench.raise(viewer.id, 2)
    await positionIs(id, 2n)
    for (const after of [2, 3, Number.MAX_SAFE_INTEGER]) expect(await replay(after)).toEqual({ events: 0 })
    await bench.raise(viewer.id, 1)
    expect(cursors(await receiver.got(path, 3))).toEqual([1, 2, 3])
  })

  test('during deliveries sends all events after the position again, one POST at a time', async () => {
    const { viewer, path, id, replay } = await lane()
    bench.worker()
    bench.worker()
    await bench.raise(viewer.id, 300)
    await receiver.got(path, 100)
    await until(async () => (await bench.state(id))!.position > 20n)
    const before = receiver.received.length
    await replay(10)
    await positionIs(id, 300n)
    const received = cursors(receiver.received)
    const from = received.indexOf(11, before)
    expect(from).toBeGreaterThan(0)
    expect(received.slice(from)).toEqual(range(11, 300))
    expect(received.slice(0, from)).toEqual(range(1, from))
    expect(receiver.mostAtOnce).toBe(1)
  })

  test('while progress is being written releases the lane and leases it again', async () => {
    const { viewer, path, id, replay } = await lane()
    bench.worker()
    await bench.raise(viewer.id, 2)
    await positionIs(id, 2n)
    await db.prisma.$transaction(async (tx) => {
      // Writing the progress of the third event waits for this transaction, as it would for a replay's.
      await tx.$queryRaw`select 1 from webhook where id = ${id}::uuid and agent_id = ${viewer.id}::uuid for no key update`
      await bench.raise(viewer.id, 1)
      await receiver.got(path, 3)
      await until(() => waitsForLock(db, 'last_delivered_at = coalesce'))
      await tx.webhook.updateMany({ where: { id }, data: { position: 1n, revision: { increment: 1 } } })
      bench.operations.notifier.publish(WEBHOOK_CHANGED, formatTopicKey({ id, agentId: viewer.id }))
    })
    await bench.raise(viewer.id, 1)
    await positionIs(id, 4n)
    await replay(0)
    await positionIs(id, 4n)
    expect(cursors(receiver.received).slice(-4)).toEqual([1, 2, 3, 4])
    expect(receiver.mostAtOnce).toBe(1)
  })

  test('waits for the POST in flight, whose response no longer counts', async () => {
    const { viewer, path, id, replay } = await lane()
    bench.worker()
    await bench.raise(viewer.id, 2)
    await positionIs(id, 2n)
    let release = () => undefined as unknown
    receiver.answer(path, (res) => {
      release = () => res.writeHead(503).end()
    })
    await bench.raise(viewer.id, 1)
    await receiver.got(path, 3)
    expect(await replay(0)).toEqual({ events: 2 })
    release()
    expect(cursors(await receiver.got(path, 6))).toEqual([1, 2, 3, 1, 2, 3])
    await positionIs(id, 3n)
    expect(await bench.state(id)).toMatchObject({ attempts: 0, error: null, retryAt: null })
    expect(receiver.mostAtOnce).toBe(1)
  })

  test('wakes a lane that is waiting for a retry', async () => {
    const { viewer, path, id, replay } = await lane()
    bench.worker()
    await bench.raise(viewer.id, 1)
    await positionIs(id, 1n)
    receiver.answer(path, 503)
    await bench.raise(viewer.id, 1)
    await until(async () => (await bench.state(id))?.retryAt)
    await replay(0)
    expect(cursors(await receiver.got(path, 4))).toEqual([1, 2, 1, 2])
  })

  test('gives events older than 3 days another 3 days', async () => {
    const { viewer, path, id, replay } = await lane()
    bench.worker()
    await bench.raise(viewer.id, 1)
    await positionIs(id, 1n)
    bench.clock.advance(100 * HOUR)
    receiver.always(path, 500)
    await replay(0)
    await receiver.got(path, 2)
    await until(async () => (await bench.state(id))?.attempts === 1)
    receiver.always(path, 204)
    bench.clock.advance(71 * HOUR)
    await receiver.got(path, 3)
    await positionIs(id, 1n)
    receiver.always(path, 500)
    await replay(0)
    await until(async () => (await bench.state(id))?.attempts === 1)
    bench.clock.advance(72 * HOUR)
    await positionIs(id, 1n)
    expect(await db.prisma.job.findFirst({ where: { lane: id } })).toMatchObject({
      state: 'expired',
      attempts: 4,
    })
  })

  test('reaches a worker without a notification, whether it is idle or delivering', async () => {
    const { viewer, path, id, replay } = await lane()
    bench.worker(unnotified(), { leaseMs: 1500, attemptMs: 500, idleMs: 60_000 })
    await bench.raise(viewer.id, 3)
    await positionIs(id, 3n)
    await replay(1)
    await until(() => {
      bench.clock.advance(100)
      return receiver.received.length === 5
    })
    await positionIs(id, 3n)
    await bench.raise(viewer.id, 200)
    await receiver.got(path, 50)
    await replay(0)
    await until(async () => {
      bench.clock.advance(100)
      return (
        (await bench.state(id))?.position === 203n && cursors(receiver.received.slice(5)).lastIndexOf(1) > 0
      )
    })
    const received = cursors(receiver.received)
    expect(received.slice(received.lastIndexOf(1))).toEqual(range(1, 203))
    expect(receiver.mostAtOnce).toBe(1)
  })
})
