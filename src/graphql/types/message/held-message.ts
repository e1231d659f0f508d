import { approveMessage, cancelMessage, rejectMessage } from '../../../api/message/held-message.ts'
import { rescheduleMessage } from '../../../api/message/message-marks.ts'
import { strangersOf } from '../../../message/index.ts'
import { builder } from '../../builder/builder.ts'
import { batched } from '../../context/batch.ts'
import { Message, messageMutation } from './message.ts'

builder.prismaObjectField(Message, 'strangers', (t) =>
  t.stringList({
    description:
      'While a message waits for approval, its recipients who are neither members nor agents of the workspace nor on the list of the channel, and from whom the agent has received no message. Empty for other messages.',
    select: { id: true, agentId: true },
    resolve: ({ id, agentId }, _args, context) =>
      batched(context, 'strangers', { id, agentId }, (keys) => strangersOf(context.deps, keys)),
  }),
)

messageMutation(approveMessage, 'A message to approve, with the changes to make in it.')
messageMutation(rejectMessage, 'A message to reject.')
messageMutation(cancelMessage, 'A message to cancel.')
messageMutation(rescheduleMessage, 'A message that waits, and its new time.')
