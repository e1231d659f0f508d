import { deleteMessages } from '../../../api/message/message-deletion.ts'
import { mutation } from '../../builder/rendered.ts'

mutation(deleteMessages, 'Messages to delete.', (t) => ({
  ids: t.field({
    type: ['UUID'],
    description: 'The ids of the deleted messages.',
    resolve: ({ input }) => input.ids,
  }),
}))
