import { graphql, type ResultOf } from '../live/graphql.ts'

/** What a thread shows of a message. */
export const MESSAGE = graphql(`
  fragment ThreadMessage on Message {
    id channel direction status refusal admission error
    agent { id }
    sentBy { kind id name }
    hold { reason until by }
    counterpart counterpartName replyAddress to cc bcc subject text replyText createdAt readAt labels metadata
    checks { name verdict detail }
    codes { value kind }
    recipients { address status detail updatedAt deliveredAt }
    attachments { name type size }
  }
`)

export type ShownMessage = ResultOf<typeof MESSAGE>
