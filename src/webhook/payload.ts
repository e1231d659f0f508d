import { type EventSender, eventIdOf, type LoggedEvent, MESSAGE_RECEIVED } from '../event/event.ts'

/** What a delivery tells of an event. Only a `url` event needs its text and sender. */
export type Told = Omit<LoggedEvent, 'type' | 'sender' | 'agentName'> & { sender: EventSender | null; agentName: string }

/**
 * The body of a delivery. The same bytes on every attempt, whatever has changed since the event. The content of an email or text is left out:
 * it is fetched by reading the message. A Message URL's is kept nowhere else, so it comes whole.
 */
export const payloadOf = (event: Told): string =>
  JSON.stringify({
    eventId: eventIdOf(event),
    name: MESSAGE_RECEIVED,
    timestamp: event.createdAt.toISOString(),
    data: {
      agent: { id: event.agentId, name: event.agentName },
      message: {
        id: event.messageId,
        channel: event.channel,
        from: event.from,
        subject: event.subject,
        ...(event.channel === 'url' ? { text: event.text, sender: event.sender } : {}),
      },
    },
    cursor: String(event.id),
  })

const WEBHOOK_TEST = 'webhook.test'

/** What a delivery that somebody asked for is known by: its event's name among all events, or one of the test's own. */
export const askedEventId = ({ id, agentId, eventId }: { id: string; agentId: string; eventId: number | null }): string =>
  eventId === null ? `test_${id.replaceAll('-', '')}` : eventIdOf({ agentId, id: eventId })

export interface Test {
  /** The job's. */
  id: string
  agent: { id: string; name: string }
  webhookId: string
  createdAt: Date
}

/** The body of a test. It is no event of the agent's log: it has neither a message nor a cursor, and its name says what it is. */
export const testPayloadOf = ({ id, agent, webhookId, createdAt }: Test): string =>
  JSON.stringify({
    eventId: askedEventId({ id, agentId: agent.id, eventId: null }),
    name: WEBHOOK_TEST,
    timestamp: createdAt.toISOString(),
    data: { agent: { id: agent.id, name: agent.name }, webhook: { id: webhookId } },
  })
