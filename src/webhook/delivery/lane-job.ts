import type { EventSender, EventType, PayloadEvent } from '../../event/event.ts'
import type { ManualDeliveryRow } from '../manual-delivery.ts'
import { manualEventId } from '../payload.ts'
import type { PendingDelivery } from './read-ahead.ts'

/** One delivery that a lane has read ahead. */
export interface LaneJob {
  /** Its event's place in the log. */
  seq: number
  /** Null where it only says that the events up to `seq` are no longer kept. */
  event: PayloadEvent | null
  /** How often it was tried before. */
  attempts: number
  /** A `url` event's sealed text. */
  payload: Buffer | null
  /** When the three days began after which it is given up: with the event, or with a replay of it. */
  since: Date
}

/** A delivery that somebody requested: it is posted between two events and moves no position. */
export interface ManualDelivery {
  /** The job's. */
  id: string
  seq: number
  attempts: number
  /** The `webhook-id`. */
  eventId: string
  body: Buffer
}

/** What was read of an agent's log, as a lane's job. */
export const jobOf = (agentId: string, row: PendingDelivery): LaneJob => {
  const event = {
    agentId,
    id: row.seq,
    type: row.type as EventType, // a lane takes only types that its webhook asked for
    channel: row.channel,
    messageId: row.message_id,
    createdAt: row.created_at,
    sender: row.sender as EventSender | null,
    from: row.from,
    subject: row.subject,
    agentName: row.agent_name,
  }
  return {
    seq: row.seq,
    event,
    attempts: row.attempts,
    payload: row.payload,
    since: row.asked_at ?? row.created_at,
  }
}

/** What says that the log is no longer kept up to `horizon`. */
export const gapJob = (horizon: number, now: Date): LaneJob => ({
  seq: horizon,
  event: null,
  attempts: 0,
  payload: null,
  since: now,
})

/** Whether a job that should be there is not. */
export const hasNoJob = (row: PendingDelivery): boolean => row.state === null && row.channel !== 'url'

export const isDue = (row: PendingDelivery): boolean => row.state === 'pending' || hasNoJob(row)

/** A manual delivery as a lane posts it. */
export const manualDeliveryOf = (
  agentId: string,
  { id, seq, attempts, payload: body, event_id: eventId }: ManualDeliveryRow,
): ManualDelivery => ({
  id,
  seq,
  attempts,
  body,
  eventId: manualEventId({ id, agentId, eventId }),
})
