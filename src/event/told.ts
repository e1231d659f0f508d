import type { Told } from '../db/payload.ts'
import type { LoggedEvent } from './event.ts'

/**
 * Events as notifications tell them (docs/decisions.md#told-events).
 */

/** Returns an event as JSON; null for one whose text is nowhere else, which other processes get from `Texts`. */
export const tellEvent = (event: LoggedEvent): string | null => {
  if (event.channel === 'url') return null
  const { agentId: _, ...told } = event
  return JSON.stringify(told)
}

/** Returns the events of an agent that a notification tells, in order; null if they must be read. */
export const toldEvents = (agentId: string, told: Told | null): LoggedEvent[] | null => {
  const events = told?.of(agentId) as
    | (Omit<LoggedEvent, 'agentId' | 'createdAt'> & { createdAt: string })[]
    | null
  if (!events) return null
  return events.map((event) => ({ ...event, agentId, createdAt: new Date(event.createdAt) }) as LoggedEvent)
}
