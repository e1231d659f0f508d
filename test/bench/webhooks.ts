import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import PgBoss from 'pg-boss'
import { v7 as newId } from 'uuid'
import { eventIdOf, type LoggedEvent } from '../../src/event/event.ts'
import { pairedRounds } from './paired.ts'
import { type BenchRow, median } from './row.ts'
import {
  createWorker,
  NEVER,
  openWorld,
  postAll,
  store,
  type Target,
  untilSettled,
  type World,
} from './webhook-world.ts'

const ROUNDS = 5
const PEER_ROUNDS = 3
/** Number of due jobs of 200 endpoints; the goal is defined for 100,000. */
const BACKLOG = Number(process.env.BENCH_BACKLOG ?? 20_000)
const ENDPOINTS = 200

/** Measures POSTs per second, from before the insert to the arrival of the last. */
const timed = async (world: World, count: number, work: () => Promise<void>): Promise<number> => {
  const all = world.received(count)
  const from = performance.now()
  await work()
  await all
  return (count * 1000) / (performance.now() - from)
}

/**
 * `each` events for each of `count` endpoints, against the durable limit: the same insert, then bare POSTs.
 */
const benchEndpoints = async (world: World, count: number, each: number): Promise<BenchRow> => {
  const { db } = world
  const mine = await world.targets(count)
  const bare = await world.targets(count, NEVER)
  const worker = createWorker(db, world.masterKey)
  worker.start()
  const ours = async () => {
    await untilSettled(db)
    return timed(world, count * each, async () => {
      for (const event of await store(db, mine, each)) worker.tell(event.agentId, event)
    })
  }
  const limit = async () => {
    await untilSettled(db)
    return timed(world, count * each, async () => postAll(bare, await store(db, bare, each), world.clients))
  }
  try {
    return await pairedRounds(
      `webhook deliveries to ${count} endpoint${count === 1 ? '' : 's'} / bare POSTs`,
      '/s',
      ROUNDS,
      ours,
      limit,
    )
  } finally {
    await worker.stop(1000)
  }
}

const BATCH = 500

/** The peer: a job per event. Batches are fetched, posted in order for each endpoint, and completed. */
const drainBoss = async (
  boss: PgBoss,
  world: World,
  targets: readonly Target[],
  events: readonly LoggedEvent[],
): Promise<void> => {
  await boss.insert(events.map((event) => ({ id: newId(), name: 'webhook', data: event })))
  for (let done = 0; done < events.length; ) {
    const jobs = await boss.fetch<LoggedEvent>('webhook', { batchSize: BATCH })
    const batch = jobs
      .map(({ data }) => ({ ...data, createdAt: new Date(data.createdAt) }))
      .sort((a, b) => a.id - b.id)
    await postAll(targets, batch, world.clients)
    await boss.complete(
      'webhook',
      jobs.map(({ id }) => id),
    )
    done += jobs.length
  }
}

/**
 * The same deliveries through pg-boss, which preserves the order of an endpoint only when a single fetcher
 * processes whole batches.
 */
const benchPeer = async (world: World, each: number): Promise<BenchRow> => {
  const { db } = world
  const mine = await world.targets(ENDPOINTS)
  const theirs = await world.targets(ENDPOINTS, NEVER)
  const worker = createWorker(db, world.masterKey)
  const boss = new PgBoss({ connectionString: world.databaseUrl, supervise: false, schedule: false })
  boss.on('error', () => undefined)
  await boss.start()
  await boss.createQueue('webhook')
  worker.start()
  const ours = async () => {
    await untilSettled(db)
    return timed(world, ENDPOINTS * each, async () => {
      for (const event of await store(db, mine, each)) worker.tell(event.agentId, event)
    })
  }
  let round = 0
  const peer = () => {
    const first = round++ * each
    const events = Array.from({ length: each }, (_, n) =>
      theirs.map(({ agentId }) => eventFor(agentId, first + n + 1)),
    ).flat()
    return timed(world, ENDPOINTS * each, () => drainBoss(boss, world, theirs, events))
  }
  try {
    return await pairedRounds(
      `webhook deliveries to ${ENDPOINTS} endpoints / pg-boss in order`,
      '/s',
      PEER_ROUNDS,
      ours,
      peer,
    )
  } finally {
    await worker.stop(1000)
    await boss.stop({ graceful: false })
  }
}

const eventFor = (agentId: string, id: number): LoggedEvent => ({
  agentId,
  id,
  type: 'message.received',
  channel: 'email',
  messageId: newId(),
  createdAt: new Date(),
  sender: { id: null, kind: 'contact', name: 'Ann Example', email: 'ann@example.com', phone: null },
  from: 'Ann Example <ann@example.com>',
  subject: 'Hello',
})

const startWorkers = async (world: World, count: number): Promise<ChildProcess[]> => {
  const args = [world.databaseUrl, Buffer.from(world.masterKey).toString('base64')]
  const children = Array.from({ length: count }, () =>
    fork(join(import.meta.dirname, 'webhook-worker.ts'), args, { execArgv: ['--import', 'tsx'] }),
  )
  await Promise.all(children.map((child) => once(child, 'message')))
  return children
}

/**
 * Workers start with a backlog: one process against bare POSTs of the same events, and two processes against
 * one.
 */
const benchBacklog = async (world: World): Promise<BenchRow[]> => {
  const each = Math.max(1, Math.round(BACKLOG / ENDPOINTS))
  const targets = await world.targets(ENDPOINTS)
  const bare = await world.targets(ENDPOINTS, NEVER)
  const children = await startWorkers(world, 2)
  const drain = (count: number) => async () => {
    await store(world.db, targets, each)
    const workers = children.slice(0, count)
    const rate = await timed(world, ENDPOINTS * each, async () =>
      workers.forEach((worker) => void worker.send('start')),
    )
    await untilSettled(world.db)
    for (const worker of workers) worker.send('stop')
    await Promise.all(workers.map((worker) => once(worker, 'message')))
    return rate
  }
  const limit = async () => {
    const events = await store(world.db, bare, each)
    return timed(world, ENDPOINTS * each, () => postAll(bare, events, world.clients))
  }
  const name = `a backlog of ${ENDPOINTS * each} to ${ENDPOINTS} endpoints`
  try {
    return [
      await pairedRounds(`${name} / bare POSTs`, '/s', PEER_ROUNDS, drain(1), limit),
      await pairedRounds(`${name}, 2 worker processes / 1`, '/s', PEER_ROUNDS, drain(2), drain(1)),
    ]
  } finally {
    for (const child of children) child.disconnect()
  }
}

const PER_SECOND = 100
const SECONDS = 5

/** Measures milliseconds from before the insert to the arrival of the POST, for events at a steady rate. */
const latencies = async (
  world: World,
  targets: readonly Target[],
  deliver: (events: LoggedEvent[]) => void,
): Promise<number[]> => {
  const count = PER_SECOND * SECONDS
  const arrived = world.received(count)
  const began = new Map<string, number>()
  const from = performance.now()
  const writes: Promise<void>[] = []
  for (let n = 0; n < count; n++) {
    await sleep(Math.max(0, from + (n * 1000) / PER_SECOND - performance.now()))
    const at = performance.timeOrigin + performance.now()
    const write = async () => {
      const events = await store(world.db, [targets[n % targets.length]!], 1)
      began.set(eventIdOf(events[0]!), at)
      deliver(events)
    }
    writes.push(write())
  }
  await Promise.all(writes)
  return (await arrived).map(([id, at]) => at - began.get(id)!).sort((a, b) => a - b)
}

/** Time from enqueue to the first attempt, against the durable limit. (Lower is better.) */
const benchLatency = async (world: World): Promise<BenchRow[]> => {
  const mine = await world.targets(ENDPOINTS)
  const bare = await world.targets(ENDPOINTS, NEVER)
  const worker = createWorker(world.db, world.masterKey)
  worker.start()
  const rounds: { ours: number[]; limit: number[] }[] = []
  try {
    for (let round = 0; round <= PEER_ROUNDS; round++) {
      const ours = await latencies(world, mine, ([event]) => worker.tell(event!.agentId, event!))
      const limit = await latencies(
        world,
        bare,
        (events) =>
          void postAll(
            bare.filter(({ agentId }) => agentId === events[0]!.agentId),
            events,
            world.clients,
          ),
      )
      if (round > 0) rounds.push({ ours, limit }) // the first one warms up
      await untilSettled(world.db)
    }
  } finally {
    await worker.stop(1000)
  }
  return [0.5, 0.99].map((share) => {
    const at = (sorted: number[]) => sorted[Math.floor(sorted.length * share)]! * 1000
    const ours = rounds.map((round) => at(round.ours))
    const limit = rounds.map((round) => at(round.limit))
    return {
      name: `enqueue to first attempt, ${PER_SECOND} a second, p${share * 100}`,
      against: 'insert and POST',
      spread: [Number.NaN, Number.NaN],
      unit: 'µs',
      ours: median(ours),
      counterpart: median(limit),
      ratio: median(ours.map((value, round) => value / limit[round]!)),
    }
  })
}

export const benchWebhooks = async (): Promise<BenchRow[]> => {
  const world = await openWorld()
  try {
    return [
      await benchEndpoints(world, ENDPOINTS, 50),
      await benchEndpoints(world, 1, 5000),
      await benchPeer(world, 50),
      ...(await benchBacklog(world)),
      ...(await benchLatency(world)),
    ]
  } finally {
    await world.close()
  }
}
