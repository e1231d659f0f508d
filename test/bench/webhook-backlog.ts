import { compare } from './paired.ts'
import type { Suite } from './row.ts'
import { type Deliverer, expectPosts, openWebhookWorld } from './webhook-world.ts'

/** Due deliveries, for 200 endpoints. */
const BACKLOG = Number(process.env.BENCH_BACKLOG ?? 10_000)
const ENDPOINTS = 200
const EACH = Math.round(BACKLOG / ENDPOINTS)

/** POSTs a second between the first and the last, when a worker starts with a backlog. */
export const benchBacklog: Suite = async (report) => {
  const world = await openWebhookWorld()
  const [ours, limit] = [await world.ours(ENDPOINTS), await world.limit(ENDPOINTS)]
  await world.worker.stop()
  /** `start` makes somebody deliver the backlog, and returns how to end that. */
  const drain = async ({ endpoints, settled }: Deliverer, start: Start) => {
    const { arrived } = await expectPosts(world, EACH * ENDPOINTS)
    const events = await world.committer.store(
      endpoints.map(({ agentId }) => agentId),
      EACH,
    )
    const stop = await start(events)
    const arrivals = await arrived
    await settled()
    await stop()
    return (arrivals.length * 1000) / (arrivals.at(-1)![1] - arrivals[0]![1])
  }
  type Start = (events: Awaited<ReturnType<typeof world.committer.store>>) => Promise<() => unknown>
  report(
    await compare(
      {
        name: `a backlog of ${BACKLOG} webhooks, ${ENDPOINTS} endpoints`,
        against: 'durable limit',
        unit: 'POSTs/s',
      },
      { round: () => drain(ours, async () => (await world.bench.another({ ROLES: 'worker' })).stop) },
      {
        round: () =>
          drain(limit, async (events) => {
            await limit.announce(events)
            return () => undefined
          }),
      },
      { rounds: 3, seconds: 25 },
    ),
  )
}
