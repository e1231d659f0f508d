import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { replayWebhook, rotateWebhook } from '../../src/webhook/operate.ts'
import { formatTopicKey, WEBHOOK_CHANGED } from '../../src/webhook/webhook.ts'
import { openTestDatabase } from '../support/database.ts'
import { createReceiver, type Received, type Receiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { createWebhookBench, type WebhookBench } from '../support/webhooks.ts'

/** What changes a lane while a worker holds it: another secret, an earlier position. */

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
  const replay = (after: number) => replayWebhook(bench.operations, viewer, viewer.id, id, { after })
  return { viewer, path, id, secret, rotate, replay }
}
const HOUR = 3_600_000
const positionIs = (id: string, position: bigint) =>
  until(async () => (await bench.state(id))?.position === position)
const cursors = (got: Received[]) => got.map(({ body }) => Number(JSON.parse(body).cursor))
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
/** Whether a statement with these words waits for another transaction's lock. */
const isBlocked = async (statement: string) => {
  const { rows } = await db.pool.query<{ query: string }>(
    "select query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  )
  return rows.some(({ query }) => query.includes(statement))
}
/** Hears no notification: what another process would have told. */
const deaf = () => ({ notifier: { ...bench.operations.notifier, subscribe: () => () => undefined } })

/** Which of the secrets verify a POST, at the time at which it was made. */
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
  test('both secrets verify for 24 hours, then only the new one, although the lane was held all the time', async () => {
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

  test('once more within 24 hours drops the oldest', async () => {
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

  test('two at once: one of them is the newest, the other the one before', async () => {
    const { viewer, path, secret: first, rotate } = await lane()
    const two = await Promise.all([rotate(), rotate()])
    bench.worker()
    await bench.raise(viewer.id, 1)
    const [got] = await receiver.got(path, 1)
    expect(verifying(got!, first, ...two)).toEqual([false, true, true])
  })

  test('amid deliveries repeats none and breaks no order', async () => {
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

  test('reaches a worker that no notification told, with the next renewal of its lease', async () => {
    const { viewer, path, id, rotate } = await lane()
    bench.worker(deaf(), { leaseMs: 1500, attemptMs: 500 })
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
  test('sends every event after a position again, in order, and then goes on; the records go on too', async () => {
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

  test('reaches back to before the webhook was added, and leaves out texts that are kept nowhere', async () => {
    const viewer = await bench.agent()
    await bench.store(viewer.id, 3)
    await bench.store(viewer.id, 1, { channel: 'url', subject: null })
    await bench.store(viewer.id, 1)
    const { webhook } = await bench.webhook(viewer, `${receiver.url}/late`)
    bench.worker()
    expect(await replayWebhook(bench.operations, viewer, viewer.id, webhook.id, { after: 1 })).toEqual({
      events: 3,
    })
    expect(cursors(await receiver.got('/late', 3))).toEqual([2, 3, 5])
    await positionIs(webhook.id, 5n)
    expect(await db.prisma.job.count({ where: { lane: webhook.id, state: 'delivered' } })).toBe(3)
  })

  test('of nothing changes nothing', async () => {
    const { viewer, path, id, replay } = await lane()
    bench.worker()
    await bench.raise(viewer.id, 2)
    await positionIs(id, 2n)
    for (const after of [2, 3, Number.MAX_SAFE_INTEGER]) expect(await replay(after)).toEqual({ events: 0 })
    await bench.raise(viewer.id, 1)
    expect(cursors(await receiver.got(path, 3))).toEqual([1, 2, 3])
  })

  test('amid deliveries: everything after the position comes again, one POST at a time', async () => {
    const { viewer, path, id, replay } = await lane()
    bench.worker()
    bench.worker()
    await bench.raise(viewer.id, 300)
    await receiver.got(path, 100)
    await until(async () => (await bench.state(id))!.position > 20n)
    const asked = receiver.received.length
    await replay(10)
    await positionIs(id, 300n)
    const heard = cursors(receiver.received)
    const from = heard.indexOf(11, asked)
    expect(from).toBeGreaterThan(0)
    expect(heard.slice(from)).toEqual(range(11, 300))
    expect(heard.slice(0, from)).toEqual(range(1, from))
    expect(receiver.mostAtOnce).toBe(1)
  })

  test('while progress is being written: the lane is given back and leased anew', async () => {
    const { viewer, path, id, replay } = await lane()
    bench.worker()
    await bench.raise(viewer.id, 2)
    await positionIs(id, 2n)
    await db.prisma.$transaction(async (tx) => {
      // The write of the third event's progress waits for this transaction, as it does for a replay's.
      await tx.$queryRaw`select 1 from webhook where id = ${id}::uuid for no key update`
      await bench.raise(viewer.id, 1)
      await receiver.got(path, 3)
      await until(() => isBlocked('last_delivered_at = coalesce'))
      await tx.webhook.update({ where: { id }, data: { position: 1n, revision: { increment: 1 } } })
      bench.operations.notifier.publish(WEBHOOK_CHANGED, formatTopicKey({ id, agentId: viewer.id }))
    })
    await bench.raise(viewer.id, 1)
    await positionIs(id, 4n)
    await replay(0)
    await positionIs(id, 4n)
    expect(cursors(receiver.received).slice(-4)).toEqual([1, 2, 3, 4])
    expect(receiver.mostAtOnce).toBe(1)
  })

  test('waits for the POST that is under way, whose answer then counts no more', async () => {
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

  test('wakes a lane that waits with a retry', async () => {
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

  test('of events older than 3 days gives them 3 days more', async () => {
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

  test('reaches a worker that no notification told: idle, and amid deliveries', async () => {
    const { viewer, path, id, replay } = await lane()
    bench.worker(deaf(), { leaseMs: 1500, attemptMs: 500, idleMs: 60_000 })
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
    const heard = cursors(receiver.received)
    expect(heard.slice(heard.lastIndexOf(1))).toEqual(range(1, 203))
    expect(receiver.mostAtOnce).toBe(1)
  })
})
