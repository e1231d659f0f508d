import { messageHtml, messageSubject, messageText, rejectionReason } from '../../core/rules.ts'
import {
  approveMessage as approve,
  cancelMessage as cancel,
  rejectMessage as reject,
} from '../../message/index.ts'
import { one, operation } from '../operation.ts'
import { says } from '../resource.ts'
import { Message, ONE } from './message.ts'

const tag = 'Messages'
const output = one(Message, 'The message.')

export const approveMessage = operation({
  name: 'approveMessage',
  says: 'Approves a message that waits for approval, optionally with changes (members only). The message is sent now, or at its `sendAt`. Fails with `conflict` if another member has decided meanwhile, and says who.',
  rest: 'POST /agents/{agentId}/messages/{messageId}/approve',
  tag,
  scope: 'messages:write',
  input: {
    ...ONE,
    subject: says(messageSubject, 'Another subject.').optional(),
    text: says(messageText, 'Another text. Without `html`, it replaces the HTML too.').optional(),
    html: says(
      messageHtml,
      'Another HTML, for an email. Without `text`, the text is made from it.',
    ).optional(),
  },
  mayBeEmpty: true,
  example: { text: 'Your order arrives on Monday.' },
  fails: ['agent', 'conflict'],
  output,
  run: (deps, viewer, { agentId, messageId, ...edits }) =>
    approve(deps, viewer, { agentId, messageId }, edits),
})

export const rejectMessage = operation({
  name: 'rejectMessage',
  says: 'Rejects a message that waits for approval (members only). Its status becomes `failed`, with `Rejected by NAME: REASON` as its error.',
  rest: 'POST /agents/{agentId}/messages/{messageId}/reject',
  tag,
  scope: 'messages:write',
  input: { ...ONE, reason: says(rejectionReason, 'Why.').optional() },
  mayBeEmpty: true,
  example: { reason: 'Wrong recipient' },
  fails: ['agent', 'conflict'],
  output,
  run: (deps, viewer, { reason, ...ref }) => reject(deps, viewer, ref, reason),
})

export const cancelMessage = operation({
  name: 'cancelMessage',
  says: 'Cancels a message that waits for approval or for its time. Its status becomes `failed`, with `Cancelled by NAME` as its error.',
  rest: 'POST /agents/{agentId}/messages/{messageId}/cancel',
  tag,
  scope: 'messages:write',
  input: ONE,
  fails: ['agent', 'conflict'],
  output,
  run: (deps, viewer, ref) => cancel(deps, viewer, ref),
})
