import { z } from 'zod'
import { CHANNEL_KINDS } from '../../core/channels.ts'
import { invalidInput } from '../../core/errors.ts'
import {
  label,
  labels,
  messageIds,
  metadata,
  metadataChanges,
  recipient,
  searchText,
  timestamp,
  uuid,
} from '../../core/rules.ts'
import { Direction, MessageStatus } from '../../db/generated/prisma/enums.ts'
import {
  cancelMessage,
  listFields,
  listMessages,
  type MessageFilter,
  markMessages,
  readInThread,
  rescheduleMessage,
  withHighlights,
} from '../../message/index.ts'
import { compact, READS_OUTSIDE, type ToolCall, tool, UPDATES } from '../call/tool.ts'
import { cleanValues, LISTED, listView, messageView } from '../view/message.ts'
import { threadView } from '../view/thread.ts'

const DEFAULT_LIMIT = 20
/** Messages on one page. @limit MCP */
const MAX_LIMIT = 50

/** Throws `invalid_input` for filters that no message meets together, which a model takes for an empty inbox. */
const ensureCanMatch = ({ direction, status, unread, from, since, until }: MessageFilter): void => {
  const of: Direction | undefined = from !== undefined || unread ? 'inbound' : status && DIRECTION_OF[status]
  if (direction && of && direction !== of)
    throw invalidInput('direction', `is ${of} for all messages that the other filters match`)
  if (unread && status && status !== 'received')
    throw invalidInput('status', 'is received for all unread messages')
  if (from !== undefined && status && DIRECTION_OF[status] === 'outbound')
    throw invalidInput('from', 'takes the sender of a received message, and this status is of sent ones')
  if (since && until && since > until) throw invalidInput('since', 'must not be later than until')
}

const DIRECTION_OF: Partial<Record<MessageStatus, Direction>> = {
  ...{ received: 'inbound', refused: 'inbound' },
  ...{ sending: 'outbound', sent: 'outbound', failed: 'outbound', reported: 'outbound' },
}

const DAY = /^\d{4}-\d\d-\d\d$/
/** A time, or a day in UTC, of which models pass both; `until` includes its day. */
const time = (ofDay: string) =>
  z
    .string()
    .transform((value) => (DAY.test(value) ? `${value}T${ofDay}Z` : value))
    .pipe(timestamp)
    .optional()

export const list = tool({
  name: 'list_messages',
  names: { q: 'query', thread: 'threadId' },
  title: 'List messages',
  description: 'List messages, newest first. previews has a line for each n. No channel means email.',
  hints: READS_OUTSIDE,
  scope: 'messages:read',
  input: {
    channel: z.enum(CHANNEL_KINDS).optional(),
    direction: z.enum(Direction).optional(),
    status: z.enum(MessageStatus).optional(),
    threadId: uuid.optional().describe('Or any messageId of the thread.'),
    thread: uuid.optional().meta({ deprecated: true }),
    label: label.optional(),
    metadata: metadata.optional(),
    unread: z.boolean().optional(),
    hasAttachment: z.boolean().optional(),
    from: recipient.optional().describe('An address, *@domain, or part of a name.'),
    since: time('00:00:00').describe('A day or time in ISO 8601.'),
    until: time('23:59:59.999'),
    query: searchText.optional().describe('Words, "a phrase", or, -exclude, begin*.'),
    cursor: z.string().max(500).optional().describe('The last nextCursor.'),
    limit: z.int().min(1).max(MAX_LIMIT).optional().describe(`Default: ${DEFAULT_LIMIT}.`),
  },
  run: async (
    { deps, viewer, agentId, fence },
    { query, threadId, cursor, limit = DEFAULT_LIMIT, ...rest },
  ) => {
    const filter = { ...rest, thread: threadId ?? rest.thread }
    ensureCanMatch(filter)
    const asked = { filter: { ...filter, q: query }, limit, cursor, fields: LISTED }
    const page = await withHighlights(listFields(deps, viewer, agentId, asked), query)
    return { ...listView(page.items, fence), ...compact({ nextCursor: page.nextCursor }) }
  },
})

export const read = tool({
  name: 'read_message',
  title: 'Read a message',
  description: 'Read a message. Also lists its attachments and the other messages in its thread.',
  hints: READS_OUTSIDE,
  scope: 'messages:read',
  input: {
    messageId: uuid,
    offset: z.int().min(0).optional().describe('The last nextOffset.'),
    quoted: z.boolean().optional().describe('Include quoted history.'),
  },
  run: async ({ deps, viewer, agentId, fence }, { messageId, offset = 0, quoted = false }) => {
    return messageView(await readInThread(deps, viewer, agentId, messageId), { offset, quoted }, fence)
  },
})

const DEFAULT_TOKENS = 2_000
const [MIN_TOKENS, MAX_TOKENS] = [300, 10_000]
/** Messages of a thread that are read. */
const MAX_READ = 100

export const readThread = tool({
  name: 'read_thread',
  title: 'Read a thread',
  description: 'Read a whole conversation, newest first: line n of texts is by message n.',
  hints: READS_OUTSIDE,
  scope: 'messages:read',
  names: { thread: 'messageId' },
  input: {
    messageId: uuid.describe('Any message of it.'),
    query: searchText.optional().describe('Only messages with these words.'),
    tokens: z.int().min(MIN_TOKENS).max(MAX_TOKENS).optional().describe(`Default: ${DEFAULT_TOKENS}.`),
  },
  run: async ({ deps, viewer, agentId, fence }, { messageId, query, tokens = DEFAULT_TOKENS }) => {
    const { items, nextCursor } = await listMessages(deps, viewer, agentId, {
      filter: { thread: messageId },
      limit: MAX_READ,
    })
    return threadView({ messages: items, more: nextCursor !== null }, { query, tokens }, fence)
  },
})

/** Cancels a message that waits to be sent, or changes when it is. */
const changeWaiting = async (
  { deps, viewer, agentId }: ToolCall,
  ids: readonly string[],
  { sendAt, ...marks }: { sendAt: Date | null },
) => {
  const field = sendAt ? 'sendAt' : 'cancel'
  if (ids.length > 1) throw invalidInput(field, 'is for one message at a time')
  if (Object.values(marks).some((value) => value !== undefined))
    throw invalidInput(field, 'cannot be combined with labels, metadata and read marks')
  const ref = { agentId, messageId: ids[0]! }
  const { id, status, holdUntil } = sendAt
    ? await rescheduleMessage(deps, viewer, ref, sendAt)
    : await cancelMessage(deps, viewer, ref)
  return compact({ messageId: id, status, cancelled: sendAt === null, sendAt: sendAt && holdUntil })
}

export const update = tool({
  name: 'update_message',
  names: { ids: 'messageId' },
  title: 'Update messages',
  description: 'Label messages, mark them as read or unread, or cancel or move one that waits to be sent.',
  hints: UPDATES,
  scope: 'messages:write',
  input: {
    messageId: z
      .union([uuid.transform((one) => [one]), messageIds])
      .optional()
      .describe('One or several.'),
    ids: messageIds.optional().meta({ deprecated: true }),
    addLabels: labels.optional(),
    removeLabels: labels.optional(),
    read: z.boolean().optional(),
    metadata: metadataChanges.optional(),
    cancel: z.literal(true).optional(),
    sendAt: timestamp.optional(),
  },
  run: async (call, { messageId, ids = messageId, cancel, sendAt, ...changes }) => {
    const { deps, viewer, agentId } = call
    if (!ids) throw invalidInput('messageId', 'is required')
    if (cancel || sendAt) return changeWaiting(call, ids, { sendAt: cancel ? null : sendAt!, ...changes })
    const marked = await markMessages(deps, viewer, agentId, { ids, ...changes })
    return {
      messages: marked.map(({ id, labels, readAt, metadata }) =>
        compact({ messageId: id, labels, readAt, metadata: cleanValues(metadata) }),
      ),
    }
  },
})
