import { countDomains, databaseSize, readDepths } from './background/queue-depths.ts'
import { lastDump } from './boot/data-dir.ts'
import type { Clock } from './core/clock.ts'
import { countMigrations } from './db/schema.ts'
import { oldestDueSend } from './message/index.ts'
import type { Operations } from './operations.ts'
import { createOldestDueDelivery } from './webhook/index.ts'

/** Times in milliseconds for which slowly changing numbers are cached. */
const SIZE_MS = 5 * 60_000
const DOMAINS_MS = 60_000
/** Several gauges come from one statement, and several scrapers may ask at once. */
const DEPTHS_MS = 1_000

/** Returns `read` with a cache. A failed read is not cached. */
const cachedFor = <T>(clock: Clock, ms: number, read: () => Promise<T>): (() => Promise<T>) => {
  let known: { value: Promise<T>; until: number } | undefined
  return () => {
    const now = clock.now().getTime()
    if (known && known.until > now) return known.value
    const value = read()
    known = { value, until: now + ms }
    value.catch(() => {
      known = undefined
    })
    return value
  }
}

const watchConnections = ({ metrics, pool }: Operations): void =>
  metrics.gauges(
    'ams_database_connections',
    'Database connections of this process, and requests waiting for one',
    'state',
    () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
  )

const watchAges = (operations: Operations): void => {
  const { metrics, pool, clock } = operations
  const oldestDueDelivery = createOldestDueDelivery({ pool })
  metrics.gauges(
    'ams_oldest_due_job_seconds',
    'Time since the job that has waited longest for a worker was due',
    'kind',
    async () => {
      const now = clock.now()
      const secondsSince = (due: Date | null) =>
        due ? Math.max(0, (now.getTime() - due.getTime()) / 1000) : 0
      return {
        webhook: secondsSince(await oldestDueDelivery(now)),
        send: secondsSince(await oldestDueSend(operations, now)),
      }
    },
  )
}

const watchQueues = ({ metrics, pool, clock }: Operations): void => {
  const depths = cachedFor(clock, DEPTHS_MS, () => readDepths({ pool }, clock.now()))
  metrics.gauges(
    'ams_database_up',
    'Whether the database answers a query of this process within a second',
    'database',
    () =>
      depths().then(
        () => ({ main: 1 }),
        () => ({ main: 0 }),
      ),
  )
  metrics.gauges(
    'ams_queue_depth',
    'Work that is due: messages to send, webhooks with deliveries, messages to index for search, deleted agents to clean up; counted up to 10,000',
    'queue',
    async () => {
      const { failingWebhooks: _failing, unsearchable: _unsearchable, ...queues } = await depths()
      return queues
    },
  )
  metrics.gauges(
    'ams_unsearchable_messages',
    'Messages whose words search does not find because indexing them failed, counted up to 10,000',
    'state',
    async () => ({ failed: (await depths()).unsearchable }),
  )
  metrics.gauges(
    'ams_failing_webhooks',
    'Webhooks whose deliveries fail, counted up to 10,000',
    'state',
    async () => ({ retrying: (await depths()).failingWebhooks }),
  )
}

const watchSchema = ({ metrics, pool, clock }: Operations): void =>
  metrics.gauges(
    'ams_migrations',
    'Migrations that the database lacks of this build (pending) and has of later ones (unknown), and sessions that migrate it (running)',
    'state',
    cachedFor(clock, DEPTHS_MS, () => countMigrations(pool)),
  )

const watchDatabaseSize = ({ metrics, pool, clock }: Operations): void => {
  const size = cachedFor(clock, SIZE_MS, () => databaseSize({ pool }))
  metrics.gauges('ams_database_size_bytes', 'Size of the database on disk', 'database', async () => ({
    main: await size(),
  }))
  const domains = cachedFor(clock, DOMAINS_MS, () => countDomains({ pool }))
  metrics.gauges('ams_domains', "Workspaces' own domains by state", 'state', domains)
}

/** Registers metrics of the database and of the work that is stored in it. */
export const watchDatabase = (operations: Operations): void => {
  // First, because the statements of the others would be counted among the connections in use.
  watchConnections(operations)
  watchAges(operations)
  watchQueues(operations)
  watchSchema(operations)
  watchDatabaseSize(operations)
  const { metrics, replica } = operations
  if (replica)
    metrics.gauge('ams_replica_used', 'Whether lists and searches read the replica', () =>
      Number(replica.isUsed),
    )
}

/** Registers when the last dump was made by a command with the same DATA_DIR. */
export const watchDumps = ({ metrics }: Operations, dataDir: string): void =>
  metrics.gauge(
    'ams_last_dump_timestamp_seconds',
    'When the last dump was made on this host; 0 for never',
    () => (lastDump(dataDir)?.getTime() ?? 0) / 1000,
  )
