import { z } from '@hono/zod-openapi'
import { MAX_LABELS } from '../../core/rules.ts'
import {
  Admission,
  Direction,
  HoldReason,
  MessageStatus,
  RecipientStatus,
  Refusal,
} from '../../db/generated/prisma/enums.ts'
import { addressChannel, count, ID, id, OTHER, TIME, time } from '../views.ts'

const CheckView = z.object({ name: z.string(), verdict: z.string(), detail: z.string() }).openapi('Check', {
  example: { name: 'dmarc', verdict: 'pass', detail: 'DKIM of example.com, aligned with From' },
})

const AttachmentView = z.object({
  name: z.string(),
  type: z.string().openapi({ description: 'Media type' }),
  size: count.openapi({ description: 'In bytes' }),
})

const HoldView = z
  .object({
    reason: z.enum(HoldReason).openapi({ description: "A member's approval, or its time" }),
    until: time.nullable().openapi({
      description: 'When it is sent (schedule) or rejected (approval); null once that was decided',
    }),
    by: z
      .string()
      .nullable()
      .openapi({ description: 'Who approved, rejected or cancelled it; null if nobody did' }),
  })
  .openapi('Hold', { example: { reason: 'approval', until: TIME, by: null } })

/** Not a component: it would have the description of the field that is documented first. */
const authorView = (description: string) =>
  z
    .object({
      kind: z.enum(['agent', 'member']),
      id,
      name: z.string().openapi({ description: 'The name that it had then, or else the email address' }),
    })
    .nullable()
    .openapi({ description, example: { kind: 'member', id: OTHER, name: 'Ann Example' } })

const EXAMPLE = {
  id: ID,
  addressId: OTHER,
  channel: 'email',
  direction: 'inbound',
  counterpart: 'ann@example.com',
  counterpartName: 'Ann Example',
  to: ['support-bot@agents.localhost'],
  cc: [],
  subject: 'Where is my order?',
  text: 'It has not arrived yet.',
  replyText: 'It has not arrived yet.',
  segments: null,
  attachments: [{ name: 'receipt.pdf', type: 'application/pdf', size: 48213 }],
  thread: { messageId: '<order-1@example.com>', references: [] },
  threadId: OTHER,
  status: 'received',
  refusal: null,
  admission: 'listed',
  mayInstruct: false,
  error: null,
  checks: [{ name: 'dmarc', verdict: 'pass', detail: 'DKIM of example.com, aligned with From' }],
  labels: ['orders'],
  readAt: null,
  hold: null,
  sentBy: null,
  createdAt: TIME,
} as const

export const MessageView = z
  .object({
    id,
    addressId: id,
    channel: addressChannel,
    direction: z.enum(Direction),
    counterpart: z
      .string()
      .openapi({ description: 'The sender of an inbound message, or the recipients of an outbound one' }),
    counterpartName: z.string().nullable().openapi({ description: "The counterpart's display name" }),
    to: z
      .array(z.string())
      .openapi({ description: 'The To recipients; they do not include an agent that received a blind copy' }),
    cc: z.array(z.string()),
    subject: z.string().nullable(),
    text: z.string(),
    replyText: z.string().openapi({ description: 'The text without quoted history' }),
    segments: z
      .int()
      .min(1)
      .nullable()
      .openapi({ description: 'Number of SMS segments; null on other channels' }),
    attachments: z.array(AttachmentView),
    thread: z
      .object({
        messageId: z.string().openapi({ description: 'Empty if there is none' }),
        references: z.array(z.string()),
      })
      .nullable()
      .openapi({
        description:
          'For a received email, its Message-ID and References; for a sent email, those of the email it replied to',
      }),
    threadId: id.openapi({ description: 'The same for all messages of a conversation' }),
    status: z.enum(MessageStatus),
    refusal: z.enum(Refusal).nullable().openapi({ description: 'Why an inbound message was refused' }),
    mayInstruct: z.boolean().openapi({
      description:
        "Whether its sender may instruct the agent: proven, and among those whom the agent's setting `instructors` names now",
    }),
    admission: z
      .enum(Admission)
      .nullable()
      .openapi({ description: 'How the sender of a received message was admitted' }),
    error: z.string().nullable().openapi({ description: 'Why the message could not be sent or delivered' }),
    checks: z
      .array(CheckView)
      .openapi({ description: 'The checks that were made, each with its verdict; the last one decided' }),
    labels: z.array(z.string()).openapi({ maxItems: MAX_LABELS }),
    readAt: time.nullable().openapi({
      description: 'When the message was marked as read. A received message without it is unread',
    }),
    hold: HoldView.nullable().openapi({
      description:
        'What an outgoing message waits for or waited for; null when it was sent at once. While it waits, its status is `sending`',
    }),
    sentBy: authorView(
      'Who sent it: the agent or a member. Null for received and imported messages, and for those sent before this was recorded',
    ),
    createdAt: time,
  })
  .openapi('Message', { example: EXAMPLE })

/** A message in the list of a workspace. */
export const WorkspaceMessageView = MessageView.extend({
  agentId: id.openapi({ description: 'The agent whose message it is' }),
}).openapi('WorkspaceMessage', { example: { ...EXAMPLE, agentId: OTHER } })

export const MessageMarksView = z
  .object({ id, labels: z.array(z.string()).openapi({ maxItems: MAX_LABELS }), readAt: time.nullable() })
  .openapi('MessageMarks', { example: { id: ID, labels: ['orders'], readAt: TIME } })

export const HeaderFieldView = z
  .object({
    name: z.string().openapi({ description: 'As written by the sender' }),
    value: z.string().openapi({ description: 'Decoded, on one line' }),
  })
  .openapi('HeaderField', { example: { name: 'Subject', value: 'Where is my order?' } })

export const RecipientView = z
  .object({
    address: z.string(),
    status: z.enum(RecipientStatus),
    detail: z
      .string()
      .nullable()
      .openapi({ description: 'The last error reply of the receiving side, if any' }),
    deliveredAt: time
      .nullable()
      .openapi({ description: 'When its delivery was reported, which SMS providers do' }),
    updatedAt: time,
  })
  .openapi('Recipient', {
    example: {
      address: 'ann@example.com',
      status: 'failed',
      detail: '550 5.1.1 No such user',
      deliveredAt: null,
      updatedAt: TIME,
    },
  })

const FILE_URL = `https://messages.example.com/files/${ID}/0?expires=1767225600&signature=${'x'.repeat(43)}`

export const AttachmentLinkView = z
  .object({
    url: z.string().openapi({
      format: 'uri',
      description: 'The URL from which anyone who has it can download the file, or show the mail',
    }),
    expiresAt: time,
  })
  .openapi('AttachmentLink', { example: { url: FILE_URL, expiresAt: TIME } })
