import { setTimeout as sleep } from 'node:timers/promises'
import { eventIdOf } from '../../src/event/event.ts'
import { until } from '../support/until.ts'
import { compare, compareAll, type Side } from './paired.ts'
import { atLeast, atMost, percentile, type Suite } from './row.ts'
import { type Deliverer, expectPosts, openWebhookWorld, type WebhookWorld } from './webhook-world.ts'

const ENDPOINTS = 200
const PER_SECOND = 100
const SECONDS = 2
const COLD_PER_SECOND = 50

const now = () => performance.timeOrigin + performance.now()
const idsOf = ({ endpoints }: Deliverer) => endpoints.map(({ agentId }) => agentId)

/** Measures POSTs a second, from before the events are committed until the last POST has arrived. */
const throughput = (world: WebhookWorld, deliverer: Deliverer, each: number) => {
  const total = deliverer.endpoints.length * each
  return {
    cpu: { node: deliverer.pid, postgres: world.bench.postgres.pid, units: total },
    round: async () => {
      const { arrived } = await expectPosts(world, total)
      const from = performance.now()
      await deliverer.announce(await world.committer.store(idsOf(deliverer), each))
      await arrived
      const seconds = (performance.now() - from) / 1000
      await deliverer.settled()
      return total / seconds
    },
  }
}

/** Resolves when no lane is leased any more: what comes next finds neither a lane nor a connection. */
const lanesFree = ({ committer }: WebhookWorld): Promise<true> =>
  until(
    async () =>
      (await committer.db.pool.query('select from webhook where lease_until > now() limit 1')).rowCount === 0,
    30_000,
  )

/**
 * Measures the time from before the insert to the arrival of the POST in ms, for events at a steady rate. `cold`: each
 * endpoint gets one event, and had none for so long that its lane was released.
 */
const latency = (world: WebhookWorld, deliverer: Deliverer, perSecond: number, cold = false): Side => ({
  round: async () => {
    const total = perSecond * SECONDS
    if (cold) await lanesFree(world)
    const { arrived } = await expectPosts(world, total)
    const began = new Map<string, number>()
    const from = performance.now()
    const writes: Promise<void>[] = []
    for (let n = 0; n < total; n++) {
      await sleep(Math.max(0, from + (n * 1000) / perSecond - performance.now()))
      const at = now()
      const write = async () => {
        const { agentId } = deliverer.endpoints[n % deliverer.endpoints.length]!
        const events = await world.committer.store([agentId], 1)
        began.set(eventIdOf(events[0]!), at)
        await deliverer.announce(events)
      }
      writes.push(write())
    }
    await Promise.all(writes)
    const times = (await arrived).map(([id, at]) => at - began.get(id)!)
    await deliverer.settled()
    return [percentile(times, 0.5), percentile(times, 0.99)]
  },
})

/**
 * Webhooks of events that another process committed, against the durable limit: the same insert, one select when
 * notified, and signed POSTs in order. The receiver checks order and signatures.
 */
export const benchWebhooks: Suite = async (report) => {
  const world = await openWebhookWorld()
  const about = { against: 'durable limit', unit: 'POSTs/s' }
  const many = [await world.ours(ENDPOINTS), await world.limit(ENDPOINTS)] as [Deliverer, Deliverer]
  const sides = many.map((each) => throughput(world, each, 50)) as [
    ReturnType<typeof throughput>,
    ReturnType<typeof throughput>,
  ]
  const goal = atLeast(0.9)
  report(
    await compare({ ...about, name: `webhooks, ${ENDPOINTS} endpoints`, goal }, ...sides, { seconds: 8 }),
  )
  const steady = `enqueue to first attempt, ${PER_SECOND}/s, told by NOTIFY`
  const latencies = await compareAll(
    [
      { name: `${steady}, p50`, against: 'durable limit', unit: 'ms', goal: atMost(1.4) },
      { name: `${steady}, p99`, against: 'durable limit', unit: 'ms', goal: atMost(2) },
    ],
    latency(world, many[0], PER_SECOND),
    latency(world, many[1], PER_SECOND),
    { rounds: 3, seconds: 15 },
  )
  for (const row of latencies) report(row)
  const idle = `the same of lanes that were idle, ${COLD_PER_SECOND}/s`
  const cold = await compareAll(
    [
      { name: `${idle}, p50`, against: 'durable limit', unit: 'ms', goal: atMost(1.4) },
      { name: `${idle}, p99`, against: 'durable limit', unit: 'ms', goal: atMost(2) },
    ],
    latency(world, many[0], COLD_PER_SECOND, true),
    latency(world, many[1], COLD_PER_SECOND, true),
    { rounds: 4, seconds: 60 },
  )
  for (const row of cold) report(row)
  const one = [
    throughput(world, await world.ours(1), 2_000),
    throughput(world, await world.limit(1), 2_000),
  ] as const
  report(await compare({ ...about, name: 'webhooks, 1 endpoint' }, ...one, { seconds: 6 }))
}
