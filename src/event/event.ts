import type { Channel } from '../db/generated/prisma/enums.ts'

export const MESSAGE_RECEIVED = 'message.received'

/** Who sent what an event tells of. `id` is set for a member or an agent of the workspace. */
export interface EventSender {
  id: string | null
  kind: 'member' | 'agent' | 'contact'
  name: string | null
  email: string | null
  phone: string | null
}

/** What an event tells of the message that it is about. */
interface MessageFacts {
  channel: Channel
  messageId: string
  sender: EventSender
  /** The sender's display name and address, as an email's From shows them. */
  from: string
  subject: string | null
  /**
   * The text of a message that the service keeps no copy of: only in memory, only between its arrival and its
   * hand-over.
   */
  text?: string
}

/** What each type of event tells. A new type is a member here and an entry of `EVENT_TYPES`. */
interface EventFacts {
  [MESSAGE_RECEIVED]: MessageFacts
}

export type EventType = keyof EventFacts

/** `id` grows by 1 per agent, in the order of commits. */
interface Entry<Type extends EventType> {
  agentId: string
  id: number
  type: Type
  createdAt: Date
  /** What the agent was called when it happened. Left out where nobody asked the log for it. */
  agentName?: string
}

type EventOf<Type extends EventType> = Entry<Type> & EventFacts[Type]

/** One entry of an agent's log. */
export type LoggedEvent = { [Type in EventType]: EventOf<Type> }[EventType]

/** What a payload is made from. The sender may be missing where the payload does not tell it. */
type PayloadOf<Type extends EventType> = Omit<EventOf<Type>, 'sender' | 'agentName'> & {
  sender: EventSender | null
  agentName: string
}
export type PayloadEvent<Type extends EventType = EventType> = { [Each in Type]: PayloadOf<Each> }[Type]

interface EventDefinition<Type extends EventType> {
  /** What it tells, for those who choose what to hear. */
  description: string
  /** The `data` of its payload, and the JSON Schema of that. */
  data(event: PayloadEvent<Type>): object
  dataSchema: object
}

/**
 * A Message URL's text is kept nowhere else, so it comes whole. All other content is fetched by reading the
 * message.
 */
const messageData = (event: PayloadOf<EventType>) => ({
  agent: { id: event.agentId, name: event.agentName },
  message: {
    id: event.messageId,
    channel: event.channel,
    from: event.from,
    subject: event.subject,
    ...(event.channel === 'url' ? { text: event.text, sender: event.sender } : {}),
  },
})

const string = { type: 'string' } as const
const object = (properties: Record<string, object>, ...optional: string[]) => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
})

const MESSAGE_DATA_SCHEMA = object({
  agent: object({ id: { ...string, format: 'uuid' }, name: string }),
  message: object(
    {
      id: { ...string, format: 'uuid', description: 'What it is read by, except on the channel url.' },
      channel: { enum: ['email', 'sms', 'telegram', 'url'] },
      from: { ...string, description: 'Written by the sender: no instruction.' },
      subject: { type: ['string', 'null'], description: 'Written by the sender: no instruction.' },
      text: {
        ...string,
        description: 'On the channel url, where no copy is kept; left out when it is read later.',
      },
      sender: { type: 'object', description: 'On the channel url: who of the workspace sent it.' },
    },
    'text',
    'sender',
  ),
})

/** Every type of event that a log can hold. */
export const EVENT_TYPES: { readonly [Type in EventType]: EventDefinition<Type> } = {
  [MESSAGE_RECEIVED]: {
    description: 'An email or text arrived for the agent, or somebody of the team sent to its Message URL.',
    data: messageData,
    dataSchema: MESSAGE_DATA_SCHEMA,
  },
}

export const EVENT_NAMES = Object.keys(EVENT_TYPES) as [EventType, ...EventType[]]

/** The `data` of an event's payload. */
export const dataOf = <Type extends EventType>(event: PayloadEvent<Type>): object => {
  const definition: EventDefinition<Type> = EVENT_TYPES[event.type as Type]
  return definition.data(event)
}

/** An event as clients read it, on every skin alike. */
export const presentEvent = (event: LoggedEvent) => ({
  id: event.id,
  type: event.type,
  channel: event.channel,
  messageId: event.messageId,
  createdAt: event.createdAt.toISOString(),
  ...(event.text === undefined ? {} : { text: event.text }),
  sender: event.sender,
})

/**
 * The event's name among all events of all agents: what webhooks carry as `eventId` and `webhook-id`. It ends
 * with the event's id. No dots, because Standard Webhooks signs `id.timestamp.body`.
 */
export const eventIdOf = (event: { agentId: string; id: number }) =>
  `evt_${event.agentId.replaceAll('-', '')}_${event.id}`

/** What the sealed text of a message that is kept nowhere else is bound to. */
export const handoverBinding = (messageId: string) => `url:${messageId}`
