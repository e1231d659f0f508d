import { queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLResolveInfo } from 'graphql'
import { findAgent } from '../../agent/reach.ts'
import { notFound } from '../../core/errors.ts'
import { copies, messageSubject, messageText, recipients } from '../../core/rules.ts'
import type { Message as MessageRow } from '../../db/generated/prisma/client.ts'
import type { MessageFilter } from '../../message/list.ts'
import { type presentMessage, threadOf } from '../../message/present.ts'
import { sendMessage } from '../../message/send.ts'
import { batched } from '../batch.ts'
import { builder } from '../builder.ts'
import type { GraphqlContext } from '../context.ts'
import { checked, given } from '../input.ts'
import { Agent, readableBy } from './agent.ts'
import { AddressChannel, Admission, Direction, MessageStatus, Refusal } from './enums.ts'
import { checkPage, cursorOf, type PageRequest, readPlaces } from './message-page.ts'

const Attachment = builder.prismaObject('Attachment', {
  description: 'A file of a message, without its content.',
  select: { messageId: true, index: true },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    type: t.exposeString('type', { description: 'Its media type.' }),
    size: t.expose('size', { type: 'SafeInt', description: 'Its size in bytes.' }),
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

const Thread = builder.objectRef<{ messageId: string; references: string[] }>('Thread').implement({
  description: "What an email's headers say of its conversation.",
  fields: (t) => ({
    messageId: t.exposeString('messageId', {
      description: 'Of a received email its Message-ID; of a sent one that of the email it answered.',
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
    attachments: t.relation('attachments', { type: Attachment, description: 'Its files.', query: { orderBy: { index: 'asc' } } }),
    thread: t.field({
      type: Thread,
      nullable: true,
      select: { threadMessageId: true, threadReferences: true },
      description: 'What its headers say of its conversation; null where there is nothing of the kind.',
      resolve: (message) => threadOf(message as MessageRow),
    }),
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
    agent: t.relation('agent', { type: Agent, description: 'The agent whose message it is.' }),
  }),
})

const MessageConnection = builder.connectionObject(
  { type: Message, name: 'MessageConnection', description: 'A page of messages, newest first.' },
  { name: 'MessageEdge', description: 'A message and its place in the list.' },
)

const pathOf = ({ path }: GraphQLResolveInfo): string => {
  const names: (string | number)[] = []
  for (let part: GraphQLResolveInfo['path'] | undefined = path; part; part = part.prev)
    if (typeof part.key === 'string') names.push(part.key)
  return names.join('<')
}

/** One page of one agent's messages, read together with the pages of the other agents that the same field is asked of. */
const pageOf = async (context: GraphqlContext, info: GraphQLResolveInfo, agentId: string, filter: MessageFilter, page: PageRequest) => {
  const { deps } = context
  const { select } = queryFromInfo({ context, info, typeName: 'Message', paths: [['edges', 'node']], select: { id: true } })
  const name = JSON.stringify([pathOf(info), filter, page])
  const read = await batched(context, name, agentId, async (agentIds) => {
    const lists = await readPlaces(deps, agentIds, filter, page)
    const ids = lists.flatMap((places) => (places instanceof Error ? [] : places.slice(0, page.first).map(({ id }) => id)))
    const rows = ids.length === 0 ? [] : await deps.prisma.message.findMany({ select, where: { id: { in: ids } } })
    const byId = new Map(rows.map((row) => [row.id, row]))
    return lists.map((places) => (places instanceof Error ? places : { places, byId }))
  })
  if (read instanceof Error) throw read
  const shown = read.places.slice(0, page.first).filter(({ id }) => read.byId.has(id)) // one may have been deleted between the two reads
  const edges = shown.map((place) => ({ cursor: cursorOf(place), node: read.byId.get(place.id)! }))
  return {
    edges,
    pageInfo: {
      hasNextPage: read.places.length > page.first,
      hasPreviousPage: page.after !== undefined,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  }
}

const DEFAULT_PAGE = 20

builder.prismaObjectField(Agent, 'messages', (t) =>
  t.field({
    type: MessageConnection,
    description: "The agent's messages, newest first.",
    complexity: ({ first }) => ({ field: 1, multiplier: first ?? DEFAULT_PAGE }),
    args: {
      first: t.arg.int({ description: 'How many: 1 to 100, otherwise 20.' }),
      after: t.arg.string({ description: "A message's cursor: the page begins behind it." }),
      channel: t.arg({ type: AddressChannel, description: 'Only of this channel.' }),
      direction: t.arg({ type: Direction, description: 'Only of this direction.' }),
      status: t.arg({ type: MessageStatus, description: 'Only with this status.' }),
      thread: t.arg({ type: 'UUID', description: 'Only of the conversation that the message with this id is of.' }),
      since: t.arg({ type: 'DateTime', description: 'Only from this moment on.' }),
      until: t.arg({ type: 'DateTime', description: 'Only up to this moment.' }),
    },
    resolve: ({ id }, { first, after, ...filter }, context, info) => {
      const { channel, direction, status, thread, since, until } = filter
      return pageOf(
        context,
        info,
        id,
        {
          channel: given(channel),
          direction: given(direction),
          status: given(status),
          thread: given(thread),
          since: given(since),
          until: given(until),
        },
        checkPage(first ?? DEFAULT_PAGE, after),
      )
    },
  }),
)

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

const SendMessageInput = builder.inputType('SendMessageInput', {
  description: 'A message to send: an answer (`replyTo`), one passed on (`forward` with `to`), or a new one (`channel` with `to`).',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent that sends it.' }),
    text: t.string({ required: true, description: 'Its text, 1 to 32000 characters.' }),
    replyTo: t.field({ type: 'UUID', description: 'The message that it answers.' }),
    forward: t.field({ type: 'UUID', description: 'The message that it passes on.' }),
    channel: t.field({ type: AddressChannel, description: 'The channel of a new one.' }),
    to: t.stringList({ description: '1 to 10 recipients of 1 to 320 characters.' }),
    cc: t.stringList({ description: 'At most 50 recipients of a copy, of 1 to 320 characters.' }),
    subject: t.string({ description: 'At most 240 characters.' }),
  }),
})

const SendMessagePayload = builder.objectRef<{ id: string }>('SendMessagePayload').implement({
  description: 'What became of `sendMessage`.',
  fields: (t) => ({
    message: t.prismaField({
      type: Message,
      description: 'The message, with status `sending`.',
      resolve: (query, { id }, _args, { deps }) => deps.prisma.message.findUniqueOrThrow({ ...query, where: { id } }),
    }),
  }),
})

builder.mutationField('sendMessage', (t) =>
  t.field({
    type: SendMessagePayload,
    description: 'Takes a message to send. Its status tells how far it has come.',
    args: { input: t.arg({ type: SendMessageInput, required: true, description: 'The message.' }) },
    resolve: (_root, { input }, { deps, viewer }) =>
      sendMessage(deps, viewer, input.agentId, {
        ...checked({ text: messageText, to: recipients, cc: copies, subject: messageSubject }, input),
        replyTo: given(input.replyTo),
        forward: given(input.forward),
        channel: given(input.channel),
      }),
  }),
)
