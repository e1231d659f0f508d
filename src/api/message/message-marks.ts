import { z } from 'zod'
import { labels, messageIds, metadataChanges, timestamp } from '../../core/rules.ts'
import {
  markMessage as mark,
  markMessages as markAll,
  rescheduleMessage as reschedule,
} from '../../message/index.ts'
import { ID, TIME } from '../example.ts'
import { list, one, operation } from '../operation.ts'
import { id, resource, says } from '../resource.ts'
import { MARKS, Message, ONE } from './message.ts'
import { seenBy } from './seen.ts'

export const MessageMarks = resource('MessageMarks', "A message's labels, read mark and metadata.", {
  fields: { id: id("The message's id."), ...MARKS },
  example: { id: ID, labels: ['orders'], readAt: TIME, metadata: { order: '4711' } },
})

const tag = 'Messages'
const metadata = says(
  metadataChanges,
  'Values to keep with it, by keys: others stay, and null removes one. At most 16 keys of 1 to 40 characters; values have at most 500.',
).optional()
const input = {
  ...ONE,
  labels: says(
    labels,
    'Replaces all labels: at most 20, of 1 to 64 characters without line breaks.',
  ).optional(),
  read: says(z.boolean(), 'Whether to mark it as read or as unread.').optional(),
  metadata,
}
const sendAt = says(timestamp, 'When to send it, at most 30 days ahead.')
const SHARED =
  'Members and the agent share labels, read marks and metadata. Reading a message does not mark it; replying to it does. Labels are trimmed, case-sensitive and distinct, and keep their order.'

export const markMessage = operation({
  name: 'markMessage',
  says: `Sets the labels or the metadata of a message, or marks it as read or unread. ${SHARED}`,
  rest: 'PATCH /agents/{agentId}/messages/{messageId}',
  tag,
  scope: 'messages:write',
  input,
  example: { labels: ['orders'], read: true },
  fails: ['agent', 'conflict'],
  output: one(Message, 'The updated message.'),
  run: async (deps, viewer, { agentId, messageId, ...marks }) => {
    const marked = await mark(deps, viewer, { agentId, messageId }, marks)
    return seenBy(viewer, marked, marked)
  },
})

/** REST has no path of its own for it. */
export const rescheduleMessage = operation({
  name: 'rescheduleMessage',
  says: 'Changes when a message is sent that waits for approval or for its time.',
  rest: 'PATCH /agents/{agentId}/messages/{messageId}',
  tag,
  scope: 'messages:write',
  input: { ...ONE, sendAt },
  fails: ['agent', 'conflict'],
  output: one(Message, 'The message.'),
  run: (deps, viewer, { sendAt, ...ref }) => reschedule(deps, viewer, ref, sendAt),
})

/** What REST does at this path: both of them. */
export const updateMessage = operation({
  ...markMessage,
  says: `Sets the labels or the metadata of a message, marks it as read or unread, or changes when it is sent. ${SHARED}`,
  input: {
    ...input,
    sendAt: says(
      timestamp,
      'When to send a message that waits for approval or for its time, at most 30 days ahead. `conflict` if it does not wait.',
    ).optional(),
  },
  run: async (deps, viewer, { sendAt, ...given }) => {
    const { agentId, messageId } = given
    if (sendAt) await reschedule(deps, viewer, { agentId, messageId }, sendAt)
    return markMessage.run(deps, viewer, given)
  },
})

export const markMessages = operation({
  name: 'markMessages',
  says: 'Adds labels to up to 100 messages, removes labels from them, sets their metadata, or marks them as read or unread. Changes all of the messages, or none if one of them cannot be changed.',
  rest: 'PATCH /agents/{agentId}/messages',
  tag,
  scope: 'messages:write',
  input: {
    agentId: ONE.agentId,
    ids: says(messageIds, '1 to 100 of its messages.'),
    addLabels: says(labels, 'Labels to add. A message has at most 20.').optional(),
    removeLabels: says(labels, 'Labels to remove.').optional(),
    read: says(z.boolean(), 'Whether to mark them as read or as unread.').optional(),
    metadata,
  },
  example: { ids: [ID], addLabels: ['orders'], read: true },
  fails: ['agent'],
  output: list(MessageMarks, 'The labels, read marks and metadata, in the order of `ids`.'),
  run: (deps, viewer, { agentId, ...changes }) => markAll(deps, viewer, agentId, changes),
})
