import type { Check } from '../../channel/inbound.ts'
import type { ChannelKind } from '../../core/channels.ts'
import type { Message } from '../../db/generated/prisma/client.ts'
import { sentByOf } from '../author.ts'
import { type HoldColumns, holdOf } from '../out/hold.ts'
import { segmentsOf } from '../out/segments.ts'
import type { MessageWithFiles } from '../row.ts'

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

const presentHold = (message: HoldColumns) => {
  const hold = holdOf(message)
  return hold && { ...hold, until: hold.until?.toISOString() ?? null }
}

/** The fields of a message that `presentMessage` reads. */
export const PRESENTED_FIELDS = [
  'id',
  'addressId',
  'channel',
  'direction',
  'counterpart',
  'counterpartName',
  'to',
  'cc',
  'subject',
  'text',
  'replyText',
  'threadMessageId',
  'threadReferences',
  'threadId',
  'status',
  'refusal',
  'admission',
  'mayInstruct',
  'error',
  'checks',
  'labels',
  'readAt',
  'holdReason',
  'holdUntil',
  'holdBy',
  'agentId',
  'sentByMemberId',
  'sentByName',
  'createdAt',
  'attachments',
] as const satisfies readonly (keyof MessageWithFiles)[]

export type PresentedMessage = Pick<MessageWithFiles, (typeof PRESENTED_FIELDS)[number]>

/**
 * A message as the API presents it: every field is always present. `replyText`, `segments`, `checks`,
 * `labels`, `readAt` and `hold` go beyond the original specification.
 */
export const presentMessage = (message: PresentedMessage) => ({
  id: message.id,
  addressId: message.addressId,
  channel: message.channel as ChannelKind,
  direction: message.direction,
  counterpart: message.counterpart,
  counterpartName: message.counterpartName,
  to: message.to,
  cc: message.cc,
  subject: message.subject,
  text: message.text,
  replyText: message.replyText ?? message.text,
  segments: segmentsOf(message),
  attachments: message.attachments.map(({ name, type, size }) => ({ name, type, size })),
  thread: threadOf(message),
  threadId: message.threadId,
  status: message.status,
  refusal: message.refusal,
  admission: message.admission,
  mayInstruct: message.mayInstruct,
  error: message.error,
  checks: message.checks as unknown as Check[],
  labels: message.labels,
  readAt: message.readAt?.toISOString() ?? null,
  hold: presentHold(message),
  sentBy: sentByOf(message),
  createdAt: message.createdAt.toISOString(),
})
