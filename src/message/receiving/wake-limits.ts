import type pg from 'pg'
import { type Batch, createBatch } from '../../db/batch.ts'
import { isUnavailable, type Queryable, type RootDb } from '../../db/client.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import { sql } from '../../db/sql/sql.ts'
import { statement } from '../../db/sql/statement.ts'
import { withClient } from '../../db/with-client.ts'
import { type LoggedEvent, lockAllLogs, MESSAGE_REFUSED } from '../../event/index.ts'
import { type Arrival, sizeOf, storeArrivals, type WakeLimits } from './store.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * Counts the received messages of an agent ($1) since $2, up to $3, and of its thread $4 since $5, up to $6.
 * Both are ranges of an index.
 */
const COUNT = {
  name: 'count wakes',
  text: `
    select (select count(*)::int from (
              select from message where agent_id = $1 and created_at > $2 and status = 'received' limit $3) h) as hour,
           (select count(*)::int from (
              select from message where agent_id = $1 and thread_id = $4 and created_at > $5 and status = 'received' limit $6) d) as day`,
}

/** Returns the limit that an admitted message exceeds, in words, or null. */
const exceededLimit = async (
  db: Queryable,
  { agentId, threadId, createdAt }: Arrival['message'],
  { hour, threadDay }: WakeLimits,
): Promise<string | null> => {
  const before = (ms: number) => new Date(createdAt.getTime() - ms)
  const values = [agentId, before(HOUR_MS), hour ?? 0, threadId, before(DAY_MS), threadDay ?? 0]
  const { rows } = await db.query<{ hour: number; day: number }>({ ...COUNT, values })
  const { hour: inHour, day: inDay } = rows[0]!
  if (hour !== null && inHour >= hour) return `the agent takes at most ${hour} messages an hour`
  return threadDay !== null && inDay >= threadDay
    ? `the agent takes at most ${threadDay} messages of a thread in 24 hours`
    : null
}

/** The event of a message that is refused: whether it may instruct the agent is no question then. */
const refusedEvent = ({
  detail,
  delay: _delay,
  ...event
}: NonNullable<Arrival['event']>): Arrival['event'] => {
  const { mayInstruct: _, ...place } = detail ?? {}
  return { ...event, type: MESSAGE_REFUSED, detail: { ...place, refusal: 'rate_limit' } }
}

/** A message that would wake its agent too often: refused, and kept with all that it has. */
const refusedArrival = (arrival: Arrival, rule: string): Arrival => ({
  ...arrival,
  event: arrival.event && refusedEvent(arrival.event),
  wakeLimits: null,
  message: {
    ...arrival.message,
    status: 'refused',
    refusal: 'rate_limit',
    admission: null,
    checks: [
      ...(arrival.message.checks as Prisma.JsonArray),
      { name: 'wake_limit', verdict: 'rate_limit', detail: rule },
    ],
  },
})

/** Refuses an arrival that exceeds its agent's limits. Without a limit, nothing is read. */
export const limitWakes = async (db: Queryable, arrival: Arrival): Promise<Arrival> => {
  const { wakeLimits, message } = arrival
  const rule = wakeLimits && (await exceededLimit(db, message, wakeLimits))
  return rule ? refusedArrival(arrival, rule) : arrival
}

/** An arrival as it was stored, with its event. */
export interface StoredArrival {
  arrival: Arrival
  event: LoggedEvent | null
}

const LOCK_LOGS = statement<{ agentIds: readonly string[] }>('lock logs', ({ agentIds }) =>
  lockAllLogs(sql`${agentIds}::uuid[]`),
)

/**
 * Stores arrivals of agents with limits in one transaction. The agents' logs are locked first, in the order that
 * all batches use: every statement that stores an event locks them too, so no message is stored between the count
 * and its own.
 */
const storeLimited = async (
  client: pg.PoolClient,
  arrivals: readonly Arrival[],
): Promise<StoredArrival[]> => {
  await client.query('begin')
  const agentIds = [...new Set(arrivals.map(({ message }) => message.agentId))]
  await client.query(LOCK_LOGS({ agentIds }))
  const stored: StoredArrival[] = []
  for (const arrival of arrivals) {
    const limited = await limitWakes(client, arrival)
    const [event = null] = await storeArrivals({ pool: client }, [limited])
    stored.push({ arrival: limited, event })
  }
  await client.query('commit')
  return stored
}

/**
 * Collects arrivals of agents with limits. In a store of their own, so that others are not slower. The parallel
 * writes bound the connections that wait for the locks.
 */
export const createLimitedStore = ({ pool }: Pick<RootDb, 'pool'>): Batch<Arrival, StoredArrival> =>
  createBatch((arrivals) => withClient(pool, (client) => storeLimited(client, arrivals)), {
    most: 16,
    parallel: 2,
    maxBytes: 4 * 1024 * 1024,
    sizeOf,
    isUnavailable,
  })
