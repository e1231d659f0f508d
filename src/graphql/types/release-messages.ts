import { messageIds } from '../../core/rules.ts'
import { type ReleasedMessage, releaseMessage, releaseMessages } from '../../message/in/release.ts'
import { builder } from '../builder.ts'
import { checked, given } from '../input.ts'
import { Message } from './message.ts'
import { checkTexts } from './message-list.ts'

const LIST_SENDER = "Also adds the sender to those that the channel admits. A block isn't lifted."

const ReleaseMessageInput = builder.inputType('ReleaseMessageInput', {
  description: 'A refused message to release.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    messageId: t.field({ type: 'UUID', required: true, description: 'The message.' }),
    listSender: t.boolean({ description: LIST_SENDER }),
  }),
})

const ReleaseMessagesInput = builder.inputType('ReleaseMessagesInput', {
  description: 'Refused messages to release.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    ids: t.field({ type: ['UUID'], required: true, description: '1 to 100 of its messages.' }),
    listSender: t.boolean({ description: LIST_SENDER }),
  }),
})

const ReleaseMessagePayload = builder
  .objectRef<{ id: string; agentId: string }>('ReleaseMessagePayload')
  .implement({
    description: 'Result of `releaseMessage`.',
    fields: (t) => ({
      message: t.prismaField({
        type: Message,
        description: 'The message.',
        resolve: (query, { id, agentId }, _args, { deps }) =>
          deps.prisma.message.findUniqueOrThrow({ ...query, where: { id_agentId: { id, agentId } } }),
      }),
    }),
  })

const ReleaseMessagesPayload = builder
  .objectRef<{ agentId: string; released: ReleasedMessage[] }>('ReleaseMessagesPayload')
  .implement({
    description: 'Result of `releaseMessages`.',
    fields: (t) => ({
      messages: t.prismaField({
        type: [Message],
        complexity: { multiplier: 100 },
        description: 'The messages, oldest first.',
        resolve: async (query, { agentId, released }, _args, context) => {
          const ids = released.map(({ id }) => id)
          await checkTexts(context, query.select ?? {}, ids)
          return context.deps.prisma.message.findMany({
            ...query,
            where: { agentId, id: { in: ids } },
            orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
          })
        },
      }),
    }),
  })

const EFFECT =
  "The message becomes `received`, with the admission that its sender would have now (`anyone` if none), counts towards the plan and raises its event; the last of its checks says who released it. A message that is received already stays as it is. An agent's token works if the workspace allows agents to set access."

builder.mutationFields((t) => ({
  releaseMessage: t.field({
    type: ReleaseMessagePayload,
    nullable: true,
    idempotency: 'once',
    description: `Releases a refused message, so that it reaches the agent. ${EFFECT}`,
    args: { input: t.arg({ type: ReleaseMessageInput, required: true, description: 'The message.' }) },
    resolve: (_root, { input }, { deps, viewer }) =>
      releaseMessage(deps, viewer, input, { listSender: given(input.listSender) }),
  }),
  releaseMessages: t.field({
    type: ReleaseMessagesPayload,
    nullable: true,
    idempotency: 'once',
    description: `Releases up to 100 refused messages, oldest first: all of them, or none. ${EFFECT}`,
    args: { input: t.arg({ type: ReleaseMessagesInput, required: true, description: 'The messages.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { agentId } = input
      const given = { ...checked({ ids: messageIds }, input), listSender: input.listSender ?? undefined }
      return { agentId, released: await releaseMessages(deps, viewer, agentId, given) }
    },
  }),
}))
