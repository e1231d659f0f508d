import { dataOf, eventIdOf, type PayloadEvent } from '../event/event.ts'

/** An event as those who listen from outside get it, the same wherever they do. */
export const occurrenceOf = (event: PayloadEvent) => ({
  eventId: eventIdOf(event),
  name: event.type,
  timestamp: event.createdAt.toISOString(),
  data: dataOf(event),
  cursor: String(event.id),
})

/**
 * The body of a delivery. The same bytes on every attempt, whatever has changed since the event. The content
 * of an email or text is left out: it is fetched by reading the message.
 */
export const payloadOf = (event: PayloadEvent): string => JSON.stringify(occurrenceOf(event))

const WEBHOOK_TEST = 'webhook.test'

/**
 * What a delivery that somebody asked for is known by: its event's name among all events, or one of the
 * test's own.
 */
export const askedEventId = ({
  id,
  agentId,
  eventId,
}: {
  id: string
  agentId: string
  eventId: number | null
}): string => (eventId === null ? `test_${id.replaceAll('-', '')}` : eventIdOf({ agentId, id: eventId }))

export interface Test {
  /** The job's. */
  id: string
  agent: { id: string; name: string }
  webhookId: string
  createdAt: Date
}

/**
 * The body of a test. It is no event of the agent's log: it has neither a message nor a cursor, and its name
 * says what it is.
 */
export const testPayloadOf = ({ id, agent, webhookId, createdAt }: Test): string =>
  JSON.stringify({
    eventId: askedEventId({ id, agentId: agent.id, eventId: null }),
    name: WEBHOOK_TEST,
    timestamp: createdAt.toISOString(),
    data: { agent: { id: agent.id, name: agent.name }, webhook: { id: webhookId } },
  })
