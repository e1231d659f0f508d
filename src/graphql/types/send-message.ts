import { attachments, copies, messageSubject, messageText, recipients } from '../../core/rules.ts'
import { sendMessage } from '../../message/send.ts'
import { builder } from '../builder.ts'
import { checked, given } from '../input.ts'
import { AddressChannel } from './enums.ts'
import { Message } from './message.ts'

const AttachmentInput = builder.inputType('AttachmentInput', {
  description: 'A file to send along.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Its name: 1 to 255 characters on one line.' }),
    type: t.string({ required: true, description: 'Its media type, without parameters: application/pdf.' }),
    content: t.string({
      required: true,
      description: 'Its bytes in base64: padded, without line breaks. In a variable: a document is at most 100,000 characters long.',
    }),
  }),
})

const SendMessageInput = builder.inputType('SendMessageInput', {
  description: 'A message to send: an answer (`replyTo`), one passed on (`forward` with `to`), or a new one (`channel` with `to`).',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent that sends it.' }),
    text: t.string({ required: true, description: 'Its text, 1 to 32000 characters.' }),
    replyTo: t.field({ type: 'UUID', description: 'The message that it answers.' }),
    forward: t.field({ type: 'UUID', description: 'The message that it passes on.' }),
    channel: t.field({ type: AddressChannel, description: 'The channel of a new one.' }),
    to: t.stringList({ description: '1 to 10 recipients of 1 to 320 characters.' }),
    cc: t.stringList({ description: 'At most 50 recipients of a copy, of 1 to 320 characters.' }),
    subject: t.string({ description: 'At most 240 characters.' }),
    attachments: t.field({
      type: [AttachmentInput],
      description: 'Files to send along, 10 MiB in all; a forward has the original ones too.',
    }),
  }),
})

const SendMessagePayload = builder.objectRef<{ id: string }>('SendMessagePayload').implement({
  description: 'What became of `sendMessage`.',
  fields: (t) => ({
    message: t.prismaField({
      type: Message,
      description: 'The message, with status `sending`.',
      resolve: (query, { id }, _args, { deps }) => deps.prisma.message.findUniqueOrThrow({ ...query, where: { id } }),
    }),
  }),
})

builder.mutationField('sendMessage', (t) =>
  t.field({
    type: SendMessagePayload,
    nullable: true,
    description: 'Takes a message to send. Its status tells how far it has come.',
    args: { input: t.arg({ type: SendMessageInput, required: true, description: 'The message.' }) },
    resolve: (_root, { input }, { deps, viewer }) =>
      sendMessage(deps, viewer, input.agentId, {
        ...checked({ text: messageText, to: recipients, cc: copies, subject: messageSubject, attachments }, input),
        replyTo: given(input.replyTo),
        forward: given(input.forward),
        channel: given(input.channel),
      }),
  }),
)
