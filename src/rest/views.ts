import { z } from '@hono/zod-openapi'
import { ICONS } from '../agent/agent.ts'
import { Admission, Admit, Channel, Direction, MemberRole, MessageStatus, Refusal } from '../db/generated/prisma/enums.ts'

/** What the resources look like in answers: the documentation's half of each shape. The operations' present functions make them. */

const id = z.uuid()
const time = z.iso.datetime()

export const AgentView = z.object({ id, name: z.string(), icon: z.enum(ICONS), createdAt: time }).openapi('Agent')

const addressChannel = z.enum(['email', 'sms', 'telegram'])
export const AddressView = z
  .object({
    id,
    channel: addressChannel,
    value: z
      .string()
      .openapi({ description: "Email address, phone number or the bot's @username", example: 'support-bot@agents.localhost' }),
    domainId: id.nullable().openapi({ description: "The workspace's own domain that it is on" }),
    primary: z.boolean().openapi({ description: 'New messages on its channel go out from it' }),
    createdAt: time,
  })
  .openapi('Address')

const CheckView = z.object({ name: z.string(), verdict: z.string(), detail: z.string() }).openapi('Check')

export const MessageView = z
  .object({
    id,
    addressId: id,
    channel: addressChannel,
    direction: z.enum(Direction),
    counterpart: z.string().openapi({ description: 'Who sent an inbound one, or the recipients of an outbound one' }),
    counterpartName: z.string().nullable(),
    to: z.array(z.string()).openapi({ description: 'Whom it names as recipients: not the agent when it got a blind copy' }),
    cc: z.array(z.string()),
    subject: z.string().nullable(),
    text: z.string(),
    replyText: z.string().openapi({ description: 'The text without the history that it quotes' }),
    attachments: z.array(z.object({ name: z.string(), type: z.string(), size: z.int() })),
    thread: z
      .object({ messageId: z.string(), references: z.array(z.string()) })
      .nullable()
      .openapi({ description: 'Of a received email its Message-ID and References; of a sent one those of the email it answered' }),
    status: z.enum(MessageStatus),
    refusal: z.enum(Refusal).nullable(),
    admission: z.enum(Admission).nullable(),
    error: z.string().nullable(),
    checks: z.array(CheckView).openapi({ description: 'The evidence: each check, its verdict, and the rule that decided' }),
    createdAt: time,
  })
  .openapi('Message')

export const TokenView = z
  .object({ id, name: z.string().nullable(), createdAt: time, lastUsedAt: time.nullable(), expiresAt: time.nullable() })
  .openapi('Token')
export const NewTokenView = TokenView.extend({ token: z.string().openapi({ description: 'Shown this once' }) }).openapi('NewToken')

const amount = z.int().min(0)
const limit = amount.nullable().openapi({ description: 'null: no limit' })
const amounts = <Amount extends z.ZodType>(of: Amount) =>
  z.object({ agents: of, members: of, ownDomains: of, webhooks: of, sendsPerDay: of, storedMessages: of })
export const WorkspaceView = z
  .object({
    id,
    name: z.string(),
    plan: z.object({
      key: z.string().openapi({ example: 'unlimited' }),
      limits: amounts(limit),
      usage: amounts(amount).openapi({ description: '`sendsPerDay` counts the last 24 hours' }),
      changeAddress: z.boolean().openapi({ description: 'Whether the address that the service gives an agent can be changed' }),
    }),
    settings: z.object({ agentsMaySetAccess: z.boolean(), agentsMayCreateAgents: z.boolean() }),
    createdAt: time,
  })
  .openapi('Workspace')

export const MemberView = z
  .object({ id, email: z.string(), name: z.string().nullable(), role: z.enum(MemberRole), createdAt: time })
  .openapi('Member')
export const InvitationView = z.object({ id, email: z.string(), role: z.enum(MemberRole), expiresAt: time }).openapi('Invitation')
export const NewInvitationView = InvitationView.extend({ url: z.url() }).openapi('NewInvitation')

export const AccessView = z.object({ admit: z.enum(Admit), senders: z.array(z.string()) }).openapi('Access')
export const AccessByChannelView = z
  .object({ email: AccessView, sms: AccessView, telegram: AccessView, url: AccessView })
  .openapi('AccessByChannel')

export const ConnectionView = z.object({ id, client: z.string(), machine: z.string(), tokenId: id }).openapi('Connection')
export const ListenerView = z
  .object({
    kind: z.enum(['client', 'webhook']),
    client: z.string().optional(),
    machine: z.string().optional(),
    id: id.optional(),
    url: z.string().optional(),
  })
  .openapi('Listener')

export const EventView = z
  .object({
    id: z.int(),
    type: z.literal('message.received'),
    channel: z.enum(Channel),
    messageId: id,
    createdAt: time,
    text: z.string().optional().openapi({ description: 'Of a message that the service keeps no copy of: it comes whole' }),
    sender: z.object({
      id: id.nullable(),
      kind: z.enum(['member', 'agent', 'contact']),
      name: z.string().nullable(),
      email: z.string().nullable(),
      phone: z.string().nullable(),
    }),
  })
  .openapi('Event')

export const SecretView = z
  .object({ name: z.string(), kind: z.literal('secret'), setBy: z.enum(['member', 'agent', 'operator']), updatedAt: time })
  .openapi('Secret')

export const WebhookView = z
  .object({
    id,
    url: z.string(),
    createdAt: time,
    error: z.string().nullable(),
    attempts: z.int(),
    retryAt: time.nullable(),
    lastDeliveredAt: time.nullable(),
  })
  .openapi('Webhook')
export const NewWebhookView = WebhookView.extend({ secret: z.string().openapi({ example: 'whsec_…' }) }).openapi('NewWebhook')

export const DeliveryView = z
  .object({
    id,
    eventId: z.string(),
    status: z.enum(['pending', 'delivered', 'skipped', 'expired']),
    attempts: z.array(z.object({ at: time, status: z.int().optional(), error: z.string().optional(), ms: z.int() })),
  })
  .openapi('Delivery')

export const ErrorView = z.object({ error: z.object({ code: z.string(), message: z.string() }) }).openapi('Error')
export const pageView = <Item extends z.ZodType>(item: Item) => z.object({ items: z.array(item), nextCursor: z.string().nullable() })
