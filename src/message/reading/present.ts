import { type Message, Prisma } from '../../db/generated/prisma/client.ts'
import type { MessageWithFiles } from '../stored/row.ts'

const bracketed = (id: string) => `<${id}>`

/** Returns `thread` as the API presents it: ids as in the email's headers, or null when there are none. */
export const threadOf = ({
  threadMessageId,
  threadReferences,
}: Pick<Message, 'threadMessageId' | 'threadReferences'>) =>
  threadMessageId === null && threadReferences.length === 0
    ? null
    : {
        messageId: threadMessageId === null ? '' : bracketed(threadMessageId),
        references: threadReferences.map(bracketed),
      }

/** Returns the text without quoted history, which is stored only where it differs. */
export const replyTextOf = ({ replyText, text }: Pick<Message, 'replyText' | 'text'>): string =>
  replyText ?? text

/** Columns that the API does not show: contents that are long, and what is for the service alone. */
const HIDDEN = [
  'workspaceId',
  'replyAddress',
  'proven',
  'instructor',
  'html',
  'internetMessageId',
  'replyToId',
  'forwardOfId',
  'fingerprint',
  'signedContent',
  'sendAt',
  'handled',
] as const satisfies readonly (keyof Message)[]
type Hidden = (typeof HIDDEN)[number]

/** What is read of the messages in a list. */
export type PresentedMessage = Omit<MessageWithFiles, Hidden>

const isHidden = (field: keyof Message): field is Hidden => HIDDEN.some((hidden) => hidden === field)

export const PRESENTED_FIELDS: readonly (keyof PresentedMessage)[] = [
  ...Object.values(Prisma.MessageScalarFieldEnum).filter((field) => !isHidden(field)),
  ...(['attachments', 'mayInstruct'] as const),
]
