import { MessageMarks, markMessage, markMessages } from '../../../api/message/message-marks.ts'
import { mutation, objectOf } from '../../builder/rendered.ts'
import { messageMutation } from './message.ts'

messageMutation(markMessage, 'The labels and the read mark of a message. Fields left out are not changed.')

mutation(markMessages, 'Changes to the labels and read marks of messages.', (t) => ({
  marks: t.field({
    type: [objectOf(MessageMarks)],
    description: 'The labels and read marks, in the order of `ids`.',
    resolve: ({ result }) => result,
  }),
}))
