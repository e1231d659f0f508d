import { type EventSender, eventIdOf, type LoggedEvent, MESSAGE_RECEIVED } from '../event/event.ts'

/** What a delivery tells of an event. Only a `url` event needs its text and sender. */
export type Told = Omit<LoggedEvent, 'type' | 'sender'> & { sender: EventSender | null }

/**
 * The body of a delivery. The same bytes for the same event and agent on every attempt. The content of an email or text is left out:
 * it is fetched by reading the message. A Message URL's is kept nowhere else, so it comes whole.
 */
export const payloadOf = (event: Told, agent: { id: string; name: string }): string =>
  JSON.stringify({
    eventId: eventIdOf(event),
    name: MESSAGE_RECEIVED,
    timestamp: event.createdAt.toISOString(),
    data: {
      agent: { id: agent.id, name: agent.name },
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
