import { findAgent } from '../../agent/reach.ts'
import { notFound } from '../../core/errors.ts'
import type { Message as MessageRow } from '../../db/generated/prisma/client.ts'
import { type AttachmentLink as AttachmentLinkShape, signLink } from '../../message/attachment-link.ts'
import { type presentMessage, threadOf } from '../../message/present.ts'
import { segmentsOf } from '../../message/segments.ts'
import { builder } from '../builder.ts'
import { Agent, readableBy } from './agent.ts'
import { AddressChannel, Admission, Direction, MessageStatus, RecipientStatus, Refusal } from './enums.ts'

const AttachmentLink = builder.objectRef<AttachmentLinkShape>('AttachmentLink').implement({
  description: 'A URL where a file is for whoever has it, for ten minutes.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'The URL. It wants no token.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it stops working.' }),
  }),
})

const Attachment = builder.prismaObject('Attachment', {
  description: 'A file of a message, without its content.',
  select: { messageId: true, index: true },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    type: t.string({
      description: 'Its media type.',
      select: { type: true },
      resolve: ({ type }) => type.split(';', 1)[0]!,
    }),
    size: t.expose('size', { type: 'SafeInt', description: 'Its size in bytes.' }),
    url: t.string({
      description: 'Where its content is, for the same token.',
      select: { messageId: true, index: true, message: { select: { agentId: true } } },
      resolve: ({ messageId, index, message }, _args, { deps }) =>
        `${deps.publicUrl()}/agents/${message.agentId}/messages/${messageId}/attachments/${index}`,
    }),
    link: t.field({
      type: AttachmentLink,
      description: 'A link to its content that works without a token, made anew each time that it is asked for.',
      select: { messageId: true, index: true },
      resolve: ({ messageId, index }, _args, { deps }) => signLink(deps, { messageId, index }),
    }),
  }),
})

const Recipient = builder.prismaObject('Recipient', {
  description: 'How far a sent message came with one of its recipients.',
  fields: (t) => ({
    address: t.exposeString('address', { description: 'The recipient.' }),
    status: t.expose('status', { type: RecipientStatus, description: 'How far it came.' }),
    detail: t.exposeString('detail', { nullable: true, description: "The other side's last words, where it said no." }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When that changed.' }),
  }),
})

type CheckShape = ReturnType<typeof presentMessage>['checks'][number]

const Check = builder.objectRef<CheckShape>('Check').implement({
  description: 'One piece of the evidence on which a message was received or refused.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What was looked at.' }),
    verdict: t.exposeString('verdict', { description: 'What came out.' }),
    detail: t.exposeString('detail', { description: 'Why.' }),
  }),
})

const ThreadHeaders = builder.objectRef<{ messageId: string; references: string[] }>('ThreadHeaders').implement({
  description: "What an email's headers say of its conversation.",
  fields: (t) => ({
    messageId: t.exposeString('messageId', {
      description: 'Of a received email its Message-ID, empty where it has none; of a sent one that of the email it answered.',
    }),
    references: t.exposeStringList('references', { description: 'The References of the same email, oldest first.' }),
  }),
})

export const Message = builder.prismaObject('Message', {
  description: 'Something that an agent received or sends.',
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Its id.' }),
    addressId: t.expose('addressId', { type: 'UUID', description: "The agent's address that it came to or goes out from." }),
    channel: t.field({
      type: AddressChannel,
      select: { channel: true },
      description: 'Its channel.',
      resolve: ({ channel }) => channel as typeof AddressChannel.$inferType,
    }),
    direction: t.expose('direction', { type: Direction, description: 'Which way it went.' }),
    counterpart: t.exposeString('counterpart', { description: 'Who sent an inbound one, or the recipients of an outbound one.' }),
    counterpartName: t.exposeString('counterpartName', { nullable: true, description: "The counterpart's name, if one is known." }),
    to: t.exposeStringList('to', { description: 'Whom it names as recipients: the agent too, unless it got a blind copy.' }),
    cc: t.exposeStringList('cc', { description: 'Whom it names as recipients of a copy.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'Its subject, where the channel has one.' }),
    text: t.exposeString('text', { description: 'Its whole text.' }),
    replyText: t.string({
      description: 'Its text without the history that it quotes.',
      select: { replyText: true, text: true },
      resolve: ({ replyText, text }) => replyText ?? text,
    }),
    segments: t.int({
      nullable: true,
      description: 'In how many parts it is sent as SMS; null on other channels.',
      select: { channel: true, text: true },
      resolve: (message) => segmentsOf(message),
    }),
    attachments: t.relation('attachments', { type: Attachment, description: 'Its files.', query: { orderBy: { index: 'asc' } } }),
    recipients: t.relation('recipients', {
      type: Recipient,
      description: 'How far a sent one came with each of its recipients; empty for a received one.',
      query: { orderBy: { address: 'asc' } },
    }),
    thread: t.field({
      type: ThreadHeaders,
      nullable: true,
      select: { threadMessageId: true, threadReferences: true },
      description: 'What its headers say of its conversation; null where there is nothing of the kind.',
      resolve: (message) => threadOf(message as MessageRow),
    }),
    threadId: t.expose('threadId', { type: 'UUID', description: 'The conversation that it belongs to: what `thread` takes.' }),
    status: t.expose('status', { type: MessageStatus, description: 'How far it has come.' }),
    refusal: t.expose('refusal', { type: Refusal, nullable: true, description: 'Why an inbound one was refused.' }),
    admission: t.expose('admission', { type: Admission, nullable: true, description: 'Who the sender of a received one is.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why a failed one was not sent or did not arrive.' }),
    checks: t.field({
      type: [Check],
      select: { checks: true },
      description: 'The evidence on which it was received or refused; the last one is the rule that decided.',
      resolve: ({ checks }) => checks as unknown as CheckShape[],
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was received, or taken to be sent.' }),
    rawUrl: t.string({
      nullable: true,
      description: 'Where a received email is as it came, byte for byte, for the same token; null for what is none.',
      select: { id: true, agentId: true, channel: true, direction: true },
      resolve: ({ id, agentId, channel, direction }, _args, { deps }) =>
        channel === 'email' && direction === 'inbound' ? `${deps.publicUrl()}/agents/${agentId}/messages/${id}/raw` : null,
    }),
    agent: t.relation('agent', { type: Agent, description: 'The agent whose message it is.' }),
  }),
})

builder.queryField('message', (t) =>
  t.prismaField({
    type: Message,
    description: 'One message.',
    args: { id: t.arg({ type: 'UUID', required: true, description: "The message's id." }) },
    resolve: async (query, _root, { id }, { deps, viewer }) => {
      const message = await deps.prisma.message.findFirst({ ...query, where: { id, agent: readableBy(viewer) } })
      if (message) return message
      const hidden = await deps.prisma.message.findFirst({ where: { id, workspaceId: viewer.workspaceId }, select: { agentId: true } })
      if (hidden) await findAgent(deps, viewer, hidden.agentId) // throws: it is another agent's
      throw notFound('message')
    },
  }),
)
