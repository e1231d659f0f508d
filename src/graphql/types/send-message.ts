import { sentenceOf } from '../../api/resource.ts'
import { SENT, SentFile } from '../../api/send.ts'
import { copies, messageHtml, messageSubject, messageText, recipients } from '../../core/rules.ts'
import { sendMessage } from '../../message/out/send.ts'
import { builder } from '../builder.ts'
import { checked, given } from '../input.ts'
import { groupInputOf } from '../rendered.ts'
import { AddressChannel } from './enums.ts'
import { Message } from './message.ts'

const AttachmentInput = groupInputOf(SentFile)

const SendMessageInput = builder.inputType('SendMessageInput', {
  description:
    'A message to send: a reply (`replyTo`), a forward (`forward` with `to`) or a new message (`channel` with `to`).',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent that sends it.' }),
    text: t.string({
      description:
        'Its text, 1 to 32000 characters. Required, unless `html` is given, from which it is made.',
    }),
    html: t.string({ description: sentenceOf(SENT.html) }),
    replyTo: t.field({ type: 'UUID', description: 'The id of the message to reply to.' }),
    replyAll: t.boolean({
      description:
        'A reply to all: to the sender and the other recipients of the message, in copy to those who had one, and not to the agent itself. Not with `to`.',
    }),
    forward: t.field({ type: 'UUID', description: 'The id of the message to forward.' }),
    channel: t.field({ type: AddressChannel, description: 'The channel of a new message.' }),
    to: t.stringList({ description: '1 to 10 recipients of 1 to 320 characters.' }),
    cc: t.stringList({ description: 'At most 50 Cc recipients of 1 to 320 characters.' }),
    subject: t.string({ description: 'At most 240 characters.' }),
    sendAt: t.field({
      type: 'DateTime',
      description: 'When to send it, at most 30 days ahead. Left out: at once.',
    }),
    attachments: t.field({
      type: [AttachmentInput],
      description: 'Attachments, 10 MiB in total; a forward also includes the original ones.',
    }),
  }),
})

const SendMessagePayload = builder
  .objectRef<{ id: string; agentId: string }>('SendMessagePayload')
  .implement({
    description: 'Result of `sendMessage`.',
    fields: (t) => ({
      message: t.prismaField({
        type: Message,
        description: 'The message, with status `sending`.',
        resolve: (query, { id, agentId }, _args, { deps }) =>
          deps.prisma.message.findUniqueOrThrow({ ...query, where: { id_agentId: { id, agentId } } }),
      }),
    }),
  })

builder.mutationField('sendMessage', (t) =>
  t.field({
    type: SendMessagePayload,
    nullable: true,
    idempotency: 'once',
    description: 'Accepts a message for sending. Its status shows its progress.',
    args: { input: t.arg({ type: SendMessageInput, required: true, description: 'The message.' }) },
    resolve: (_root, { input }, { deps, viewer }) =>
      sendMessage(deps, viewer, input.agentId, {
        ...checked(
          {
            ...{ text: messageText, html: messageHtml, subject: messageSubject },
            ...{ to: recipients, cc: copies, attachments: SENT.attachments },
          },
          input,
        ),
        replyTo: given(input.replyTo),
        replyAll: given(input.replyAll),
        forward: given(input.forward),
        channel: given(input.channel),
        sendAt: given(input.sendAt),
      }),
  }),
)
