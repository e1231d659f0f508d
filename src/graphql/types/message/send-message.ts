import { sendMessage } from '../../../api/message/send.ts'
import { messageMutation } from './message.ts'

messageMutation(
  sendMessage,
  'A message to send: a reply (`replyTo`), a forward (`forward` with `to`) or a new message (`channel` with `to`).',
)
