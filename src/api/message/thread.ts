import { z } from 'zod'
import { findAgent } from '../../agent/index.ts'
import { notFound } from '../../core/errors.ts'
import { label, recipient, searchedSubject, uuid } from '../../core/rules.ts'
import { listThreads as list, readTranscript as readLines, readThreads } from '../../message/index.ts'
import { AddressChannel, Direction, MessageStatus } from '../choices.ts'
import { ID, OTHER, TIME } from '../example.ts'
import { one, operation, PAGE, page, pageOf } from '../operation.ts'
import { choice, count, detail, id, part, resource, says, several, text, texts, time } from '../resource.ts'

const Participant = detail('Participant', 'A sender or recipient in a thread.', {
  address: text('The email address, phone number or Telegram user.'),
  name: text('The name, if one is known.').nullable(),
})

export const ThreadMember = detail('ThreadMember', 'A member, as threads name them.', {
  id: id("The member's id."),
  name: text("The member's name, or else the email address."),
})

export const Thread = resource('Thread', 'A conversation: messages of one agent that reply to each other.', {
  fields: {
    id: id(
      'The id of the thread, which is the id of the first message in it that the service saw, and `threadId` of all its messages.',
    ),
    agentId: id('The agent that it belongs to.'),
    channel: says(AddressChannel, 'Its channel.'),
    subject: text('The subject of its first message, if the channel has subjects.').nullable(),
    participants: several(
      Participant,
      'The participants other than the agent, in order of appearance; at most 100.',
      100,
    ),
    messageCount: count('Number of messages.'),
    unreadCount: count('Number of received messages that are not marked as read.'),
    lastActivityAt: time('When its newest message was received or accepted for sending.'),
    lastMessageId: id('Its newest message.'),
    labels: texts('The labels of its messages, in alphabetical order; at most 100.', 100),
    conversation: text("The agent's own key of it, if it gave one (`sendMessage`).").nullable(),
    doneAt: time('When it was done; null while it is not. A new message opens it again.').nullable(),
    snoozedUntil: time(
      'Until when it is postponed; null while it is not. A new message opens it again.',
    ).nullable(),
    assignedTo: part(ThreadMember, 'The member that it is assigned to.').nullable(),
  },
  example: {
    ...{ id: ID, agentId: OTHER, channel: 'email', subject: 'Where is my order?' },
    participants: [{ address: 'ann@example.com', name: 'Ann Example' }],
    ...{ messageCount: 2, unreadCount: 0, lastActivityAt: TIME, lastMessageId: ID },
    ...{ labels: ['orders'], conversation: null },
    ...{ doneAt: TIME, snoozedUntil: null, assignedTo: null },
  },
})

const ThreadState = choice('ThreadState', 'The state of a thread.', {
  open: 'Neither done nor postponed, with at least one received message.',
  done: 'Done.',
  snoozed: 'Postponed.',
})

/** What every list of threads takes, apart from the page. */
export const THREAD_FILTER = {
  state: says(
    ThreadState,
    'Only threads in this state. `open`: with a received message, and neither done nor postponed.',
  ).optional(),
  assignedTo: says(uuid, 'Only threads that are assigned to this member.').optional(),
  unread: says(z.boolean(), '`true`: only threads with an unread message; `false`: all others.').optional(),
  channel: says(AddressChannel, 'Only threads on this channel.').optional(),
  label: says(label, 'Only threads with a message that has this label.').optional(),
  from: says(
    recipient,
    'Only threads with a message from this sender, as in a list of messages. One message meets `from`, `to` and `subject`.',
  ).optional(),
  to: says(recipient, 'Only threads with a message to this recipient, as in a list of messages.').optional(),
  subject: says(
    searchedSubject,
    'Only threads with a message that has these words in its subject.',
  ).optional(),
}

const tag = 'Threads'
const agentId = says(uuid, 'The agent that it belongs to.')

/** What operations on one thread take. */
export const ONE = { agentId, threadId: says(uuid, 'The id of the thread.') }

export const listThreads = operation({
  name: 'listThreads',
  says: "Lists an agent's threads. A page may have fewer entries than requested, even none. There may be more as long as `nextCursor` is not null.",
  rest: 'GET /agents/{agentId}/threads',
  tag,
  scope: 'messages:read',
  input: { agentId, ...THREAD_FILTER, ...PAGE },
  fails: ['agent'],
  output: page(Thread, 'Most recent activity first.'),
  run: (deps, viewer, { agentId, limit, cursor, ...filter }) =>
    list(deps, viewer, agentId, { filter, ...pageOf({ limit, cursor }) }),
})

export const readThread = operation({
  name: 'readThread',
  says: 'Returns a thread. Its messages are listed with `threadId`: `GET /agents/{id}/messages?threadId=`.',
  rest: 'GET /agents/{agentId}/threads/{threadId}',
  tag,
  scope: 'messages:read',
  input: ONE,
  fails: ['agent'],
  output: one(Thread, 'The thread.'),
  run: async (deps, viewer, key) => {
    await findAgent(deps, viewer, key.agentId)
    const [thread] = await readThreads(deps, [key])
    if (!thread) throw notFound('thread')
    return thread
  },
})

const TranscriptEntry = detail('TranscriptEntry', 'A message in a transcript.', {
  messageId: id('The message.'),
  at: time('When it was received, or accepted for sending.'),
  direction: says(Direction, 'Whether the agent received or sent it.'),
  status: says(MessageStatus, 'Its status: what was rejected or waits to be sent has reached nobody.'),
  from: text(
    'Who wrote it: name and address of its sender, or the name of the agent or member that sent it.',
  ),
  text: text('What they wrote, without quotations.'),
  isCut: says(z.boolean(), 'Whether the text goes on: read the message for the rest.'),
})

export const Transcript = resource('Transcript', 'Who wrote what in a conversation.', {
  fields: {
    entries: several(TranscriptEntry, 'Its messages, newest first, without refused ones.', 100),
    more: says(z.boolean(), 'Whether there are older messages than these.'),
  },
  example: {
    entries: [
      {
        ...{
          messageId: ID,
          at: TIME,
          direction: 'inbound',
          status: 'received',
          from: 'Ann Example <ann@example.com>',
        },
        ...{ text: 'It has not arrived yet.', isCut: false },
      },
    ],
    more: false,
  },
})

const DEFAULT_TOKENS = 2_000

/** What a transcript takes besides its thread. */
export const TRANSCRIPT = {
  tokens: z
    .int()
    .min(300)
    .max(20_000)
    .meta({
      default: DEFAULT_TOKENS,
      description: `How many tokens it may have, with four characters each; defaults to ${DEFAULT_TOKENS}.`,
    })
    .optional(),
}

export const readTranscript = operation({
  name: 'readTranscript',
  says: 'Returns what was written in a thread, newest first, as far as it fits into so many tokens. Quotations are left out.',
  rest: 'GET /agents/{agentId}/threads/{threadId}/transcript',
  tag,
  scope: 'messages:read',
  input: { ...ONE, ...TRANSCRIPT },
  fails: ['agent'],
  output: one(Transcript, 'The transcript.'),
  run: (deps, viewer, { tokens = DEFAULT_TOKENS, ...key }) => readLines(deps, viewer, key, tokens),
})
