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

/** One entry of an agent's log. `id` grows by 1 per agent, in the order of commits. */
export interface LoggedEvent {
  agentId: string
  id: number
  type: typeof MESSAGE_RECEIVED
  channel: Channel
  messageId: string
  createdAt: Date
  sender: EventSender
  /** The sender's display name and address, as an email's From shows them. */
  from: string
  subject: string | null
  /** What the agent was called when it happened. Left out where nobody asked the log for it. */
  agentName?: string
  /** The text of a message that the service keeps no copy of: only in memory, only between its arrival and its hand-over. */
  text?: string
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
 * The event's name among all events of all agents: what webhooks carry as `eventId` and `webhook-id`. It ends with the event's id. No
 * dots, because Standard Webhooks signs `id.timestamp.body`.
 */
export const eventIdOf = (event: { agentId: string; id: number }) => `evt_${event.agentId.replaceAll('-', '')}_${event.id}`

/** What the sealed text of a message that is kept nowhere else is bound to. */
export const handoverBinding = (messageId: string) => `url:${messageId}`
