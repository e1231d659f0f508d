import { unsubscribe } from '../../message/out/unsubscribe.ts'
import { builder } from '../builder.ts'
import { Message } from './message.ts'

const UnsubscribeInput = builder.inputType('UnsubscribeInput', {
  description: 'An email to unsubscribe from.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    messageId: t.field({ type: 'UUID', required: true, description: 'The message.' }),
  }),
})

const UnsubscribePayload = builder
  .objectRef<{ id: string; agentId: string }>('UnsubscribePayload')
  .implement({
    description: 'Result of `unsubscribe`.',
    fields: (t) => ({
      message: t.prismaField({
        type: Message,
        description: 'The message.',
        resolve: (query, { id, agentId }, _args, { deps }) =>
          deps.prisma.message.findUniqueOrThrow({ ...query, where: { id_agentId: { id, agentId } } }),
      }),
    }),
  })

builder.mutationField('unsubscribe', (t) =>
  t.field({
    type: UnsubscribePayload,
    nullable: true,
    idempotency: 'ignored',
    description:
      'Unsubscribes the agent from what a received email belongs to, if its check `unsubscribe` says that it can be: by a request to the sender (`one_click`, RFC 8058), or by a mail (`mail`). Afterwards the check is `requested`, and nothing happens again.',
    args: { input: t.arg({ type: UnsubscribeInput, required: true, description: 'The message.' }) },
    resolve: (_root, { input }, { deps, viewer }) => unsubscribe(deps, viewer, input),
  }),
)
