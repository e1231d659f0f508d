import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { attachments, copies, messageSubject, messageText, recipients, searchText, uuid } from '../core/rules.ts'
import { Direction, MessageStatus } from '../db/generated/prisma/enums.ts'
import { linkAttachment } from '../message/attachment-link.ts'
import { listMessages } from '../message/list.ts'
import { presentMessage } from '../message/present.ts'
import { readAttachment, readMessage, readRaw } from '../message/read.ts'
import { listRecipients, presentRecipient } from '../message/recipients.ts'
import { sendMessage } from '../message/send.ts'
import type { RestEnv } from './env.ts'
import { attachmentHeaders } from './file.ts'
import { body, DEFAULT_LIMIT, failures, ids, integer, moment, ok, PAGING, SECURITY } from './route.ts'
import { AttachmentLinkView, MessageView, pageView, RecipientView } from './views.ts'

const tags = ['Messages']
const security = SECURITY
const channel = z.enum(['email', 'sms', 'telegram'])

const send = createRoute({
  method: 'post',
  path: '/agents/{id}/messages',
  operationId: 'sendMessage',
  summary: 'Send a message: answer (`replyTo`), pass on (`forward` with `to`) or start (`channel` with `to`)',
  tags,
  security,
  request: {
    params: ids('id'),
    ...body(
      z
        .strictObject({
          text: messageText,
          replyTo: uuid
            .optional()
            .openapi({ description: 'To answer: the message. Recipients and subject follow from it unless they are given' }),
          forward: uuid.optional().openapi({ description: 'To pass on: the message, with its text and attachments. Wants `to`' }),
          channel: channel.optional().openapi({ description: "To start: where, from the agent's primary address there. Wants `to`" }),
          to: recipients.optional(),
          cc: copies.optional(),
          subject: messageSubject.optional(),
          attachments: attachments
            .optional()
            .openapi({ description: 'Files to send along, 10 MiB in all; a forward has the original ones too' }),
        })
        .openapi({ example: { channel: 'email', to: ['ann@example.com'], subject: 'Hello', text: 'Hello Ann' } }),
    ),
  },
  responses: { 201: ok('The message, with status `sending`', MessageView), ...failures('agent', 'body', 'plan', 'conflict') },
})

const list = createRoute({
  method: 'get',
  path: '/agents/{id}/messages',
  operationId: 'listMessages',
  summary: "List an agent's messages",
  tags,
  security,
  request: {
    params: ids('id'),
    query: z.strictObject({
      channel: channel.optional(),
      direction: z.enum(Direction).optional(),
      status: z.enum(MessageStatus).optional(),
      thread: uuid.optional().openapi({ description: 'The id of any message of the thread' }),
      q: searchText
        .optional()
        .openapi({ description: 'Full-text search in subject, text and counterpart: words, "a phrase", or, -without' }),
      since: moment.optional(),
      until: moment.optional(),
      ...PAGING,
    }),
  },
  responses: { 200: ok('Newest first', pageView(MessageView)), ...failures('agent') },
})

const read = createRoute({
  method: 'get',
  path: '/agents/{id}/messages/{messageId}',
  operationId: 'readMessage',
  summary: 'Read a message',
  tags,
  security,
  request: { params: ids('id', 'messageId') },
  responses: { 200: ok('The message', MessageView), ...failures('agent') },
})

const bytes = (description: string, type: string) => ({
  description,
  content: { [type]: { schema: z.string().openapi({ format: 'binary' }) } },
})

const recipientList = createRoute({
  method: 'get',
  path: '/agents/{id}/messages/{messageId}/recipients',
  operationId: 'listRecipients',
  summary: 'Read how far a sent message came with each of its recipients',
  tags,
  security,
  request: { params: ids('id', 'messageId') },
  responses: { 200: ok('By address; empty for a received message', z.array(RecipientView)), ...failures('agent') },
})

const raw = createRoute({
  method: 'get',
  path: '/agents/{id}/messages/{messageId}/raw',
  operationId: 'readRawMessage',
  summary: 'The email as received, byte for byte',
  tags,
  security,
  request: { params: ids('id', 'messageId') },
  responses: { 200: bytes('An RFC 5322 message', 'message/rfc822'), ...failures('agent') },
})

const attachment = createRoute({
  method: 'get',
  path: '/agents/{id}/messages/{messageId}/attachments/{index}',
  operationId: 'readAttachment',
  summary: "An attachment's content",
  tags,
  security,
  request: { params: z.object({ id: uuid, messageId: uuid, index: integer(0, 9999) }) },
  responses: { 200: bytes('Its content, in its own content type', '*/*'), ...failures('agent') },
})

const attachmentLink = createRoute({
  method: 'post',
  path: '/agents/{id}/messages/{messageId}/attachments/{index}/link',
  operationId: 'linkAttachment',
  summary: 'A link to an attachment that works without a token, for ten minutes',
  tags,
  security,
  request: { params: z.object({ id: uuid, messageId: uuid, index: integer(0, 9999) }) },
  responses: { 201: ok('The link', AttachmentLinkView), ...failures('agent', 'conflict') },
})

export const messageRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(send, async (c) =>
    c.json(presentMessage(await sendMessage(c.var.deps, c.var.viewer, c.req.valid('param').id, c.req.valid('json'))), 201),
  )
  app.openapi(list, async (c) => {
    const { limit = DEFAULT_LIMIT, cursor, ...filter } = c.req.valid('query')
    const page = await listMessages(c.var.deps, c.var.viewer, c.req.valid('param').id, filter, { limit, cursor })
    return c.json({ items: page.items.map(presentMessage), nextCursor: page.nextCursor }, 200)
  })
  app.openapi(read, async (c) => {
    const { id, messageId } = c.req.valid('param')
    return c.json(presentMessage(await readMessage(c.var.deps, c.var.viewer, id, messageId)), 200)
  })
  app.openapi(recipientList, async (c) => {
    const { id, messageId } = c.req.valid('param')
    return c.json((await listRecipients(c.var.deps, c.var.viewer, id, messageId)).map(presentRecipient), 200)
  })
  app.openapi(raw, async (c) => {
    const { id, messageId } = c.req.valid('param')
    const content = await readRaw(c.var.deps, c.var.viewer, id, messageId)
    return c.body(Uint8Array.from(content), 200, attachmentHeaders(`${messageId}.eml`, 'message/rfc822'))
  })
  app.openapi(attachment, async (c) => {
    const { id, messageId, index } = c.req.valid('param')
    const { name, type, content } = await readAttachment(c.var.deps, c.var.viewer, id, messageId, index)
    return c.body(Uint8Array.from(content), 200, attachmentHeaders(name, type))
  })
  app.openapi(attachmentLink, async (c) => {
    const { id, messageId, index } = c.req.valid('param')
    const { url, expiresAt } = await linkAttachment(c.var.deps, c.var.viewer, id, { messageId, index })
    return c.json({ url, expiresAt: expiresAt.toISOString() }, 201)
  })
}
