import type { Contents } from '../db/payload.ts'
import type { LoggedEvent } from './event.ts'

/** Events in notifications (docs/decisions.md#events-in-notifications). */

/** Returns an event as JSON; null for one whose text is stored nowhere, which other processes get from `Texts`. */
export const contentOf = (event: LoggedEvent): string | null => {
  if (event.channel === 'url') return null
  const { agentId: _, ...content } = event
  return JSON.stringify(content)
}

/** Returns the events of an agent in a notification, in order; null if they must be read from the log. */
export const eventsIn = (contents: Contents | null, agentId: string): LoggedEvent[] | null => {
  const events = contents?.of(agentId) as
    | (Omit<LoggedEvent, 'agentId' | 'createdAt'> & { createdAt: string })[]
    | null
  if (!events) return null
  return events.map((event) => ({ ...event, agentId, createdAt: new Date(event.createdAt) }) as LoggedEvent)
}
