import type { EventSender, EventType, PayloadEvent } from '../../../event/index.ts'
import type { ManualDeliveryRow } from '../../manual-delivery.ts'
import { manualEventId } from '../../payload.ts'
import type { PendingDelivery } from './read-ahead.ts'

/** A delivery that a lane has read ahead. */
export interface LaneJob {
  /** The event's id in the agent's log. */
  seq: number
  /** Null for a notice that the events up to `seq` are no longer stored. */
  event: PayloadEvent | null
  /** Number of earlier attempts. */
  attempts: number
  /** The encrypted text of a `url` event. */
  payload: Buffer | null
  /** When the three days until it is given up began: at the event, or at its replay. */
  since: Date
}

/** A delivery that a user requested. It is posted between two events and does not change the position. */
export interface ManualDelivery {
  /** The job's id. */
  id: string
  seq: number
  attempts: number
  /** Value of the `webhook-id` header. */
  eventId: string
  body: Buffer
}

/** Returns an event that was read from an agent's log as a lane's job. */
export const jobOf = (agentId: string, row: PendingDelivery): LaneJob => {
  const event = {
    agentId,
    id: row.seq,
    type: row.type as EventType, // a lane queues only the types that its webhook selected
    channel: row.channel,
    messageId: row.message_id,
    createdAt: row.created_at,
    sender: row.sender as EventSender | null,
    from: row.from,
    subject: row.subject,
    agentName: row.agent_name,
    ...row.detail,
  } as PayloadEvent
  return {
    seq: row.seq,
    event,
    attempts: row.attempted,
    payload: row.payload,
    since: row.asked_at ?? row.created_at,
  }
}

/** Returns the notice that events up to `horizon` are no longer stored. */
export const gapJob = (horizon: number, now: Date): LaneJob => ({
  seq: horizon,
  event: null,
  attempts: 0,
  payload: null,
  since: now,
})

/** Returns whether an event's job is missing although it should exist. */
export const hasNoJob = (row: PendingDelivery): boolean => row.state === null && row.channel !== 'url'

export const isDue = (row: PendingDelivery): boolean => row.state === 'pending' || hasNoJob(row)

/** Returns a manual delivery as a lane posts it. */
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
