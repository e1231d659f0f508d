import { MessageMarks, markMessage, markMessages } from '../../../api/message/message-marks.ts'
import { mutation, objectOf } from '../../builder/rendered.ts'
import { messageMutation } from './message.ts'

messageMutation(
  markMessage,
  'The labels, the read mark and the metadata of a message. Fields left out are not changed.',
)

mutation(markMessages, 'Changes to the labels, read marks and metadata of messages.', (t) => ({
  marks: t.field({
    type: [objectOf(MessageMarks)],
    description: 'The labels, read marks and metadata, in the order of `ids`.',
    resolve: ({ result }) => result,
  }),
}))
