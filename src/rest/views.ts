import { z } from '@hono/zod-openapi'
import { ICONS } from '../agent/agent.ts'
import { CHANNEL_KINDS, WAYS_IN } from '../core/channels.ts'
import type { ErrorCode } from '../core/errors.ts'
import {
  Admission,
  Admit,
  Channel,
  Direction,
  MemberRole,
  MessageStatus,
  RecipientStatus,
  Refusal,
  SuppressionReason,
} from '../db/generated/prisma/enums.ts'
import { EVENT_NAMES } from '../event/event.ts'

/**
 * Schemas of the resources in responses, for the documentation. The operations' `present…` functions create
 * the values.
 */

export const id = z.string().openapi({ format: 'uuid' })
export const time = z.string().openapi({ format: 'date-time' })
export const count = z.int().min(0)

/** Ids and times in examples. */
export const ID = '0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b'
export const OTHER = '0193a5c2-9d20-7f4b-8a11-5e6f7a8b9c0d'
export const TIME = '2026-11-20T09:30:00.000Z'
export const LATER = '2026-11-27T09:30:00.000Z'

export const ERROR_CODES = [
  'invalid_input',
  'unauthorized',
  'forbidden',
  'plan_limit',
  'not_found',
  'conflict',
  'rate_limited',
  'internal',
  'unavailable',
] as const satisfies readonly ErrorCode[]

export const AgentView = z
  .object({
    id,
    name: z.string().openapi({ minLength: 1, maxLength: 100 }),
    icon: z.enum(ICONS),
    createdAt: time,
  })
  .openapi('Agent', { example: { id: ID, name: 'Support Bot', icon: 'headphones', createdAt: TIME } })

const addressChannel = z.enum(CHANNEL_KINDS)
export const AddressView = z
  .object({
    id,
    channel: addressChannel,
    value: z.string().openapi({
      description: "Email address, phone number or the bot's @username",
      example: 'support-bot@agents.localhost',
    }),
    domainId: id.nullable().openapi({
      description:
        "The workspace's own domain that the address belongs to; null for the service's domain and for other channels",
    }),
    primary: z.boolean().openapi({ description: 'Whether new messages on this channel are sent from it' }),
    createdAt: time,
  })
  .openapi('Address', {
    example: {
      id: OTHER,
      channel: 'email',
      value: 'support-bot@agents.localhost',
      domainId: null,
      primary: true,
      createdAt: TIME,
    },
  })

const CheckView = z.object({ name: z.string(), verdict: z.string(), detail: z.string() }).openapi('Check', {
  example: { name: 'dmarc', verdict: 'pass', detail: 'DKIM of example.com, aligned with From' },
})

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
    attachments: z.array(
      z.object({
        name: z.string(),
        type: z.string().openapi({ description: 'Media type' }),
        size: count.openapi({ description: 'In bytes' }),
      }),
    ),
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
    status: z.enum(MessageStatus),
    refusal: z.enum(Refusal).nullable().openapi({ description: 'Why an inbound message was refused' }),
    admission: z
      .enum(Admission)
      .nullable()
      .openapi({ description: 'How the sender of a received message was admitted' }),
    error: z.string().nullable().openapi({ description: 'Why the message could not be sent or delivered' }),
    checks: z
      .array(CheckView)
      .openapi({ description: 'The checks that were made, each with its verdict; the last one decided' }),
    createdAt: time,
  })
  .openapi('Message', {
    example: {
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
      thread: { messageId: 'order-1@example.com', references: [] },
      status: 'received',
      refusal: null,
      admission: 'listed',
      error: null,
      checks: [{ name: 'dmarc', verdict: 'pass', detail: 'DKIM of example.com, aligned with From' }],
      createdAt: TIME,
    },
  })

export const RecipientView = z
  .object({
    address: z.string(),
    status: z.enum(RecipientStatus),
    detail: z
      .string()
      .nullable()
      .openapi({ description: 'The last error reply of the receiving side, if any' }),
    updatedAt: time,
  })
  .openapi('Recipient', {
    example: {
      address: 'ann@example.com',
      status: 'failed',
      detail: '550 5.1.1 No such user',
      updatedAt: TIME,
    },
  })
export const SuppressionView = z
  .object({
    channel: z.enum(Channel),
    recipient: z.string(),
    reason: z.enum(SuppressionReason),
    detail: z.string().openapi({ description: 'The reply of the receiving side' }),
    createdAt: time,
  })
  .openapi('Suppression', {
    example: {
      channel: 'email',
      recipient: 'ann@example.com',
      reason: 'bounce',
      detail: '550 5.1.1 No such user',
      createdAt: TIME,
    },
  })

const TOKEN = { id: ID, name: 'laptop', createdAt: TIME, lastUsedAt: null, expiresAt: null }
export const TokenView = z
  .object({
    id,
    name: z.string().nullable(),
    createdAt: time,
    lastUsedAt: time.nullable().openapi({ description: 'Accurate to the minute' }),
    expiresAt: time.nullable().openapi({ description: 'null: never' }),
  })
  .openapi('Token', { example: TOKEN })
export const NewTokenView = TokenView.extend({
  token: z.string().openapi({ description: 'Shown only once', pattern: '^a[am]t_[0-9A-Za-z]{43}$' }),
}).openapi('NewToken', { example: { ...TOKEN, token: `aat_${'x'.repeat(43)}` } })

const limit = count.nullable().openapi({ description: 'null means no limit' })
const amounts = <Amount extends z.ZodType>(of: Amount) =>
  z.object({
    agents: of,
    members: of,
    ownDomains: of,
    webhooks: of,
    sendsPerDay: of,
    storedMessages: of,
    phoneNumbers: of,
  })
export const WorkspaceView = z
  .object({
    id,
    name: z.string(),
    plan: z.object({
      key: z.string().openapi({ example: 'unlimited' }),
      limits: amounts(limit),
      usage: amounts(count).openapi({
        description:
          '`sendsPerDay` counts the last 24 hours; `storedMessages` does not count refused messages',
      }),
      changeAddress: z.boolean().openapi({
        description: 'Whether the email address that the service assigns to an agent can be changed',
      }),
    }),
    settings: z.object({
      agentsMaySetAccess: z.boolean(),
      agentsMayCreateAgents: z.boolean(),
      keepRefusedDays: count,
    }),
    createdAt: time,
  })
  .openapi('Workspace', {
    example: {
      id: ID,
      name: 'Acme',
      plan: {
        key: 'free',
        limits: {
          agents: 3,
          members: 3,
          ownDomains: 0,
          webhooks: 3,
          sendsPerDay: 100,
          storedMessages: 5000,
          phoneNumbers: 1,
        },
        usage: {
          agents: 1,
          members: 2,
          ownDomains: 0,
          webhooks: 1,
          sendsPerDay: 12,
          storedMessages: 340,
          phoneNumbers: 0,
        },
        changeAddress: false,
      },
      settings: { agentsMaySetAccess: true, agentsMayCreateAgents: true, keepRefusedDays: 30 },
      createdAt: TIME,
    },
  })

export const MemberView = z
  .object({ id, email: z.string(), name: z.string().nullable(), role: z.enum(MemberRole), createdAt: time })
  .openapi('Member', {
    example: { id: ID, email: 'ann@example.com', name: 'Ann Example', role: 'owner', createdAt: TIME },
  })
const INVITATION = { id: ID, email: 'bo@example.com', role: 'member', expiresAt: LATER } as const
export const InvitationView = z
  .object({ id, email: z.string(), role: z.enum(MemberRole), expiresAt: time })
  .openapi('Invitation', { example: INVITATION })
export const NewInvitationView = InvitationView.extend({
  url: z.string().openapi({
    format: 'uri',
    description: 'The invitation link, which was also sent by email; it can be used once',
  }),
}).openapi('NewInvitation', {
  example: { ...INVITATION, url: `https://messages.example.com/join/ait_${'x'.repeat(43)}` },
})

export const SetupView = z
  .object({
    url: z.string().openapi({
      format: 'uri',
      description: 'The page on which a member sets up the address; it can be used once, within an hour',
    }),
  })
  .openapi('Setup', { example: { url: `https://messages.example.com/setup/ast_${'x'.repeat(43)}` } })

const FILE_URL = `https://messages.example.com/files/${ID}/0?expires=1767225600&signature=${'x'.repeat(43)}`
export const AttachmentLinkView = z
  .object({
    url: z
      .string()
      .openapi({ format: 'uri', description: 'The URL from which anyone who has it can download the file' }),
    expiresAt: time,
  })
  .openapi('AttachmentLink', { example: { url: FILE_URL, expiresAt: TIME } })

const LIST = { admit: 'list', senders: ['ann@example.com', '*@example.org'] } as const
export const AccessView = z
  .object({
    admit: z.enum(Admit).openapi({
      description:
        '`list`: only the listed senders; `team`: also the members and agents of the workspace; `anyone`: all senders',
    }),
    senders: z.array(z.string()).openapi({ maxItems: 1000 }),
  })
  .openapi('Access', { example: LIST })
const SENDERS = { email: LIST.senders, id: [ID] }
const forEach = <Value>(of: (way: (typeof WAYS_IN)[Channel]) => Value) =>
  Object.fromEntries(Object.entries(WAYS_IN).map(([channel, way]) => [channel, of(way)])) as Record<
    Channel,
    Value
  >
export const AccessByChannelView = z.object(forEach(() => AccessView)).openapi('AccessByChannel', {
  example: forEach(({ admit, creator }) => ({ admit, senders: creator === null ? [] : SENDERS[creator] })),
})

export const ConnectionView = z
  .object({
    id: id.openapi({ description: "The id with which the agent's event stream is opened" }),
    client: z.string(),
    machine: z.string(),
    tokenId: id.openapi({ description: "The agent's token that it connected with" }),
  })
  .openapi('Connection', { example: { id: ID, client: 'my-agent/1.0', machine: 'laptop', tokenId: OTHER } })
export const ListenerView = z
  .object({
    kind: z.enum(['client', 'webhook']),
    client: z.string().optional().openapi({ description: 'For a client' }),
    machine: z.string().optional().openapi({ description: 'For a client' }),
    id: id.optional().openapi({ description: 'For a webhook' }),
    url: z.string().optional().openapi({ description: 'For a webhook' }),
  })
  .openapi('Listener', { example: { kind: 'client', client: 'my-agent/1.0', machine: 'laptop' } })

export const EventView = z
  .object({
    id: z.int().min(1).openapi({
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Increases by 1 with each event of the agent',
    }),
    type: z.enum(EVENT_NAMES),
    channel: z.enum(Channel),
    messageId: id,
    createdAt: time,
    text: z
      .string()
      .optional()
      .openapi({ description: 'The full text of a message that the service does not store' }),
    sender: z.object({
      id: id
        .nullable()
        .openapi({ description: 'The id of a member or an agent of the workspace, if verified' }),
      kind: z.enum(['member', 'agent', 'contact']),
      name: z.string().nullable(),
      email: z.string().nullable(),
      phone: z.string().nullable(),
    }),
  })
  .openapi('Event', {
    example: {
      id: 42,
      type: 'message.received',
      channel: 'email',
      messageId: ID,
      createdAt: TIME,
      sender: { id: null, kind: 'contact', name: 'Ann Example', email: 'ann@example.com', phone: null },
    },
  })

export const SecretView = z
  .object({
    name: z.string().openapi({ pattern: '^[A-Za-z0-9_.-]{1,128}$' }),
    kind: z.literal('secret'),
    setBy: z.enum(['member', 'agent', 'operator']),
    updatedAt: time,
  })
  .openapi('Secret', { example: { name: 'STRIPE_KEY', kind: 'secret', setBy: 'member', updatedAt: TIME } })

export const pageView = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: z.array(item).openapi({ maxItems: 100 }),
    nextCursor: z
      .string()
      .nullable()
      .openapi({ description: 'Pass it as `cursor` to get the next page; null on the last page' }),
  })
