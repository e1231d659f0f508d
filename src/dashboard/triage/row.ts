import type { Channel } from '../channels/channels.ts'
import { graphql, type ResultOf } from '../live/graphql.ts'

const THREAD_ROW = graphql(`
  fragment ThreadRow on Thread {
    id agentId channel subject messageCount unreadCount lastActivityAt doneAt snoozedUntil
    assignedTo { id name }
    participants { address name }
    lastMessage { id preview direction status labels hold { reason } }
  }
`)

const MESSAGE_ROW = graphql(`
  fragment MessageRow on Message {
    id threadId channel subject preview createdAt readAt counterpart counterpartName
    direction status labels
    agent { id }
    hold { reason }
  }
`)

export { MESSAGE_ROW, THREAD_ROW }

type ThreadFields = ResultOf<typeof THREAD_ROW>
type MessageFields = ResultOf<typeof MESSAGE_ROW>

/** What is known of a thread's state; nothing of the thread of a message that was found. */
export type ThreadState = Partial<Pick<ThreadFields, 'assignedTo' | 'doneAt' | 'snoozedUntil'>>

/** Where a message has the words of a search. */
export type Found = readonly { field: string; parts: readonly FoundPart[] }[]
export interface FoundPart {
  text: string
  matched: boolean
}

/** A line of the list: a thread, or a message that was found. */
export interface Row extends ThreadState {
  id: string
  threadId: string
  agentId: string
  channel: Channel
  who: string
  /** The addresses of the others, and their names. */
  senders: readonly string[]
  people: readonly string[]
  subject: string | null
  at: string
  isUnread: boolean
  messageCount: number
  /** Those of the newest message, or of the one that was found. */
  labels: readonly string[]
  /** The newest message, or the one that was found. */
  message: Pick<MessageFields, 'direction' | 'hold' | 'preview' | 'status'> | null
  /** Where its text has the words that were searched for. */
  found?: readonly FoundPart[] | undefined
}

/** Nothing is known of the thread of a message that was deleted. */
export const stateOf = (thread: Required<ThreadState> | null | undefined): ThreadState =>
  thread ? { doneAt: thread.doneAt, snoozedUntil: thread.snoozedUntil, assignedTo: thread.assignedTo } : {}

export const ofThread = (thread: ThreadFields): Row => ({
  ...stateOf(thread),
  id: thread.id,
  threadId: thread.id,
  agentId: thread.agentId,
  channel: thread.channel,
  who: thread.participants.map(({ name, address }) => name ?? address).join(', '),
  senders: thread.participants.map(({ address }) => address),
  people: thread.participants.flatMap(({ name, address }) => [...(name ? [name] : []), address]),
  subject: thread.subject ?? null,
  at: thread.lastActivityAt,
  isUnread: thread.unreadCount > 0,
  messageCount: thread.messageCount,
  labels: thread.lastMessage?.labels ?? [],
  message: thread.lastMessage ?? null,
})

export const ofMessage = (message: MessageFields, highlights: Found = []): Row => ({
  found: highlights.find(({ field }) => field === 'text')?.parts,
  id: message.id,
  threadId: message.threadId,
  agentId: message.agent.id,
  channel: message.channel,
  who: message.counterpartName ?? message.counterpart,
  senders: [message.counterpart],
  people: [...(message.counterpartName ? [message.counterpartName] : []), message.counterpart],
  subject: message.subject ?? null,
  at: message.createdAt,
  isUnread: message.direction === 'inbound' && message.status === 'received' && message.readAt === null,
  messageCount: 1,
  labels: message.labels,
  message,
})

export const isAway = ({ doneAt, snoozedUntil }: ThreadState): boolean => (doneAt ?? snoozedUntil) != null

/** Whether a message of the thread was received: only then there is something to do. */
export const wasReceived = ({ message, messageCount }: Row): boolean =>
  message?.status === 'received' || messageCount > 1
