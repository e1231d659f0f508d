import { labels, messageIds } from '../../core/rules.ts'
import { type MessageMarks as MarksShape, markMessage, markMessages } from '../../message/reading/marks.ts'
import { builder } from '../builder.ts'
import { checked, given } from '../input.ts'
import { Message } from './message.ts'

const MarkMessageInput = builder.inputType('MarkMessageInput', {
  description: 'The labels and the read mark of a message. Fields left out are not changed.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    messageId: t.field({ type: 'UUID', required: true, description: 'The message.' }),
    labels: t.stringList({
      description: 'Replaces all labels: at most 20, of 1 to 64 characters without line breaks.',
    }),
    read: t.boolean({ description: 'Whether to mark it as read or as unread.' }),
  }),
})

const MarkMessagesInput = builder.inputType('MarkMessagesInput', {
  description: 'Changes to the labels and read marks of messages.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    ids: t.field({ type: ['UUID'], required: true, description: '1 to 100 of its messages.' }),
    addLabels: t.stringList({ description: 'Labels to add. A message has at most 20.' }),
    removeLabels: t.stringList({ description: 'Labels to remove.' }),
    read: t.boolean({ description: 'Whether to mark them as read or as unread.' }),
  }),
})

const MessageMarks = builder.objectRef<MarksShape>('MessageMarks').implement({
  description: "A message's labels and read mark.",
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: "The message's id." }),
    labels: t.exposeStringList('labels', { description: 'Its labels.' }),
    readAt: t.expose('readAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was marked as read.',
    }),
  }),
})

const MarkMessagePayload = builder
  .objectRef<{ id: string; agentId: string }>('MarkMessagePayload')
  .implement({
    description: 'Result of `markMessage`.',
    fields: (t) => ({
      message: t.prismaField({
        type: Message,
        description: 'The updated message.',
        resolve: (query, { id, agentId }, _args, { deps }) =>
          deps.prisma.message.findUniqueOrThrow({ ...query, where: { id_agentId: { id, agentId } } }),
      }),
    }),
  })

const MarkMessagesPayload = builder.objectRef<{ marks: MarksShape[] }>('MarkMessagesPayload').implement({
  description: 'Result of `markMessages`.',
  fields: (t) => ({
    marks: t.field({
      type: [MessageMarks],
      description: 'The labels and read marks, in the order of `ids`.',
      resolve: ({ marks }) => marks,
    }),
  }),
})

builder.mutationFields((t) => ({
  markMessage: t.field({
    type: MarkMessagePayload,
    nullable: true,
    idempotency: 'ignored',
    description:
      'Sets the labels of a message, or marks it as read or unread. Members and the agent share both. Reading a message does not mark it; replying to it does.',
    args: { input: t.arg({ type: MarkMessageInput, required: true, description: 'What to change.' }) },
    resolve: (_root, { input }, { deps, viewer }) =>
      markMessage(deps, viewer, input, { ...checked({ labels }, input), read: given(input.read) }),
  }),
  markMessages: t.field({
    type: MarkMessagesPayload,
    nullable: true,
    idempotency: 'ignored',
    description:
      'Adds labels to messages, removes labels from them, or marks them as read or unread: all of them, or none if one of them cannot be changed.',
    args: { input: t.arg({ type: MarkMessagesInput, required: true, description: 'What to change.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => ({
      marks: await markMessages(deps, viewer, input.agentId, {
        ...checked({ ids: messageIds, addLabels: labels, removeLabels: labels }, input),
        read: given(input.read),
      }),
    }),
  }),
}))
