import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { CHANNEL_KINDS } from '../../core/channels.ts'
import {
  copies,
  fileContent,
  fileName,
  filesOfMessage,
  label,
  labels,
  mediaType,
  messageHtml,
  messageIds,
  messageSubject,
  messageText,
  recipient,
  recipients,
  searchedSubject,
  searchText,
  timestamp,
  uuid,
} from '../../core/rules.ts'
import { Direction, HoldReason, MessageStatus, Refusal } from '../../db/generated/prisma/enums.ts'
import { rescheduleMessage } from '../../message/out/schedule.ts'
import { sendMessage } from '../../message/out/send.ts'
import { listMessages, listWorkspaceMessages } from '../../message/reading/list.ts'
import { markMessage, markMessages, presentMarks } from '../../message/reading/marks.ts'
import { presentMessage } from '../../message/reading/present.ts'
import { readMessage } from '../../message/reading/read.ts'
import type { RestEnv } from '../env.ts'
import { body, DEFAULT_LIMIT, failures, flag, ids, moment, ok, PAGING, SECURITY } from '../route.ts'
import { ID, pageView } from '../views.ts'
import { MessageMarksView, MessageView, WorkspaceMessageView } from './message-views.ts'

const tags = ['Messages']
const security = SECURITY
const channel = z.enum(CHANNEL_KINDS)

/** The fields of a request to send. */
const SEND_FIELDS = {
  text: messageText.optional().openapi({
    description: 'Required, unless `html` is given: then it is made from that when left out',
  }),
  html: messageHtml.optional().openapi({
    description:
      'Email only: HTML beside the text. Scripts, forms and everything that is loaded from elsewhere are removed, except images (https)',
  }),
  replyTo: uuid.optional().openapi({
    description: 'The message to reply to. Recipients and subject are taken from it unless they are given',
  }),
  replyAll: z.boolean().optional().openapi({
    description:
      'A reply to all: to the sender and the other recipients of the message, in copy to those who had one, and not to the agent itself. Not with `to`',
  }),
  forward: uuid
    .optional()
    .openapi({ description: 'The message to forward, with its text and attachments. Requires `to`' }),
  channel: channel.optional().openapi({
    description: "The channel of a new message, sent from the agent's primary address on it. Requires `to`",
  }),
  to: recipients.optional(),
  cc: copies.optional(),
  subject: messageSubject.optional(),
  sendAt: timestamp.optional().openapi({
    format: 'date-time',
    description: 'When to send it, at most 30 days ahead. Left out: at once',
  }),
  attachments: filesOfMessage(z.strictObject({ name: fileName, type: mediaType, content: fileContent }))
    .optional()
    .openapi({
      description: 'Attachments, 10 MiB in total; a forward also includes the original ones',
    }),
}

const send = createRoute({
  method: 'post',
  path: '/agents/{id}/messages',
  operationId: 'sendMessage',
  summary:
    'Send a message: a reply (`replyTo`), a forward (`forward` with `to`) or a new message (`channel` with `to`)',
  tags,
  security,
  request: {
    params: ids('id'),
    ...body(
      z
        .strictObject({
          ...SEND_FIELDS,
        })
        .openapi({
          example: { channel: 'email', to: ['ann@example.com'], subject: 'Hello', text: 'Hello Ann' },
        }),
    ),
  },
  responses: {
    201: ok('The message, with status `sending`', MessageView),
    ...failures('agent', 'body', 'plan', 'conflict'),
  },
})

/** Query parameters of every list of messages. */
const LISTED = {
  channel: channel.optional(),
  direction: z.enum(Direction).optional(),
  status: z.enum(MessageStatus).optional(),
  thread: uuid.optional().openapi({ description: 'The id of any message in the thread' }),
  q: searchText.optional().openapi({
    description:
      'Full-text search in subject, text and counterpart: at most 128 words, "a phrase", or, -without, and `begin*` for words that begin so (at least 2 characters)',
  }),
  label: label.optional().openapi({ description: 'Only messages with this label' }),
  unread: flag.optional().openapi({
    description: '`true`: only received messages that are not marked as read; `false`: all others',
  }),
  refusal: z
    .enum(Refusal)
    .optional()
    .openapi({ description: 'Only messages that were refused for this reason' }),
  hasAttachment: flag.optional(),
  from: recipient.optional().openapi({
    description:
      'Only inbound messages from this email address, phone number or Telegram user id; `*@example.com` stands for a domain. Any other text is words of the name or address, or parts of them',
  }),
  to: recipient.optional().openapi({
    description:
      "Only messages to or in copy to this address or domain, or to words of a recipient's address or known name, as in `from`",
  }),
  subject: searchedSubject.optional().openapi({
    description: 'Only messages whose subject contains each of these words or parts of words',
  }),
  hold: z
    .enum(HoldReason)
    .optional()
    .openapi({ description: 'Only outgoing messages that wait for approval, or for the time to send them' }),
  since: moment.optional(),
  until: moment.optional(),
  ...PAGING,
}

const SHORT_PAGES =
  'In a large mailbox, `q`, `from`, `refusal`, `label`, `hasAttachment` and `unread` may give a page with fewer entries than requested, even with none. There may be more as long as `nextCursor` is not null.'

const listAll = createRoute({
  method: 'get',
  path: '/messages',
  operationId: 'listWorkspaceMessages',
  summary: 'List the messages of all agents of the workspace (members only)',
  description: `${SHORT_PAGES} The same applies to \`channel\`, \`direction\` and \`status\`.`,
  tags,
  security,
  request: { query: z.strictObject(LISTED) },
  responses: {
    200: ok('Newest first', pageView(WorkspaceMessageView)),
    ...failures('input', 'forbidden'),
  },
})

const list = createRoute({
  method: 'get',
  path: '/agents/{id}/messages',
  operationId: 'listMessages',
  summary: "List an agent's messages",
  description: SHORT_PAGES,
  tags,
  security,
  request: {
    params: ids('id'),
    query: z.strictObject(LISTED),
  },
  responses: { 200: ok('Newest first', pageView(MessageView)), ...failures('agent') },
})

const read = createRoute({
  method: 'get',
  path: '/agents/{id}/messages/{messageId}',
  operationId: 'readMessage',
  summary: 'Get a message',
  tags,
  security,
  request: { params: ids('id', 'messageId') },
  responses: { 200: ok('The message', MessageView), ...failures('agent') },
})

const mark = createRoute({
  method: 'patch',
  path: '/agents/{id}/messages/{messageId}',
  operationId: 'markMessage',
  summary: 'Set the labels of a message, mark it as read or unread, or change when it is sent',
  description:
    'Labels and read marks belong to the message: members and the agent share them. Reading a message does not mark it; replying to it does. Labels are trimmed, case-sensitive and distinct, and keep their order.',
  tags,
  security,
  request: {
    params: ids('id', 'messageId'),
    ...body(
      z
        .strictObject({
          labels: labels.optional().openapi({ description: 'Replaces all labels' }),
          read: z.boolean().optional(),
          sendAt: timestamp.optional().openapi({
            format: 'date-time',
            description:
              'When to send a message that waits for approval or for its time, at most 30 days ahead. `conflict` if it does not wait',
          }),
        })
        .openapi({ example: { labels: ['orders'], read: true } }),
    ),
  },
  responses: { 200: ok('The message', MessageView), ...failures('agent', 'body', 'conflict') },
})

const markMany = createRoute({
  method: 'patch',
  path: '/agents/{id}/messages',
  operationId: 'markMessages',
  summary: 'Add labels to up to 100 messages, remove labels from them, or mark them as read or unread',
  description: 'Changes all of the messages, or none if one of them cannot be changed.',
  tags,
  security,
  request: {
    params: ids('id'),
    ...body(
      z
        .strictObject({
          ids: messageIds,
          addLabels: labels.optional(),
          removeLabels: labels.optional(),
          read: z.boolean().optional(),
        })
        .openapi({ example: { ids: [ID], addLabels: ['orders'], read: true } }),
    ),
  },
  responses: {
    200: ok('The labels and read marks, in the order of `ids`', z.array(MessageMarksView)),
    ...failures('agent', 'body'),
  },
})

export const messageRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(send, async (c) =>
    c.json(
      presentMessage(
        await sendMessage(c.get('deps'), c.get('viewer'), c.req.valid('param').id, c.req.valid('json')),
      ),
      201,
    ),
  )
  app.openapi(list, async (c) => {
    const { limit = DEFAULT_LIMIT, cursor, ...filter } = c.req.valid('query')
    const page = await listMessages(c.get('deps'), c.get('viewer'), c.req.valid('param').id, {
      filter,
      limit,
      cursor,
    })
    return c.json({ items: page.items.map(presentMessage), nextCursor: page.nextCursor }, 200)
  })
  app.openapi(listAll, async (c) => {
    const { limit = DEFAULT_LIMIT, cursor, ...filter } = c.req.valid('query')
    const page = await listWorkspaceMessages(c.var.deps, c.var.viewer, { filter, limit, cursor })
    const items = page.items.map((message) => ({ ...presentMessage(message), agentId: message.agentId }))
    return c.json({ items, nextCursor: page.nextCursor }, 200)
  })
  app.openapi(read, async (c) => {
    const { id, messageId } = c.req.valid('param')
    return c.json(presentMessage(await readMessage(c.get('deps'), c.get('viewer'), id, messageId)), 200)
  })
  app.openapi(mark, async (c) => {
    const { id: agentId, messageId } = c.req.valid('param')
    const { deps, viewer } = c.var
    const { sendAt, ...marks } = c.req.valid('json')
    if (sendAt) await rescheduleMessage(deps, viewer, { agentId, messageId }, sendAt)
    const marked = await markMessage(deps, viewer, { agentId, messageId }, marks)
    return c.json(presentMessage(marked), 200)
  })
  app.openapi(markMany, async (c) => {
    const { deps, viewer } = c.var
    const marked = await markMessages(deps, viewer, c.req.valid('param').id, c.req.valid('json'))
    return c.json(marked.map(presentMarks), 200)
  })
}
