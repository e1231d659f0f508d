import { dataOf, eventIdOf, type PayloadEvent } from '../event/index.ts'

/** An event in the format of external deliveries, the same for all of them. */
export const occurrenceOf = (event: PayloadEvent) => ({
  eventId: eventIdOf(event),
  name: event.type,
  timestamp: event.createdAt.toISOString(),
  data: dataOf(event),
  cursor: String(event.id),
})

/**
 * The body of a delivery: the same bytes on every attempt, whatever has changed since the event. The content
 * of an email or SMS is left out; receivers fetch it by reading the message.
 */
export const payloadOf = (event: PayloadEvent): string => JSON.stringify(occurrenceOf(event))

const WEBHOOK_TEST = 'webhook.test'

/** Returns the event id in a manual delivery: that of its event, or one of the test's own. */
export const manualEventId = ({
  id,
  agentId,
  eventId,
}: {
  id: string
  agentId: string
  eventId: number | null
}): string => (eventId === null ? `test_${id.replaceAll('-', '')}` : eventIdOf({ agentId, id: eventId }))

export interface Test {
  /** Id of the job. */
  id: string
  agent: { id: string; name: string }
  webhookId: string
  createdAt: Date
}

/**
 * The body of a test. It is not an event in the agent's log: it has neither a message nor a cursor, and its
 * name identifies it as a test.
 */
export const testPayloadOf = ({ id, agent, webhookId, createdAt }: Test): string =>
  JSON.stringify({
    eventId: manualEventId({ id, agentId: agent.id, eventId: null }),
    name: WEBHOOK_TEST,
    timestamp: createdAt.toISOString(),
    data: { agent: { id: agent.id, name: agent.name }, webhook: { id: webhookId } },
  })
