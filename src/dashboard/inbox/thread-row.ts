import { graphql, type ResultOf } from '../live/graphql.ts'

/** What a row of the list shows of a thread. */
export const THREAD_ROW = graphql(`
  fragment ThreadRow on Thread {
    id agentId channel subject messageCount unreadCount lastActivityAt
    participants { address name }
    lastMessage { id direction status labels hold { reason } }
  }
`)

export type ThreadRow = ResultOf<typeof THREAD_ROW>
