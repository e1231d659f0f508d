import type { Db } from '../db/client.ts'
import type { Job, Prisma } from '../db/generated/prisma/client.ts'

/**
 * Manual deliveries: tests and resent events. They are sent between a lane's events and do not change its
 * position. Their jobs are numbered downwards from -1, so that they are never mistaken for an event's.
 */

export interface NewManualDelivery {
  id: string
  lane: string
  agentId: string
  /** The event that is resent; null for a test. */
  eventId: bigint | null
  /** The body, erased when the job is done. */
  payload: Uint8Array<ArrayBuffer>
  createdAt: Date
}

/** Adds a manual delivery, inside the transaction that holds its lane's row. */
export const addManualDelivery = async (
  tx: Prisma.TransactionClient,
  delivery: NewManualDelivery,
): Promise<Job> => {
  const { _min } = await tx.job.aggregate({
    where: { agentId: delivery.agentId, lane: delivery.lane, seq: { lt: 0 } },
    _min: { seq: true },
  })
  return tx.job.create({ data: { ...delivery, kind: 'webhook', seq: (_min.seq ?? 0n) - 1n } })
}

/** A pending manual delivery. */
export interface ManualDeliveryRow {
  id: string
  seq: number
  event_id: number | null
  attempts: number
  payload: Buffer
}

/** The manual deliveries of one lane: their total number so far, and those that are pending, oldest first. */
export interface ManualDeliveries {
  asked: number
  jobs: ManualDeliveryRow[]
}

/**
 * Reads the manual deliveries of many lanes, in one snapshot. A lane that is missing from the result was
 * deleted.
 */
export const readManualDeliveries = async (
  { pool }: Db,
  lanes: readonly { id: string; agentId: string }[],
): Promise<Map<string, ManualDeliveries>> => {
  const { rows } = await pool.query<{ lane: string; asked: number } & (ManualDeliveryRow | { id: null })>({
    name: 'lanes read asked',
    text: `
      select w.id as lane, w.asked, j.id, j.seq, j.event_id, j.attempts, j.payload
        from unnest($1::uuid[], $2::uuid[]) as lane(id, agent_id) join webhook w using (id, agent_id)
        left join job j on j.agent_id = w.agent_id and j.lane = w.id and j.seq < 0 and j.state = 'pending'
       order by w.id, j.seq desc`,
    values: [lanes.map(({ id }) => id), lanes.map(({ agentId }) => agentId)],
  })
  const reads = new Map<string, ManualDeliveries>()
  for (const row of rows) {
    const read = reads.get(row.lane) ?? { asked: row.asked, jobs: [] }
    if (row.id !== null) read.jobs.push(row)
    reads.set(row.lane, read)
  }
  return reads
}

export interface EventRange {
  lane: string
  agentId: string
  after: bigint
  upTo: bigint
  at: Date
}

/**
 * Makes a lane's jobs for these events pending again, or creates them where there were none; their logs are
 * continued. `url` events are left out, because their texts are not stored, and events of types that the webhook
 * does not receive. Returns the number of events.
 * Must run in the transaction that moves the lane's position back.
 */
export const requeueEvents = (
  tx: Prisma.TransactionClient,
  { lane, agentId, after, upTo, at }: EventRange,
): Promise<number> => tx.$executeRaw`
  insert into job (id, kind, agent_id, lane, seq, asked_at, created_at)
  select gen_random_uuid(), 'webhook', e.agent_id, ${lane}::uuid, e.id, ${at}, e.created_at
    from event e join webhook w on w.agent_id = e.agent_id and w.id = ${lane}::uuid and e.type = any(w.types)
   where e.agent_id = ${agentId}::uuid and e.id > ${after} and e.id <= ${upTo} and e.channel <> 'url'
  on conflict (lane, seq, agent_id) do update set state = 'pending', asked_at = excluded.asked_at`

/** Makes a lane's jobs pending again that were given up, of events since a time. Returns the events' ids. */
export const requeueGivenUp = async (
  tx: Prisma.TransactionClient,
  { lane, agentId, upTo, at, since }: Omit<EventRange, 'after'> & { since: Date },
): Promise<bigint[]> => {
  const rows = await tx.$queryRaw<{ seq: bigint }[]>`
    update job j set state = 'pending', asked_at = ${at}
      from event e join webhook w on w.agent_id = e.agent_id and w.id = ${lane}::uuid and e.type = any(w.types)
     where j.agent_id = ${agentId}::uuid and j.lane = ${lane}::uuid and j.seq > 0 and j.seq <= ${upTo} and j.state = 'expired'
       and e.agent_id = j.agent_id and e.id = j.seq and e.created_at >= ${since} and e.channel <> 'url'
    returning j.seq`
  return rows.map(({ seq }) => seq)
}

/** Restarts the three days of a lane's pending events: they were not delivered while it was paused. */
export const restartPending = async (
  tx: Prisma.TransactionClient,
  { lane, agentId, after, at }: Omit<EventRange, 'upTo'>,
): Promise<void> => {
  await tx.$executeRaw`
    update job set asked_at = ${at}
     where agent_id = ${agentId}::uuid and lane = ${lane}::uuid and seq > ${after} and state = 'pending'`
}
