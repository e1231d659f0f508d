import { messageHtml, messageSubject, messageText, rejectionReason } from '../../core/rules.ts'
import { approveMessage, rejectMessage } from '../../message/out/approval.ts'
import { cancelMessage, rescheduleMessage } from '../../message/out/schedule.ts'
import { strangersOf } from '../../message/out/strangers.ts'
import { builder } from '../builder.ts'
import { batched } from '../execution/batch.ts'
import { checked } from '../input.ts'
import { Message } from './message.ts'

builder.prismaObjectField(Message, 'strangers', (t) =>
  t.stringList({
    description:
      'While a message waits for approval, its recipients who are neither members nor agents of the workspace nor on the list of the channel, and from whom the agent has received no message. Empty for other messages.',
    select: { id: true, agentId: true },
    resolve: ({ id, agentId }, _args, context) =>
      batched(context, 'strangers', { id, agentId }, (keys) => strangersOf(context.deps, keys)),
  }),
)

interface Decided {
  id: string
  agentId: string
}

/** Defines the result of a mutation that returns the message. */
const payload = (name: string, mutation: string) =>
  builder.objectRef<Decided>(name).implement({
    description: `Result of \`${mutation}\`.`,
    fields: (t) => ({
      message: t.prismaField({
        type: Message,
        description: 'The message.',
        resolve: (query, { id, agentId }, _args, { deps }) =>
          deps.prisma.message.findUniqueOrThrow({ ...query, where: { id_agentId: { id, agentId } } }),
      }),
    }),
  })

const ApproveMessagePayload = payload('ApproveMessagePayload', 'approveMessage')
const RejectMessagePayload = payload('RejectMessagePayload', 'rejectMessage')
const CancelMessagePayload = payload('CancelMessagePayload', 'cancelMessage')
const RescheduleMessagePayload = payload('RescheduleMessagePayload', 'rescheduleMessage')

const ApproveMessageInput = builder.inputType('ApproveMessageInput', {
  description: 'A message to approve, with the changes to make in it.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    messageId: t.field({ type: 'UUID', required: true, description: 'The message.' }),
    subject: t.string({ description: 'Another subject, at most 240 characters.' }),
    text: t.string({
      description: 'Another text, 1 to 32000 characters. Without `html`, it replaces the HTML too.',
    }),
    html: t.string({
      description: 'Another HTML, for an email. Without `text`, the text is made from it.',
    }),
  }),
})

const RejectMessageInput = builder.inputType('RejectMessageInput', {
  description: 'A message to reject.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    messageId: t.field({ type: 'UUID', required: true, description: 'The message.' }),
    reason: t.string({ description: 'Why, at most 500 characters.' }),
  }),
})

const CancelMessageInput = builder.inputType('CancelMessageInput', {
  description: 'A message to cancel.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    messageId: t.field({ type: 'UUID', required: true, description: 'The message.' }),
  }),
})

const RescheduleMessageInput = builder.inputType('RescheduleMessageInput', {
  description: 'A message that waits, and its new time.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    messageId: t.field({ type: 'UUID', required: true, description: 'The message.' }),
    sendAt: t.field({
      type: 'DateTime',
      required: true,
      description: 'When to send it, at most 30 days ahead.',
    }),
  }),
})

builder.mutationFields((t) => ({
  approveMessage: t.field({
    type: ApproveMessagePayload,
    nullable: true,
    idempotency: 'once',
    description:
      'Approves a message that waits for approval: it is sent now, or at its time. Members only. Fails with `conflict` if somebody has decided already, and says who.',
    args: { input: t.arg({ type: ApproveMessageInput, required: true, description: 'The message.' }) },
    resolve: (_root, { input: { agentId, messageId, ...edits } }, { deps, viewer }) =>
      approveMessage(
        deps,
        viewer,
        { agentId, messageId },
        checked({ subject: messageSubject, text: messageText, html: messageHtml }, edits),
      ),
  }),
  rejectMessage: t.field({
    type: RejectMessagePayload,
    nullable: true,
    idempotency: 'once',
    description: 'Rejects a message that waits for approval: it becomes `failed`. Members only.',
    args: { input: t.arg({ type: RejectMessageInput, required: true, description: 'The message.' }) },
    resolve: (_root, { input: { agentId, messageId, reason } }, { deps, viewer }) =>
      rejectMessage(
        deps,
        viewer,
        { agentId, messageId },
        checked({ reason: rejectionReason }, { reason }).reason,
      ),
  }),
  cancelMessage: t.field({
    type: CancelMessagePayload,
    nullable: true,
    idempotency: 'once',
    description: 'Cancels a message that waits for approval or for its time: it becomes `failed`.',
    args: { input: t.arg({ type: CancelMessageInput, required: true, description: 'The message.' }) },
    resolve: (_root, { input }, { deps, viewer }) => cancelMessage(deps, viewer, input),
  }),
  rescheduleMessage: t.field({
    type: RescheduleMessagePayload,
    nullable: true,
    idempotency: 'ignored',
    description: 'Changes when a message is sent that waits for approval or for its time.',
    args: { input: t.arg({ type: RescheduleMessageInput, required: true, description: 'The message.' }) },
    resolve: (_root, { input: { sendAt, ...ref } }, { deps, viewer }) =>
      rescheduleMessage(deps, viewer, ref, sendAt),
  }),
}))
