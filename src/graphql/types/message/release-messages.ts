import { releaseMessage, releaseMessages } from '../../../api/message/message-release.ts'
import { mutation } from '../../builder/rendered.ts'
import { Message, messageMutation } from './message.ts'
import { checkTexts } from './message-list.ts'

messageMutation(releaseMessage, 'A refused message to release.')

mutation(releaseMessages, 'Refused messages to release.', (t) => ({
  messages: t.prismaField({
    type: [Message],
    complexity: { multiplier: 100 },
    description: 'The messages, oldest first.',
    resolve: async (query, { input: { agentId }, result }, _args, context) => {
      const ids = result.map(({ id }) => id)
      await checkTexts(context, query.select ?? {}, ids)
      return context.deps.prisma.message.findMany({
        ...query,
        where: { agentId, id: { in: ids } },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      })
    },
  }),
}))
