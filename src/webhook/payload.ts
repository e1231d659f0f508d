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
