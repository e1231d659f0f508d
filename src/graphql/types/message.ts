import { findAgent, findAgents } from '../../agent/permission.ts'
import { CHANNELS, type ChannelKind } from '../../core/channels.ts'
import { notFound } from '../../core/errors.ts'
import { sentByOf } from '../../message/author.ts'
import { type Hold, holdOf } from '../../message/out/hold.ts'
import { segmentsOf } from '../../message/out/segments.ts'
import { type presentMessage, threadOf } from '../../message/reading/present.ts'
import { readPreviews } from '../../message/reading/preview.ts'
import { builder } from '../builder.ts'
import { batched } from '../execution/batch.ts'
import type { GraphqlContext } from '../execution/context.ts'
import { readInTurn } from '../execution/limits.ts'
import { Agent } from './agent.ts'
import { ATTACHMENT, Attachment, hasAttachments } from './attachment.ts'
import { Author } from './author.ts'
import {
  AddressChannel,
  Admission,
  Direction,
  HoldReason,
  MessageStatus,
  RecipientStatus,
  Refusal,
} from './enums.ts'

const Recipient = builder.prismaObject('Recipient', {
  description: 'The status of a sent message for one recipient.',
  fields: (t) => ({
    address: t.exposeString('address', { description: 'The recipient.' }),
    status: t.expose('status', { type: RecipientStatus, description: 'The current status.' }),
    detail: t.exposeString('detail', {
      nullable: true,
      description: 'The last error reply of the receiving side, if any.',
    }),
    deliveredAt: t.expose('deliveredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its delivery was reported, which SMS providers do; null if it was not.',
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the status last changed.' }),
  }),
})

type CheckShape = ReturnType<typeof presentMessage>['checks'][number]

const Check = builder.objectRef<CheckShape>('Check').implement({
  description: 'A check that was made when a message was received or refused.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the check.' }),
    verdict: t.exposeString('verdict', { description: 'The result of the check.' }),
    detail: t.exposeString('detail', { description: 'The reason.' }),
  }),
})

export const HoldObject = builder.objectRef<Hold>('Hold').implement({
  description: 'What an outgoing message waits for or waited for.',
  fields: (t) => ({
    reason: t.expose('reason', { type: HoldReason, description: 'What it waits for.' }),
    until: t.expose('until', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is sent (schedule) or rejected (approval); null once that was decided.',
    }),
    by: t.exposeString('by', {
      nullable: true,
      description: 'Who approved, rejected or cancelled it; null if nobody did.',
    }),
  }),
})

const ThreadHeaders = builder
  .objectRef<{ messageId: string; references: string[] }>('ThreadHeaders')
  .implement({
    description: 'The threading headers of an email.',
    fields: (t) => ({
      messageId: t.exposeString('messageId', {
        description:
          'For a received email, its Message-ID, empty if it has none; for a sent email, that of the email it replied to.',
      }),
      references: t.exposeStringList('references', {
        description: 'The References header of the same email, oldest first.',
      }),
    }),
  })

/** Whether a message is kept as it was received. */
export const isReceivedMail = ({ channel, direction }: { channel: string; direction: string }): boolean =>
  CHANNELS[channel as ChannelKind].mail && direction === 'inbound'

export const agentOf = (context: GraphqlContext, agentId: string) =>
  batched(context, 'agents of messages', agentId, (ids) => findAgents(context.deps, context.viewer, ids))

export const Message = builder.prismaObject('Message', {
  description: 'A message that an agent received or sent.',
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Unique identifier.' }),
    addressId: t.expose('addressId', {
      type: 'UUID',
      description: "The agent's address that received or sends the message.",
    }),
    channel: t.field({
      type: AddressChannel,
      select: { channel: true },
      description: 'Its channel.',
      resolve: ({ channel }) => channel as typeof AddressChannel.$inferType,
    }),
    direction: t.expose('direction', { type: Direction, description: 'The direction of the message.' }),
    counterpart: t.exposeString('counterpart', {
      description: 'The sender of an inbound message, or the recipients of an outbound one.',
    }),
    counterpartName: t.exposeString('counterpartName', {
      nullable: true,
      description: "The counterpart's name, if one is known.",
    }),
    replyAddress: t.exposeString('replyAddress', {
      nullable: true,
      description: 'Where replies go instead of to its sender, if a received message asks for that.',
    }),
    to: t.exposeStringList('to', {
      description: 'The To recipients, including the agent unless it received a blind copy.',
    }),
    cc: t.exposeStringList('cc', { description: 'The Cc recipients.' }),
    subject: t.exposeString('subject', {
      nullable: true,
      description: 'The subject, if the channel has subjects.',
    }),
    text: t.exposeString('text', { description: 'The full text.' }),
    replyText: t.string({
      description: 'The text without quoted history.',
      select: { replyText: true, text: true },
      resolve: ({ replyText, text }) => replyText ?? text,
    }),
    preview: t.string({
      description:
        'The first 140 characters of the text without quoted history, in one line. In a list, it costs much less than the text.',
      select: { id: true, agentId: true },
      resolve: ({ id, agentId }, _args, context) =>
        batched(context, 'previews', `${agentId} ${id}`, (keys) =>
          readPreviews(
            context.deps,
            keys.map((key) => {
              const [owner, message] = key.split(' ')
              return { agentId: owner!, id: message! }
            }),
          ),
        ),
    }),
    segments: t.int({
      nullable: true,
      description: 'Number of SMS segments; null on other channels.',
      select: { channel: true, text: true },
      resolve: (message) => segmentsOf(message),
    }),
    attachments: t.field({
      type: [Attachment],
      description: 'Its files.',
      select: { attachments: { select: ATTACHMENT, orderBy: { index: 'asc' } } },
      extensions: { hasLoaded: hasAttachments },
      resolve: ({ attachments }) => attachments,
    }),
    recipients: t.relation('recipients', {
      type: Recipient,
      description: 'The status of a sent message for each recipient; empty for a received message.',
      query: { orderBy: { address: 'asc' } },
    }),
    thread: t.field({
      type: ThreadHeaders,
      nullable: true,
      select: { threadMessageId: true, threadReferences: true },
      description: 'The threading headers; null if the message has none.',
      resolve: (message) => threadOf(message),
    }),
    threadId: t.expose('threadId', {
      type: 'UUID',
      description: 'The id of its thread; pass it as `thread`.',
    }),
    status: t.expose('status', { type: MessageStatus, description: 'The current status.' }),
    refusal: t.expose('refusal', {
      type: Refusal,
      nullable: true,
      description: 'Why an inbound message was refused.',
    }),
    admission: t.expose('admission', {
      type: Admission,
      nullable: true,
      description: 'For a received message, how its sender was admitted.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why the message could not be sent or delivered.',
    }),
    checks: t.field({
      type: [Check],
      select: { checks: true },
      description: 'The checks by which the message was received or refused. The last one decided.',
      resolve: ({ checks }) => checks as unknown as CheckShape[],
    }),
    labels: t.exposeStringList('labels', {
      description: 'Its labels, at most 20, shared by members and the agent.',
    }),
    readAt: t.expose('readAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was marked as read. A received message without it is unread.',
    }),
    hold: t.field({
      type: HoldObject,
      nullable: true,
      select: { holdReason: true, holdUntil: true, holdBy: true },
      description:
        'What an outgoing message waits for or waited for; null when it was sent at once. While it waits, its status is `sending`.',
      resolve: (message) => holdOf(message),
    }),
    sentBy: t.field({
      type: Author,
      nullable: true,
      select: { agentId: true, sentByMemberId: true, sentByName: true },
      description:
        'Who sent it: the agent or a member. Null for received and imported messages, and for those sent before this was recorded.',
      resolve: (message) => sentByOf(message),
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'When it was received, or accepted for sending.',
    }),
    rawUrl: t.string({
      nullable: true,
      description:
        'URL of the original email as received, byte for byte. Requires the same token. Null for messages that are not received emails.',
      select: { id: true, agentId: true, channel: true, direction: true },
      resolve: ({ id, agentId, channel, direction }, _args, { deps }) =>
        isReceivedMail({ channel, direction })
          ? `${deps.publicUrl()}/agents/${agentId}/messages/${id}/raw`
          : null,
    }),
    agent: t.field({
      type: Agent,
      select: { agentId: true },
      description: 'The agent that the message belongs to.',
      resolve: ({ agentId }, _args, context) => agentOf(context, agentId),
    }),
  }),
})

builder.queryField('message', (t) =>
  t.prismaField({
    type: Message,
    description: 'One message.',
    args: { id: t.arg({ type: 'UUID', required: true, description: "The message's id." }) },
    resolve: (query, _root, { id }, context) =>
      readInTurn(context, async () => {
        const { deps, viewer } = context
        const message = await deps.prisma.message.findFirst({
          ...query,
          where: {
            id,
            workspaceId: viewer.workspaceId,
            ...(viewer.kind === 'agent' ? { agentId: viewer.id } : {}),
          },
        })
        if (message && (await findAgent(deps, viewer, message.agentId))) return message // throws if it was deleted
        const hidden = await deps.prisma.message.findFirst({
          where: { id, workspaceId: viewer.workspaceId },
          select: { agentId: true },
        })
        if (hidden) await findAgent(deps, viewer, hidden.agentId) // throws, because it is another agent's
        throw notFound('message')
      }),
  }),
)
