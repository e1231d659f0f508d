import { z } from 'zod'
import { CHANNEL_KINDS } from '../../core/channels.ts'
import { label, labels, messageIds, recipient, searchText, uuid } from '../../core/rules.ts'
import { Direction, MessageStatus } from '../../db/generated/prisma/enums.ts'
import { listMessages } from '../../message/reading/list.ts'
import { markMessages, presentMarks } from '../../message/reading/marks.ts'
import { readInThread } from '../../message/reading/siblings.ts'
import { lineOf, messageView } from '../message-view.ts'
import { compact, READS_OUTSIDE, tool, UPDATES } from '../tool.ts'

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 50

export const list = tool({
  name: 'list_messages',
  title: 'List messages',
  description: 'List messages, newest first, with a preview of each.',
  hints: READS_OUTSIDE,
  input: {
    channel: z.enum(CHANNEL_KINDS).optional(),
    direction: z.enum(Direction).optional(),
    status: z.enum(MessageStatus).optional(),
    thread: uuid.optional().describe('A messageId; lists only its thread.'),
    label: label.optional(),
    unread: z.boolean().optional(),
    hasAttachment: z.boolean().optional(),
    from: recipient.optional().describe('A sender, or *@domain.'),
    query: searchText.optional().describe('Words, "a phrase", or, -exclude.'),
    cursor: z.string().max(500).optional().describe('nextCursor of the previous page.'),
    limit: z.int().min(1).max(MAX_LIMIT).optional().describe(`Default: ${DEFAULT_LIMIT}.`),
  },
  run: async ({ deps, viewer, agentId, fence }, { query, cursor, limit = DEFAULT_LIMIT, ...filter }) => {
    const page = await listMessages(deps, viewer, agentId, {
      filter: { ...filter, q: query },
      limit,
      cursor,
    })
    return {
      fence: fence.id,
      messages: page.items.map((item) => lineOf(item, fence)),
      ...compact({ nextCursor: page.nextCursor }),
    }
  },
})

export const read = tool({
  name: 'read_message',
  title: 'Read a message',
  description: 'Read a message. Also lists its attachments and the other messages in its thread.',
  hints: READS_OUTSIDE,
  input: {
    messageId: uuid,
    offset: z.int().min(0).optional().describe('nextOffset of the previous page.'),
    quoted: z.boolean().optional().describe('Include quoted history.'),
  },
  run: async ({ deps, viewer, agentId, fence }, { messageId, offset = 0, quoted = false }) => {
    return messageView(await readInThread(deps, viewer, agentId, messageId), { offset, quoted }, fence)
  },
})

export const update = tool({
  name: 'update_message',
  title: 'Update messages',
  description: 'Add or remove labels, or mark messages as read or unread.',
  hints: UPDATES,
  input: {
    ids: messageIds.describe('messageIds.'),
    addLabels: labels.optional(),
    removeLabels: labels.optional(),
    read: z.boolean().optional(),
  },
  run: async ({ deps, viewer, agentId }, changes) => {
    const marked = await markMessages(deps, viewer, agentId, changes)
    return {
      messages: marked.map(presentMarks).map(({ id, ...marks }) => compact({ messageId: id, ...marks })),
    }
  },
})
