import { Message as MESSAGE } from '../../../api/message/message.ts'
import { sentenceOf } from '../../../api/resource.ts'
import { mayInstruct } from '../../../message/index.ts'
import { builder } from '../../builder/builder.ts'
import { agentOf, Message } from './message.ts'

builder.prismaObjectField(Message, 'mayInstruct', (t) =>
  t.boolean({
    description: sentenceOf(MESSAGE.fields.mayInstruct),
    select: { instructor: true, agentId: true },
    resolve: async ({ instructor, agentId }, _args, context) => {
      if (instructor === null) return false
      const agent = await agentOf(context, agentId)
      return agent !== null && mayInstruct(instructor, agent)
    },
  }),
)
