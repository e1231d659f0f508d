import { messageIds } from '../../core/rules.ts'
import { deleteMessages } from '../../message/delete.ts'
import { builder } from '../builder.ts'
import { checked } from '../input.ts'

const DeleteMessagesInput = builder.inputType('DeleteMessagesInput', {
  description: 'Messages to delete.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    ids: t.field({ type: ['UUID'], required: true, description: '1 to 100 of its messages.' }),
  }),
})

const DeleteMessagesPayload = builder.objectRef<{ ids: string[] }>('DeleteMessagesPayload').implement({
  description: 'Result of `deleteMessages`.',
  fields: (t) => ({
    ids: t.expose('ids', { type: ['UUID'], description: 'The ids of the deleted messages.' }),
  }),
})

builder.mutationField('deleteMessages', (t) =>
  t.field({
    type: DeleteMessagesPayload,
    nullable: true,
    idempotency: 'ignored',
    description:
      'Deletes up to 100 messages with their files and originals: all of them, or none. A message that waits to be sent is not sent any more, unless sending has begun.',
    args: { input: t.arg({ type: DeleteMessagesInput, required: true, description: 'The messages.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { ids } = checked({ ids: messageIds }, input)
      await deleteMessages(deps, viewer, input.agentId, ids)
      return { ids }
    },
  }),
)
