import { z } from 'zod'
import { EVENT_NAMES, type EventType, MESSAGE_RECEIVED } from './event.ts'

/** Event types as agents and listeners choose them. */

const MOST = EVENT_NAMES.length
const rule = `must be one of ${EVENT_NAMES.join(', ')}`

/** Types that an agent's log contains. */
export const eventTypes = z
  .array(z.enum(EVENT_NAMES, rule))
  .max(MOST, `must contain at most ${MOST} event types`)
/** Types that a listener receives. */
export const heardTypes = eventTypes.min(1, 'must contain at least one event type')

/** The same in a URL, separated by commas. */
export const heardTypesInQuery = z.string().transform((value, context): EventType[] => {
  const { data, error } = heardTypes.safeParse(value.split(',').map((name) => name.trim()))
  if (data) return data
  context.addIssue({
    code: 'custom',
    message:
      error.issues[0]!.path.length > 0
        ? `must be one or more of ${EVENT_NAMES.join(', ')}, separated by commas`
        : error.issues[0]!.message,
  })
  return z.NEVER
})

/** What a listener receives that did not ask for types: what every version of the service has sent. */
export const HEARD_BY_DEFAULT: readonly EventType[] = [MESSAGE_RECEIVED]

/** Whether a listener with these types receives the agent's new messages. */
export const hearsMessages = (types: readonly EventType[]): boolean =>
  HEARD_BY_DEFAULT.every((type) => types.includes(type))

/** Returns the types of an agent's log, each once: `message.received` is always among them. */
export const loggedTypes = (types: readonly EventType[]): EventType[] =>
  EVENT_NAMES.filter((name) => HEARD_BY_DEFAULT.includes(name) || types.includes(name))
