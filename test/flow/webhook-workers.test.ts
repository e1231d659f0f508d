import { randomBytes, randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { removeWebhook } from '../../src/webhook/webhook.ts'
import { OwnedParts } from '../../src/worker/owned-parts.ts'
import { TOKEN_REVOKED } from '../../src/workspace/token/token.ts'
import { openTestDatabase } from '../support/database.ts'
import { gatePool } from '../support/gate.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { createWebhookBench, type WebhookBench } from '../support/webhooks.ts'

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
const lane = async (workspaceId?: string) => {
  const viewer = await bench.agent(workspaceId)
  const path = `/hook-${++paths}`
  const { webhook, secret } = await bench.webhook(viewer, receiver.url + path)
  receiver.expect(path, secret)
  return { viewer, path, id: webhook.id }
}
const lanes = (count: number, workspaceId?: string) =>
  Promise.all(Array.from({ length: count }, () => lane(workspaceId)))
const cursors = (got: { verified: { cursor: string } | null }[]) =>
  got.map(({ verified }) => Number(verified?.cursor))
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)
const positionIs = (id: string, position: bigint) =>
  until(async () => (await bench.state(id))?.position === position)
/** Advances the fake clock from poll to poll until `ask` returns a result. */
const polling = <T>(ask: () => T | Promise<T>) =>
  until(() => {
    bench.clock.advance(100)
    return ask()
  })

/** Returns a pool's `query` that never responds to one named statement. */
const answeringAllBut =
  (pool: typeof db.pool, name: string) =>
  (...args: Parameters<typeof pool.query>) =>
    (args[0] as { name?: string }).name === name ? new Promise(() => undefined) : pool.query(...args)

test('two workers share the lanes, with one POST at a time per webhook, in order and without repetition', async () => {
  const targets = await lanes(20)
  bench.worker()
  bench.worker()
  for (let round = 0; round < 10; round++)
    await Promise.all(targets.map(({ viewer }) => bench.raise(viewer.id, 10)))
  for (const { path, id } of targets) {
    expect(cursors(await receiver.got(path, 100))).toEqual(upTo(100))
    await positionIs(id, 100n)
  }
  expect(receiver.received).toHaveLength(2000)
  expect(receiver.mostAtOnce).toBe(1)
})

test('lanes of a worker that disappeared move on when their leases end, and its later writes do not count', async () => {
  const { viewer, path, id } = await lane()
  const gate = gatePool(db.pool)
  receiver.answer(path, () => undefined)
  bench.worker({ pool: gate.pool }, { leaseMs: 1500, attemptMs: 500 })
  await bench.raise(viewer.id, 2)
  await receiver.got(path, 1)
  gate.set('frozen')
  const { leaseOwner } = (await bench.state(id))!
  bench.worker({}, { leaseMs: 1500, attemptMs: 500 })
  expect(cursors((await polling(() => receiver.received.length === 3 && receiver.received)) ?? [])).toEqual([
    1, 1, 2,
  ])
  expect(receiver.mostAtOnce).toBe(1)
  await positionIs(id, 2n)
  expect((await bench.state(id))?.leaseOwner).not.toBe(leaseOwner)
  gate.set('open') // now the first worker's failure of event 1 reaches the database
  await bench.raise(viewer.id, 1)
  await positionIs(id, 3n)
  expect(cursors(await receiver.got(path, 4))).toEqual([1, 1, 2, 3])
  expect(await bench.state(id)).toMatchObject({ attempts: 0, error: null })
})

/** Holds the lock of a process that is connected. Returns its key, and the function with which it ends. */
const connectedProcess = async () => {
  const session = randomBytes(8).readBigInt64BE().toString()
  const client = new pg.Client(db.url)
  client.on('error', () => undefined)
  await client.connect()
  await client.query('select pg_advisory_lock_shared($1)', [session])
  return { session, end: () => client.end() }
}

test('lanes of a worker whose process ended move on before their leases end; those of a connected one stay', async () => {
  const [killed, hanging] = [await connectedProcess(), await connectedProcess()]
  const held = []
  for (const { session } of [killed, hanging]) {
    const { viewer, path, id } = await lane()
    const gate = gatePool(db.pool)
    receiver.answer(path, () => undefined)
    const worker = bench.worker({ pool: gate.pool, session }, { leaseMs: 90_000, attemptMs: 60_000 })
    await until(async () => (await db.prisma.worker.count({ where: { session: BigInt(session) } })) === 1)
    await bench.raise(viewer.id, 1)
    // The second lane may be of a part that the first worker owns, which takes nothing any more: then it is late.
    await polling(() => receiver.received.some((one) => one.path === path))
    gate.set('frozen')
    held.push({ id, path, owner: (await bench.state(id))!.leaseOwner, worker })
  }
  const [lost, kept] = held as [(typeof held)[0], (typeof held)[0]]
  await killed.end()
  const { session, end } = await connectedProcess()
  bench.worker({ session })
  await polling(() => receiver.received.filter((one) => one.path === lost.path).length === 2)
  await positionIs(lost.id, 1n)
  expect((await bench.state(kept.id))!.leaseOwner).toBe(kept.owner)
  expect(await db.prisma.worker.count({ where: { id: lost.owner! } })).toBe(0)
  expect(await db.prisma.worker.count({ where: { id: kept.owner! } })).toBe(1)
  await bench.close()
  await Promise.all([hanging.end(), end()])
})

/** Starts a worker of a process of its own, and keeps the agents for whom it asks the database. */
const startOwner = async () => {
  const { session, end } = await connectedProcess()
  const gate = gatePool(db.pool)
  const asked: string[] = []
  const pool: typeof db.pool = new Proxy(gate.pool, {
    get: (target, key) => {
      if (key !== 'query') return Reflect.get(target, key)
      return (...args: Parameters<typeof target.query>) => {
        const { name, values } = args[0] as unknown as { name?: string; values?: unknown[] }
        if (name?.startsWith('lanes of agents')) asked.push(...(values![3] as string[]))
        return target.query(...args)
      }
    },
  })
  const parts = new OwnedParts()
  const worker = bench.worker({ pool, session, parts, clock: systemClock })
  return { worker, parts, gate, asked, end }
}
type Owner = Awaited<ReturnType<typeof startOwner>>
/** Waits until each part has one owner among these workers. */
const shared = (owners: Owner[]) =>
  until(() =>
    owners[0]!.parts.bits.every(
      (_, at) => owners.reduce((sum, { parts }) => sum + parts.bits[at]!, 0) === 255,
    ),
  )

test('each worker works for its own parts, also when one comes, stops or is killed: in order, and once', async () => {
  const targets = await lanes(12)
  let events = 0
  const each = (add: 'raise' | 'store') => {
    events += 3
    const about = { createdAt: new Date() }
    return Promise.all(targets.map(({ viewer }) => bench[add](viewer.id, 3, about)))
  }
  const raiseAll = () => each('raise')
  const allDelivered = async () => {
    for (const { id } of targets) await positionIs(id, BigInt(events))
  }
  const expectOwn = (owners: Owner[]) => {
    for (const { asked, parts } of owners) expect(asked.filter((id) => !parts.has(id))).toEqual([])
  }
  const [first, second] = [await startOwner(), await startOwner()]
  await shared([first, second])
  await raiseAll()
  await allDelivered()
  expectOwn([first, second])
  expect(first.asked.length * second.asked.length).toBeGreaterThan(0)

  const third = await startOwner()
  await raiseAll()
  await shared([first, second, third])
  await allDelivered()
  for (const { asked } of [first, second, third]) asked.length = 0
  await raiseAll()
  await allDelivered()
  expectOwn([first, second, third])

  const stopped = second.worker.stop(1_000)
  await shared([first, third]) // before it has stopped
  await raiseAll()
  await stopped
  await allDelivered()

  third.gate.set('frozen')
  await third.end()
  await shared([first])
  await each('store') // a killed worker hears nothing
  await allDelivered()
  expect(await db.prisma.worker.count()).toBe(1)
  for (const { path } of targets) expect(cursors(await receiver.got(path, events))).toEqual(upTo(events))
  expect(receiver.received).toHaveLength(events * targets.length)
  expect(receiver.mostAtOnce).toBe(1)
  await bench.close()
  await Promise.all([first.end(), second.end()])
})

test('what a worker that hangs does not take, another one takes, and it goes on with what comes next', async () => {
  const [hanging, sound] = [await startOwner(), await startOwner()]
  await shared([hanging, sound])
  const all = await lanes(12)
  const target = all.find(({ viewer }) => hanging.parts.has(viewer.id))!
  hanging.gate.set('frozen')
  const raise = () => bench.raise(target.viewer.id, 2, { createdAt: new Date() })
  await raise()
  await positionIs(target.id, 2n)
  expect(hanging.parts.has(target.viewer.id)).toBe(true)
  hanging.gate.set('open')
  await raise()
  await positionIs(target.id, 4n)
  expect(cursors(await receiver.got(target.path, 4))).toEqual([1, 2, 3, 4])
  expect(receiver.mostAtOnce).toBe(1)
  await bench.close()
  await Promise.all([hanging.end(), sound.end()])
})

test('a worker that leases a lane again continues from the stored position, not from what it had read', async () => {
  const { viewer, id } = await lane()
  const pool: typeof db.pool = new Proxy(db.pool, {
    get: (target, key) =>
      key === 'query' ? answeringAllBut(target, 'lanes renew') : Reflect.get(target, key),
  })
  bench.worker({ pool }, { leaseMs: 1500, attemptMs: 500 })
  await bench.raise(viewer.id, 1)
  await positionIs(id, 1n)
  await until(
    async () => (await db.prisma.webhook.count({ where: { id, leaseUntil: { lt: new Date() } } })) === 1,
  )
  await bench.raise(viewer.id, 1) // in the worker's memory, although its lease has ended
  const other = bench.worker()
  await positionIs(id, 2n)
  await other.stop(1000)
  await bench.store(viewer.id, 1)
  await polling(() => receiver.received.length === 3)
  await positionIs(id, 3n)
  expect(cursors(receiver.received)).toEqual([1, 2, 3])
})

test('a worker whose lease could not be renewed starts no POST', async () => {
  const { viewer, path, id } = await lane()
  const gate = gatePool(db.pool)
  bench.worker({ pool: gate.pool }, { leaseMs: 1500, attemptMs: 500 })
  await bench.raise(viewer.id, 1)
  await positionIs(id, 1n)
  gate.set('frozen')
  const other = bench.worker({}, { leaseMs: 1500, attemptMs: 500 })
  await bench.store(viewer.id, 1)
  await polling(() => receiver.received.length === 2)
  await other.stop(1000)
  const [event] = await bench.store(viewer.id, 1)
  bench.tell(viewer.id, { ...event!, id: 2 }) // the frozen worker takes this for its lane's next event
  bench.worker()
  await receiver.got(path, 3)
  expect(cursors(receiver.received)).toEqual([1, 2, 3])
  gate.set('open')
})

test('a worker that stops releases its lanes immediately', async () => {
  const { viewer, path, id } = await lane()
  const first = bench.worker({ clock: systemClock }, { pollMs: 60_000, leaseMs: 60_000 })
  let release = () => undefined as unknown
  receiver.answer(path, (res) => {
    release = () => res.writeHead(204).end()
  })
  await bench.raise(viewer.id, 200)
  await receiver.got(path, 1)
  bench.worker({ clock: systemClock }, { pollMs: 60_000, leaseMs: 60_000 })
  const stopped = first.stop(5000)
  release()
  await stopped
  expect(cursors(await receiver.got(path, 200))).toEqual(upTo(200))
  await positionIs(id, 200n)
  expect(receiver.received).toHaveLength(200)
})

test('a worker that stops releases each lane when its POST ends, even if another one hangs', async () => {
  const [hanging, sound, idle] = [await lane(), await lane(), await lane()]
  const first = bench.worker({ clock: systemClock }, { pollMs: 60_000, leaseMs: 60_000, attemptMs: 30_000 })
  await bench.raise(idle.viewer.id, 1)
  await positionIs(idle.id, 1n)
  const held: (() => unknown)[] = []
  for (const { path } of [hanging, sound])
    receiver.answer(path, (res) => void held.push(() => res.writeHead(204).end()))
  await bench.raise(hanging.viewer.id, 1)
  await receiver.got(hanging.path, 1)
  await bench.raise(sound.viewer.id, 10)
  await receiver.got(sound.path, 1)
  bench.worker({ clock: systemClock }, { pollMs: 60_000, leaseMs: 60_000 })
  const stopped = first.stop(20_000)
  held[1]!()
  expect(cursors(await receiver.got(sound.path, 10))).toEqual(upTo(10))
  await bench.raise(idle.viewer.id, 1)
  expect(cursors(await receiver.got(idle.path, 2))).toEqual([1, 2])
  held[0]!() // not answered until now
  await stopped
  await positionIs(hanging.id, 1n)
  expect(receiver.received).toHaveLength(13)
})

test('a worker that must stop before a response arrives leaves the event to the next one without a failure', async () => {
  const { viewer, path, id } = await lane()
  const first = bench.worker()
  receiver.answer(path, () => undefined)
  await bench.raise(viewer.id, 1)
  await receiver.got(path, 1)
  await first.stop(10)
  expect(await bench.state(id)).toMatchObject({ attempts: 0, error: null, position: 0n, leaseOwner: null })
  bench.worker()
  expect(cursors(await receiver.got(path, 2))).toEqual([1, 1])
})

test('when every notification is lost, the poll finds the events', async () => {
  const { viewer, path } = await lane()
  bench.worker()
  await bench.store(viewer.id, 3)
  await polling(() => receiver.received.length === 3)
  expect(cursors(await receiver.got(path, 3))).toEqual([1, 2, 3])
})

test('a notification without its event makes the worker read the log', async () => {
  const { viewer, path } = await lane()
  bench.worker()
  for (let i = 0; i < 5; i++) {
    await bench.store(viewer.id, 2)
    bench.tell(viewer.id, null)
  }
  expect(cursors(await receiver.got(path, 10))).toEqual(upTo(10))
})

test('notifications out of order, repeated or with gaps change nothing', async () => {
  const { viewer, path, id } = await lane()
  bench.worker()
  const events = await bench.store(viewer.id, 40)
  for (const event of [...events].reverse()) bench.tell(viewer.id, event)
  for (const event of events.filter((_, i) => i % 3 === 0)) bench.tell(viewer.id, event)
  expect(cursors(await receiver.got(path, 40))).toEqual(upTo(40))
  await positionIs(id, 40n)
  await bench.raise(viewer.id, 1)
  expect(cursors(await receiver.got(path, 41))).toEqual(upTo(41))
})

test('nothing is lost while the database is unavailable, and deliveries are recorded once it is available again', async () => {
  const { viewer, path, id } = await lane()
  const gate = gatePool(db.pool)
  bench.worker({ pool: gate.pool })
  await bench.raise(viewer.id, 1)
  await positionIs(id, 1n)
  let release = () => undefined as unknown
  receiver.answer(path, (res) => {
    release = () => res.writeHead(204).end()
  })
  await bench.raise(viewer.id, 1)
  await receiver.got(path, 2)
  gate.set('away')
  release()
  await bench.raise(viewer.id, 50)
  await receiver.got(path, 10)
  gate.set('open')
  expect(cursors(await receiver.got(path, 52))).toEqual(upTo(52))
  await positionIs(id, 52n)
  expect(await db.prisma.job.count({ where: { lane: id, state: 'delivered', attempts: 1 } })).toBe(52)
})

test('idle lanes are released, and leased again for the next event, which goes over the same connection', async () => {
  const { viewer, path, id } = await lane()
  bench.worker({}, { idleMs: 50 })
  await bench.raise(viewer.id, 1)
  await receiver.got(path, 1)
  await until(async () => (await bench.state(id))?.leaseOwner === null)
  await bench.raise(viewer.id, 1)
  expect(cursors(await receiver.got(path, 2))).toEqual([1, 2])
  expect(receiver.connections).toBe(1)
})

test('an idle lane is released although its lease is renewed more often than that', async () => {
  const { viewer, path, id } = await lane()
  bench.worker({}, { leaseMs: 1_500, attemptMs: 100, idleMs: 1_500 })
  await bench.raise(viewer.id, 1)
  await receiver.got(path, 1)
  await until(async () => (await bench.state(id))?.leaseOwner === null)
})

test('an event that the receiver refused is posted again over another connection', async () => {
  const { viewer, path } = await lane()
  receiver.answer(path, 500)
  bench.worker()
  await bench.raise(viewer.id, 1)
  await receiver.got(path, 1)
  await polling(() => receiver.received.length === 2)
  expect(receiver.connections).toBe(2)
})

test('a webhook removed while its lane is held receives nothing more, not even pending events', async () => {
  const { viewer, path, id } = await lane()
  bench.worker()
  receiver.answer(path, 204, () => undefined)
  await bench.raise(viewer.id, 1)
  await positionIs(id, 1n)
  await bench.raise(viewer.id, 2)
  await receiver.got(path, 2)
  await removeWebhook(bench.operations, viewer, viewer.id, id)
  const { webhook } = await bench.webhook(viewer, `${receiver.url}/other`)
  await bench.raise(viewer.id, 20)
  await positionIs(webhook.id, 23n)
  expect(cursors(receiver.received.filter((one) => one.path === path))).toEqual([1, 2])
  expect(await db.prisma.job.count({ where: { lane: id } })).toBe(0)
})

test('a webhook removed without a notification is released when its progress cannot be written', async () => {
  const { viewer, path, id } = await lane()
  bench.worker()
  await bench.raise(viewer.id, 1)
  await positionIs(id, 1n)
  await db.prisma.webhook.deleteMany({ where: { id } })
  await bench.raise(viewer.id, 1)
  await receiver.got(path, 2)
  const { webhook } = await bench.webhook(viewer, `${receiver.url}/other`)
  await bench.raise(viewer.id, 1)
  await positionIs(webhook.id, 3n)
  await bench.raise(viewer.id, 1)
  await positionIs(webhook.id, 4n)
  expect(await db.prisma.job.count({ where: { lane: id, state: 'delivered' } })).toBe(1)
})

test('a webhook added while another one of the agent is busy receives the next event', async () => {
  const { viewer, path, id } = await lane()
  bench.worker()
  await bench.raise(viewer.id, 1)
  await positionIs(id, 1n)
  const { webhook } = await bench.webhook(viewer, `${receiver.url}/other`)
  await bench.raise(viewer.id, 1)
  await receiver.got(path, 2)
  await positionIs(webhook.id, 2n)
})

test('with more lanes than slots, every workspace gets its turn', async () => {
  const crowd = await lanes(30)
  const { workspaceId } = crowd[0]!.viewer
  const many = await lanes(30, workspaceId)
  const lone = await lane()
  for (const { viewer } of many) await bench.store(viewer.id, 20)
  await bench.store(lone.viewer.id, 20)
  bench.worker({}, { slots: 2 })
  await receiver.got(lone.path, 20)
  expect(receiver.received.length).toBeLessThan(300)
  await until(() => receiver.received.length === 620)
})

test('webhooks that do not respond leave slots to the others', async () => {
  const hanging = await lanes(40)
  for (const { path } of hanging) receiver.always(path, () => undefined)
  const healthy = await lanes(10)
  bench.worker({}, { slots: 8, attemptMs: 200 })
  for (const { viewer } of [...hanging, ...healthy]) await bench.store(viewer.id, 5)
  await polling(() =>
    healthy.every(({ path }) => receiver.received.filter((one) => one.path === path).length === 5),
  )
  expect(receiver.mostAtOnce).toBe(1)
})

test.each(['webhook', 'token'] as const)(
  'nothing is sent when the %s is deleted between the lease of a lane and the first POST',
  async (deleted) => {
    const [first, next] = await lanes(2)
    const tokenId = randomUUID()
    if (deleted === 'token') {
      await db.prisma.token.create({
        data: {
          id: tokenId,
          workspaceId: first!.viewer.workspaceId,
          agentId: first!.viewer.id,
          hash: randomBytes(32),
        },
      })
      await db.prisma.webhook.updateMany({ where: { id: first!.id }, data: { tokenId } })
    }
    const steps = new EventEmitter()
    const [leased, proceed] = [once(steps, 'leased'), once(steps, 'proceed')]
    const open: typeof bench.keyring.open = async (...sealed) => {
      steps.emit('leased')
      await proceed
      return bench.keyring.open(...sealed)
    }
    bench.worker({ keyring: { ...bench.keyring, open } })
    await bench.raise(first!.viewer.id, 1)
    await leased
    if (deleted === 'webhook')
      await removeWebhook(bench.operations, first!.viewer, first!.viewer.id, first!.id)
    else bench.operations.notifier.publish(TOKEN_REVOKED, tokenId)
    steps.emit('proceed')
    await bench.raise(next!.viewer.id, 1)
    await receiver.got(next!.path, 1)
    expect(receiver.received.map(({ path }) => path)).toEqual([next!.path])
  },
)
