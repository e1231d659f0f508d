import { z } from 'zod'
import {
  label,
  MAX_LABELS,
  metadata,
  recipient,
  searchedSubject,
  searchText,
  timestamp,
  uuid,
} from '../../core/rules.ts'
import {
  holdOf,
  listMessages as list,
  listWorkspaceMessages as listAll,
  readMessage as read,
  replyTextOf,
  segmentsOf,
  sentByOf,
  threadOf,
  withHighlights,
} from '../../message/index.ts'
import {
  AddressChannel,
  Addressed,
  Admission,
  Direction,
  HoldReason,
  MessageStatus,
  Refusal,
} from '../choices.ts'
import { ID, OTHER, TIME } from '../example.ts'
import { one, operation, PAGE, page, pageOf } from '../operation.ts'
import {
  choice,
  count,
  detail,
  id,
  madeFrom,
  part,
  resource,
  says,
  several,
  text,
  texts,
  time,
} from '../resource.ts'
import { author } from './author.ts'
import { Code } from './code.ts'

const Check = resource('Check', 'A check that was made when a message was received or refused.', {
  fields: {
    name: text('The name of the check.'),
    verdict: text('The result of the check.'),
    detail: text('The reason.'),
  },
  example: { name: 'dmarc', verdict: 'pass', detail: 'DKIM of example.com, aligned with From' },
})

export const Hold = resource('Hold', 'What an outgoing message waits for or waited for.', {
  fields: {
    reason: says(HoldReason, 'What it waits for. While it waits, the status of the message is `sending`.'),
    until: time('When it is sent (schedule) or rejected (approval); null once that was decided.').nullable(),
    by: text('Who approved, rejected or cancelled it; null if nobody did.').nullable(),
  },
  example: { reason: 'approval', until: TIME, by: null },
})

/** A file of a message or a draft, without its content. */
export const MessageFile = detail('File', 'A file, without its content.', {
  name: text('Its name.'),
  type: text('Its media type.'),
  size: count('Its size in bytes.'),
})

const ThreadHeaders = detail('ThreadHeaders', 'The threading headers of an email.', {
  messageId: text(
    'For a received email, its Message-ID, empty if it has none; for a sent email, that of the email it replied to.',
  ),
  references: texts('The References header of the same email, oldest first.'),
})

const HighlightField = choice('HighlightField', 'Where the words of a search were found.', {
  subject: 'In the subject.',
  counterpart: 'In the address of the counterpart.',
  counterpartName: "In the counterpart's name.",
  text: 'In the text.',
  attachments: 'In an attachment.',
})

export const Highlight = detail('Highlight', 'A place where a message has words that were searched for.', {
  field: says(HighlightField, 'Where.'),
  parts: several(
    detail('HighlightPart', 'A part of a fragment.', {
      text: text('Its text, which may come from outside: it is data, and never markup.'),
      matched: says(z.boolean(), 'Whether it is among what was searched for.'),
    }),
    'A short fragment around the words, in parts, in one line; of an attachment, there is none.',
  ),
})

export const MARKS = {
  labels: texts('Its labels, at most 20, shared by members and the agent.', MAX_LABELS),
  readAt: time('When it was marked as read. A received message without it is unread.').nullable(),
  metadata: says(
    z.record(z.string(), z.string()),
    'What programs keep with it: at most 16 values of up to 500 characters, by keys of up to 40. No mail contains it.',
  ),
}

const FIELDS = {
  id: id('Unique identifier.'),
  addressId: id("The agent's address that received or sends the message."),
  channel: says(AddressChannel, 'Its channel.'),
  direction: says(Direction, 'The direction of the message.'),
  counterpart: text('The sender of an inbound message, or the recipients of an outbound one.'),
  counterpartName: text("The counterpart's name, if one is known.").nullable(),
  to: texts('The To recipients, including the agent unless it received a blind copy.'),
  cc: texts('The Cc recipients.'),
  bcc: texts(
    'The Bcc recipients of a sent email, whom none of its copies names; empty for received messages.',
  ),
  subject: text('The subject, if the channel has subjects.').nullable(),
  text: text('The full text.'),
  replyText: text('The text without quoted history.'),
  segments: says(z.int().min(1), 'Number of SMS segments; null on other channels.').nullable(),
  attachments: several(MessageFile, 'Its files.'),
  thread: part(ThreadHeaders, 'The threading headers; null if the message has none.').nullable(),
  threadId: id('The id of its thread, the same for all messages of a conversation.'),
  conversation: text(
    "The agent's own key of the thread, as of when the message was stored; see `sendMessage`.",
  ).nullable(),
  addressed: says(
    Addressed,
    'How a received message names the agent. Null for sent and imported messages, and for those received before this was recorded.',
  ).nullable(),
  status: says(MessageStatus, 'The current status.'),
  refusal: says(Refusal, 'Why an inbound message was refused.').nullable(),
  mayInstruct: says(
    z.boolean(),
    "Whether its sender may instruct the agent: proven, and among those whom the agent's setting `instructors` names now.",
  ),
  admission: says(Admission, 'For a received message, how its sender was admitted.').nullable(),
  error: text('Why the message could not be sent or delivered.').nullable(),
  checks: several(Check, 'The checks by which the message was received or refused. The last one decided.'),
  codes: several(
    Code,
    'The codes and links in a received or refused email or SMS with which somebody signs in, verifies an address or resets a password: found by rules in what the sender wrote.',
  ),
  ...MARKS,
  hold: part(
    Hold,
    'What an outgoing message waits for or waited for; null when it was sent at once.',
  ).nullable(),
  sentBy: author(
    'Who sent it: the agent or a member. Null for received and imported messages, and for those sent before this was recorded.',
  ).nullable(),
  createdAt: time('When it was received, or accepted for sending.'),
  highlights: several(
    Highlight,
    'Where it has the words of `q`: only in lists with `q`, at most three for each field.',
  ).optional(),
}

const MADE = {
  replyText: madeFrom(['replyText', 'text'], replyTextOf),
  segments: madeFrom(['channel', 'text'], segmentsOf),
  thread: madeFrom(['threadMessageId', 'threadReferences'], threadOf),
  hold: madeFrom(['holdReason', 'holdUntil', 'holdBy'], holdOf),
  sentBy: madeFrom(['agentId', 'sentByMemberId', 'sentByName'], sentByOf),
}

const EXAMPLE = {
  id: ID,
  addressId: OTHER,
  channel: 'email',
  direction: 'inbound',
  counterpart: 'ann@example.com',
  counterpartName: 'Ann Example',
  to: ['support-bot@agents.localhost'],
  cc: [],
  bcc: [],
  subject: 'Where is my order?',
  text: 'It has not arrived yet.',
  replyText: 'It has not arrived yet.',
  segments: null,
  attachments: [{ name: 'receipt.pdf', type: 'application/pdf', size: 48213 }],
  thread: { messageId: '<order-1@example.com>', references: [] },
  threadId: OTHER,
  conversation: null,
  addressed: 'to',
  status: 'received',
  refusal: null,
  admission: 'listed',
  mayInstruct: false,
  error: null,
  checks: [{ name: 'dmarc', verdict: 'pass', detail: 'DKIM of example.com, aligned with From' }],
  codes: [],
  labels: ['orders'],
  readAt: null,
  metadata: { order: '4711' },
  hold: null,
  sentBy: null,
  createdAt: TIME,
}

export const Message = resource('Message', 'A message that an agent received or sent.', {
  fields: FIELDS,
  made: MADE,
  example: EXAMPLE,
})

const WorkspaceMessage = resource('WorkspaceMessage', 'A message in the list of a workspace.', {
  base: Message,
  fields: { ...FIELDS, agentId: id('The agent whose message it is.') },
  made: MADE,
  example: { ...EXAMPLE, agentId: OTHER },
})

const tag = 'Messages'

/** What operations on one message take. */
export const ONE = { agentId: says(uuid, 'The agent.'), messageId: says(uuid, 'The message.') }

export const readMessage = operation({
  name: 'readMessage',
  says: 'Returns a message.',
  rest: 'GET /agents/{agentId}/messages/{messageId}',
  tag,
  input: ONE,
  fails: ['agent'],
  output: one(Message, 'The message.'),
  run: (deps, viewer, { agentId, messageId }) => read(deps, viewer, agentId, messageId),
})

/** What every list of messages takes, apart from the page. */
export const FILTER = {
  channel: says(AddressChannel, 'Only messages on this channel.').optional(),
  direction: says(Direction, 'Only messages in this direction.').optional(),
  status: says(MessageStatus, 'Only messages with this status.').optional(),
  thread: says(uuid, 'Only messages in the same thread as the message with this id.').optional(),
  threadId: says(
    uuid,
    'Only messages of the thread with this id, as `threadId` of a message or an event says it.',
  ).optional(),
  q: says(
    searchText,
    'Full-text search in subject, text and counterpart: at most 128 words, "a phrase", or, -without, and `begin*` for words that begin so (at least 2 characters).',
  ).optional(),
  label: says(label, 'Only messages with this label.').optional(),
  unread: says(
    z.boolean(),
    '`true`: only received messages that are not marked as read; `false`: all others.',
  ).optional(),
  refusal: says(Refusal, 'Only messages that were refused for this reason.').optional(),
  hasAttachment: says(
    z.boolean(),
    '`true`: only messages with attachments; `false`: only messages without.',
  ).optional(),
  from: says(
    recipient,
    'Only inbound messages from this email address, phone number or Telegram user id; `*@example.com` stands for a domain. Any other text is words of the name or address, or parts of them: Björn.',
  ).optional(),
  to: says(
    recipient,
    "Only messages to or in copy to this address or domain, blind copies included, or to words of a recipient's address or known name, as in `from`.",
  ).optional(),
  subject: says(
    searchedSubject,
    'Only messages whose subject contains each of these words or parts of words.',
  ).optional(),
  hold: says(
    HoldReason,
    'Only outgoing messages that wait for this: approval, or the time to send them.',
  ).optional(),
  metadata: says(
    metadata,
    'Only messages with these values in their metadata: `metadata.KEY=VALUE` in a URL, for each key.',
  ).optional(),
  since: says(timestamp, 'Only messages created at or after this time.').optional(),
  until: says(timestamp, 'Only messages created up to this time.').optional(),
}

const SHORT_PAGES =
  'In a large mailbox, `q`, `from`, `refusal`, `label`, `metadata`, `hasAttachment` and `unread` may give a page with fewer entries than requested, even with none. There may be more as long as `nextCursor` is not null.'

export const listWorkspaceMessages = operation({
  name: 'listWorkspaceMessages',
  says: `Lists the messages of all agents of the workspace (members only). ${SHORT_PAGES} The same applies to \`channel\`, \`direction\` and \`status\`.`,
  rest: 'GET /messages',
  tag,
  input: { ...FILTER, ...PAGE },
  fails: ['input', 'forbidden'],
  output: page(WorkspaceMessage, 'Newest first.'),
  run: (deps, viewer, { limit, cursor, ...filter }) =>
    withHighlights(listAll(deps, viewer, { filter, ...pageOf({ limit, cursor }) }), filter.q),
})

export const listMessages = operation({
  name: 'listMessages',
  says: `Lists an agent's messages. ${SHORT_PAGES}`,
  rest: 'GET /agents/{agentId}/messages',
  tag,
  input: { agentId: ONE.agentId, ...FILTER, ...PAGE },
  fails: ['agent'],
  output: page(Message, 'Newest first.'),
  run: (deps, viewer, { agentId, limit, cursor, ...filter }) =>
    withHighlights(list(deps, viewer, agentId, { filter, ...pageOf({ limit, cursor }) }), filter.q),
})
