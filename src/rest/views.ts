import { z } from '@hono/zod-openapi'
import { ICONS } from '../agent/agent.ts'
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

/** What the resources look like in answers: the documentation's half of each shape. The operations' present functions make them. */

export const id = z.string().openapi({ format: 'uuid' })
export const time = z.string().openapi({ format: 'date-time' })
export const count = z.int().min(0)

/** The ids and times of the examples. */
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
  .object({ id, name: z.string().openapi({ minLength: 1, maxLength: 100 }), icon: z.enum(ICONS), createdAt: time })
  .openapi('Agent', { example: { id: ID, name: 'Support Bot', icon: 'headphones', createdAt: TIME } })

const addressChannel = z.enum(['email', 'sms', 'telegram'])
export const AddressView = z
  .object({
    id,
    channel: addressChannel,
    value: z
      .string()
      .openapi({ description: "Email address, phone number or the bot's @username", example: 'support-bot@agents.localhost' }),
    domainId: id.nullable().openapi({ description: "The workspace's own domain that it is on; null: the service's, or no email" }),
    primary: z.boolean().openapi({ description: 'New messages on its channel go out from it' }),
    createdAt: time,
  })
  .openapi('Address', {
    example: { id: OTHER, channel: 'email', value: 'support-bot@agents.localhost', domainId: null, primary: true, createdAt: TIME },
  })

const CheckView = z
  .object({ name: z.string(), verdict: z.string(), detail: z.string() })
  .openapi('Check', { example: { name: 'dmarc', verdict: 'pass', detail: 'DKIM of example.com, aligned with From' } })

export const MessageView = z
  .object({
    id,
    addressId: id,
    channel: addressChannel,
    direction: z.enum(Direction),
    counterpart: z.string().openapi({ description: 'Who sent an inbound one, or the recipients of an outbound one' }),
    counterpartName: z.string().nullable().openapi({ description: 'What the counterpart calls itself' }),
    to: z.array(z.string()).openapi({ description: 'Whom it names as recipients: not the agent when it got a blind copy' }),
    cc: z.array(z.string()),
    subject: z.string().nullable(),
    text: z.string(),
    replyText: z.string().openapi({ description: 'The text without the history that it quotes' }),
    segments: z.int().min(1).nullable().openapi({ description: 'In how many parts it is sent as SMS; null on other channels' }),
    attachments: z.array(
      z.object({
        name: z.string(),
        type: z.string().openapi({ description: 'Media type' }),
        size: count.openapi({ description: 'In bytes' }),
      }),
    ),
    thread: z
      .object({ messageId: z.string().openapi({ description: 'Empty where it has none' }), references: z.array(z.string()) })
      .nullable()
      .openapi({ description: 'Of a received email its Message-ID and References; of a sent one those of the email it answered' }),
    status: z.enum(MessageStatus),
    refusal: z.enum(Refusal).nullable().openapi({ description: 'Which rule refused an inbound message' }),
    admission: z.enum(Admission).nullable().openapi({ description: 'Who the sender of a received message is' }),
    error: z.string().nullable().openapi({ description: 'Why a failed message was not sent or did not arrive' }),
    checks: z.array(CheckView).openapi({ description: 'The evidence: each check, its verdict, and the rule that decided' }),
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
    detail: z.string().nullable().openapi({ description: "The other side's last words, where it said no" }),
    updatedAt: time,
  })
  .openapi('Recipient', { example: { address: 'ann@example.com', status: 'failed', detail: '550 5.1.1 No such user', updatedAt: TIME } })
export const SuppressionView = z
  .object({
    channel: z.enum(Channel),
    recipient: z.string(),
    reason: z.enum(SuppressionReason),
    detail: z.string().openapi({ description: "The other side's words" }),
    createdAt: time,
  })
  .openapi('Suppression', {
    example: { channel: 'email', recipient: 'ann@example.com', reason: 'bounce', detail: '550 5.1.1 No such user', createdAt: TIME },
  })

const TOKEN = { id: ID, name: 'laptop', createdAt: TIME, lastUsedAt: null, expiresAt: null }
export const TokenView = z
  .object({
    id,
    name: z.string().nullable(),
    createdAt: time,
    lastUsedAt: time.nullable().openapi({ description: 'To the minute' }),
    expiresAt: time.nullable().openapi({ description: 'null: never' }),
  })
  .openapi('Token', { example: TOKEN })
export const NewTokenView = TokenView.extend({
  token: z.string().openapi({ description: 'Shown this once', pattern: '^a[am]t_[0-9A-Za-z]{43}$' }),
}).openapi('NewToken', { example: { ...TOKEN, token: `aat_${'x'.repeat(43)}` } })

const limit = count.nullable().openapi({ description: 'null: no limit' })
const amounts = <Amount extends z.ZodType>(of: Amount) =>
  z.object({ agents: of, members: of, ownDomains: of, webhooks: of, sendsPerDay: of, storedMessages: of, phoneNumbers: of })
export const WorkspaceView = z
  .object({
    id,
    name: z.string(),
    plan: z.object({
      key: z.string().openapi({ example: 'unlimited' }),
      limits: amounts(limit),
      usage: amounts(count).openapi({ description: '`sendsPerDay` counts the last 24 hours' }),
      changeAddress: z.boolean().openapi({ description: 'Whether the address that the service gives an agent can be changed' }),
    }),
    settings: z.object({ agentsMaySetAccess: z.boolean(), agentsMayCreateAgents: z.boolean() }),
    createdAt: time,
  })
  .openapi('Workspace', {
    example: {
      id: ID,
      name: 'Acme',
      plan: {
        key: 'free',
        limits: { agents: 3, members: 3, ownDomains: 0, webhooks: 3, sendsPerDay: 100, storedMessages: 5000, phoneNumbers: 1 },
        usage: { agents: 1, members: 2, ownDomains: 0, webhooks: 1, sendsPerDay: 12, storedMessages: 340, phoneNumbers: 0 },
        changeAddress: false,
      },
      settings: { agentsMaySetAccess: true, agentsMayCreateAgents: true },
      createdAt: TIME,
    },
  })

export const MemberView = z
  .object({ id, email: z.string(), name: z.string().nullable(), role: z.enum(MemberRole), createdAt: time })
  .openapi('Member', { example: { id: ID, email: 'ann@example.com', name: 'Ann Example', role: 'owner', createdAt: TIME } })
const INVITATION = { id: ID, email: 'bo@example.com', role: 'member', expiresAt: LATER } as const
export const InvitationView = z
  .object({ id, email: z.string(), role: z.enum(MemberRole), expiresAt: time })
  .openapi('Invitation', { example: INVITATION })
export const NewInvitationView = InvitationView.extend({
  url: z.string().openapi({ format: 'uri', description: 'The link that was mailed: it works once' }),
}).openapi('NewInvitation', { example: { ...INVITATION, url: `https://messages.example.com/join/ait_${'x'.repeat(43)}` } })

export const SetupView = z
  .object({ url: z.string().openapi({ format: 'uri', description: 'Where a member sets the address up: once, within an hour' }) })
  .openapi('Setup', { example: { url: `https://messages.example.com/setup/ast_${'x'.repeat(43)}` } })

const FILE_URL = `https://messages.example.com/files/${ID}/0?expires=1767225600&signature=${'x'.repeat(43)}`
export const AttachmentLinkView = z
  .object({ url: z.string().openapi({ format: 'uri', description: 'Where the file is, for whoever has the link' }), expiresAt: time })
  .openapi('AttachmentLink', { example: { url: FILE_URL, expiresAt: TIME } })

const LIST = { admit: 'list', senders: ['ann@example.com', '*@example.org'] } as const
export const AccessView = z
  .object({
    admit: z.enum(Admit).openapi({
      description: '`list`: only the listed senders; `team`: the members and agents of the workspace too; `anyone`: everybody',
    }),
    senders: z.array(z.string()).openapi({ maxItems: 1000 }),
  })
  .openapi('Access', { example: LIST })
export const AccessByChannelView = z
  .object({ email: AccessView, sms: AccessView, telegram: AccessView, url: AccessView })
  .openapi('AccessByChannel', {
    example: {
      email: LIST,
      sms: { admit: 'team', senders: [] },
      telegram: { admit: 'list', senders: [] },
      url: { admit: 'list', senders: [ID] },
    },
  })

export const ConnectionView = z
  .object({
    id: id.openapi({ description: "What the agent's event stream is opened with" }),
    client: z.string(),
    machine: z.string(),
    tokenId: id.openapi({ description: "The agent's token that it connected with" }),
  })
  .openapi('Connection', { example: { id: ID, client: 'my-agent/1.0', machine: 'laptop', tokenId: OTHER } })
export const ListenerView = z
  .object({
    kind: z.enum(['client', 'webhook']),
    client: z.string().optional().openapi({ description: 'Of a client' }),
    machine: z.string().optional().openapi({ description: 'Of a client' }),
    id: id.optional().openapi({ description: 'Of a webhook' }),
    url: z.string().optional().openapi({ description: 'Of a webhook' }),
  })
  .openapi('Listener', { example: { kind: 'client', client: 'my-agent/1.0', machine: 'laptop' } })

export const EventView = z
  .object({
    id: z.int().min(1).openapi({ maximum: Number.MAX_SAFE_INTEGER, description: 'Grows by 1 for each event of the agent' }),
    type: z.literal('message.received'),
    channel: z.enum(Channel),
    messageId: id,
    createdAt: time,
    text: z.string().optional().openapi({ description: 'Of a message that the service keeps no copy of: it comes whole' }),
    sender: z.object({
      id: id.nullable().openapi({ description: 'Of a member or an agent of the workspace, when that is proven' }),
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
    nextCursor: z.string().nullable().openapi({ description: '`cursor` of the next page; null: this was the last' }),
  })
