import type { Db } from '../db/client.ts'
import type { Job, Prisma } from '../db/generated/prisma/client.ts'

/**
 * Deliveries that somebody asked for: tests, and events that are sent again. They go out between a lane's
 * events and move no position. Their jobs are numbered downwards from -1, so that none is ever taken for an
 * event's.
 */

export interface NewManualDelivery {
  id: string
  lane: string
  agentId: string
  /** The event that is sent again; null for a test. */
  eventId: bigint | null
  /** The body, wiped when the job is done. */
  payload: Uint8Array<ArrayBuffer>
  createdAt: Date
}

/** Adds one, inside the transaction that holds its lane's row. */
export const addManualDelivery = async (
  tx: Prisma.TransactionClient,
  delivery: NewManualDelivery,
): Promise<Job> => {
  const { _min } = await tx.job.aggregate({
    where: { lane: delivery.lane, seq: { lt: 0 } },
    _min: { seq: true },
  })
  return tx.job.create({ data: { ...delivery, kind: 'webhook', seq: (_min.seq ?? 0n) - 1n } })
}

/** One that is still to be posted. */
export interface ManualDeliveryRow {
  id: string
  seq: number
  event_id: number | null
  attempts: number
  payload: Buffer
}

/** What was asked for of one lane: how many in all, and those that are not done with, oldest first. */
export interface ManualDeliveries {
  asked: number
  jobs: ManualDeliveryRow[]
}

/** What was asked for of many lanes, in one snapshot. A lane that is missing in the answer was deleted. */
export const readManualDeliveries = async (
  { pool }: Db,
  lanes: readonly string[],
): Promise<Map<string, ManualDeliveries>> => {
  const { rows } = await pool.query<{ lane: string; asked: number } & (ManualDeliveryRow | { id: null })>({
    name: 'lanes read asked',
    text: `
      select w.id as lane, w.asked, j.id, j.seq, j.event_id, j.attempts, j.payload
        from webhook w left join job j on j.lane = w.id and j.seq < 0 and j.state = 'pending'
       where w.id = any($1::uuid[])
       order by w.id, j.seq desc`,
    values: [lanes],
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
 * Makes a lane's jobs of these events pending again, or for the first time where it had none; their records
 * go on where they stood. Left out are `url` events: their texts are kept nowhere. Returns how many there
 * are. Inside the transaction that sets the lane's position back.
 */
export const requeueEvents = (
  tx: Prisma.TransactionClient,
  { lane, agentId, after, upTo, at }: EventRange,
): Promise<number> => tx.$executeRaw`
  insert into job (id, kind, agent_id, lane, seq, asked_at, created_at)
  select gen_random_uuid(), 'webhook', e.agent_id, ${lane}::uuid, e.id, ${at}, e.created_at
    from event e
   where e.agent_id = ${agentId}::uuid and e.id > ${after} and e.id <= ${upTo} and e.channel <> 'url'
  on conflict (lane, seq) do update set state = 'pending', asked_at = excluded.asked_at`
