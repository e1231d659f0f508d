import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createNotifier } from '../../src/db/notify.ts'
import { openTestDatabase } from '../support/database.ts'
import { temporaryDir } from '../support/postgres.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWebhookBench } from '../support/webhooks.ts'

// For the documented scale of 10,000 webhooks, half of them failing, set CROWD=10000 CROWD_WORKERS=4.
const CROWD = Number(process.env.CROWD ?? 600)
const WORKERS = Number(process.env.CROWD_WORKERS ?? 2)
const TIMEOUT_MS = 30_000 + CROWD * 20

const db = await openTestDatabase()
const masterKey = randomBytes(32)
const bench = createWebhookBench(db, masterKey)
const notifier = createNotifier({ url: db.url, pool: db.pool, log: silentLogger, clock: systemClock })
const dataDir = temporaryDir()
let receiver: ChildProcess
let urls: { working: string; hanging: string; failing: string }
let workers: { service: ServiceProcess; http: string }[]

beforeAll(async () => {
  execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'src', 'build.mjs')])
  receiver = fork(join(import.meta.dirname, 'crowd-receiver.ts'), { execArgv: ['--import', 'tsx'] })
  ;[urls] = (await once(receiver, 'message')) as [typeof urls]
})
afterAll(async () => {
  receiver.disconnect()
  await notifier.stop()
  await cleanUp(dataDir)
})

const startWorker = async () => {
  const settings = {
    DATA_DIR: dataDir,
    DATABASE_URL: db.url,
    MASTER_KEY: masterKey.toString('base64'),
    WEBHOOK_ALLOW: '127.0.0.1',
  }
  const service = run({ ...settings, ROLES: 'worker' })
  return { service, http: (await service.ready()).http }
}

/** Commits one event for each of these agents, and notifies every process. */
const appendEvents = async (agents: readonly string[]): Promise<void> => {
  for (const agentId of agents) {
    await bench.store(agentId, 1, { createdAt: new Date() })
    notifier.publish('events', agentId)
  }
}

/** Resolves with the next `count` POSTs to working webhooks, and the milliseconds until the last one. */
const receivePosts = async (count: number): Promise<{ ms: number; got: [string, string][] }> => {
  const from = performance.now()
  const got: [string, string][] = []
  await until(async () => {
    receiver.send('more')
    got.push(...((await once(receiver, 'message')) as [[string, string][]])[0])
    return got.length >= count
  }, TIMEOUT_MS)
  return { ms: performance.now() - from, got }
}

const deliveriesOf = async (http: string): Promise<number> => {
  const page = await (await fetch(`${http}/metrics`)).text()
  return Number(/^ams_webhook_deliveries_total\{outcome="delivered"\} (\d+)$/m.exec(page)?.[1] ?? 0)
}

test(`with ${CROWD} webhooks, half of them failing, and ${WORKERS} workers, the others get every event once, in order`, {
  timeout: 120_000 + 6 * TIMEOUT_MS,
}, async () => {
  const { workspaceId } = await bench.agent()
  const half = Math.floor(CROWD / 2)
  const working = await bench.crowd(workspaceId, half, (n) => `${urls.working}/${n}`)
  const ends = ['http://127.0.0.1:1', urls.hanging, urls.failing]
  const failing = await bench.crowd(workspaceId, half, (n) => `${ends[n % 3]}/${n}`)
  workers = await Promise.all(Array.from({ length: WORKERS }, startWorker))

  await appendEvents(working)
  const alone = await receivePosts(half)
  const everybody = working.flatMap((agentId, n) => [agentId, failing[n]!])
  await appendEvents(everybody)
  const among = await receivePosts(half)
  // Failing webhooks cost the machine as much work as the others, but no webhook waits for a missing response.
  expect(among.ms).toBeLessThan(3 * alone.ms + 4_000)

  // Continues until the first retries of the failing webhooks were due (after 10 s).
  const inRetry = () => db.prisma.webhook.count({ where: { agentId: { in: failing }, attempts: { gte: 2 } } })
  const rest = new Map(working.map((_, n) => [`/${n}`, ['1', '2']]))
  let rounds = 0
  while ((await inRetry()) < half) {
    await appendEvents(everybody)
    for (const [path, cursor] of (await receivePosts(half)).got) rest.get(path)!.push(cursor)
    rounds++
  }
  expect(rounds).toBeGreaterThan(0)
  const upTo = Array.from({ length: rounds + 2 }, (_, n) => String(n + 1))
  for (const cursors of rest.values()) expect(cursors).toEqual(upTo)

  const wasted = {
    agentId: { in: working },
    OR: [{ attempts: { not: 1 } }, { state: { not: 'delivered' as const } }],
  }
  await until(async () => (await db.prisma.job.count({ where: wasted })) === 0)
  const counts = await Promise.all(workers.map(({ http }) => deliveriesOf(http)))
  expect(counts.reduce((sum, count) => sum + count)).toBe(half * upTo.length)
  expect(Math.min(...counts)).toBeGreaterThan(0)

  for (const { service } of workers) service.kill('SIGTERM') // while some receivers hang
  const exits = await Promise.all(workers.map(({ service }) => service.exited))
  expect(exits).toEqual(workers.map(() => ({ code: 0, signal: null })))
  expect(await db.prisma.webhook.count({ where: { leaseOwner: { not: null } } })).toBe(0)
})
