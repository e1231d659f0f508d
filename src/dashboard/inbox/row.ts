import { graphql, type ResultOf } from '../live/graphql.ts'

const THREAD_ROW = graphql(`
  fragment ThreadRow on Thread {
    id agentId channel subject messageCount unreadCount lastActivityAt
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

/** A line of the list: a thread, or a message that was found. */
export interface Row {
  id: string
  threadId: string
  agentId: string
  channel: 'email' | 'sms' | 'telegram'
  who: string
  subject: string | null
  at: string
  isUnread: boolean
  messageCount: number
  /** The newest message, or the one that was found. */
  message: Pick<MessageFields, 'direction' | 'hold' | 'labels' | 'preview' | 'status'> | null
}

export const ofThread = (thread: ThreadFields): Row => ({
  id: thread.id,
  threadId: thread.id,
  agentId: thread.agentId,
  channel: thread.channel,
  who: thread.participants.map(({ name, address }) => name ?? address).join(', '),
  subject: thread.subject ?? null,
  at: thread.lastActivityAt,
  isUnread: thread.unreadCount > 0,
  messageCount: thread.messageCount,
  message: thread.lastMessage ?? null,
})

export const ofMessage = (message: MessageFields): Row => ({
  id: message.id,
  threadId: message.threadId,
  agentId: message.agent.id,
  channel: message.channel,
  who: message.counterpartName ?? message.counterpart,
  subject: message.subject ?? null,
  at: message.createdAt,
  isUnread: message.direction === 'inbound' && message.status === 'received' && message.readAt === null,
  messageCount: 1,
  message,
})
