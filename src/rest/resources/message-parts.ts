import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { uuid } from '../../core/rules.ts'
import { linkAttachment } from '../../message/reading/attachment-link.ts'
import { readAttachment, readRaw } from '../../message/reading/read.ts'
import { listRecipients, presentRecipient } from '../../message/reading/recipients.ts'
import type { RestEnv } from '../env.ts'
import { bytes, failures, ids, integer, ok, SECURITY } from '../route.ts'
import { attachmentHeaders } from './file.ts'
import { AttachmentLinkView, RecipientView } from './message-views.ts'

/** What belongs to one message: its recipients, its attachments and the email as received. */

const tags = ['Messages']
const security = SECURITY

const recipientList = createRoute({
  method: 'get',
  path: '/agents/{id}/messages/{messageId}/recipients',
  operationId: 'listRecipients',
  summary: 'List the recipients of a sent message with the status of each',
  tags,
  security,
  request: { params: ids('id', 'messageId') },
  responses: {
    200: ok('Sorted by address; empty for a received message', z.array(RecipientView)),
    ...failures('agent'),
  },
})

const raw = createRoute({
  method: 'get',
  path: '/agents/{id}/messages/{messageId}/raw',
  operationId: 'readRawMessage',
  summary: 'Get the original email as received, byte for byte',
  tags,
  security,
  request: { params: ids('id', 'messageId') },
  responses: { 200: bytes('An RFC 5322 message', 'message/rfc822'), ...failures('agent') },
})

const attachment = createRoute({
  method: 'get',
  path: '/agents/{id}/messages/{messageId}/attachments/{index}',
  operationId: 'readAttachment',
  summary: "Get an attachment's content",
  tags,
  security,
  request: { params: z.object({ id: uuid, messageId: uuid, index: integer(0, 9999) }) },
  responses: {
    200: bytes('The content, with the content type of the attachment', '*/*'),
    ...failures('agent'),
  },
})

const attachmentLink = createRoute({
  method: 'post',
  path: '/agents/{id}/messages/{messageId}/attachments/{index}/link',
  operationId: 'linkAttachment',
  summary: 'Create a link to an attachment that works without a token, for ten minutes',
  tags,
  security,
  request: { params: z.object({ id: uuid, messageId: uuid, index: integer(0, 9999) }) },
  responses: { 201: ok('The link', AttachmentLinkView), ...failures('agent', 'conflict') },
})

export const messagePartRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(recipientList, async (c) => {
    const { id, messageId } = c.req.valid('param')
    return c.json((await listRecipients(c.var.deps, c.var.viewer, id, messageId)).map(presentRecipient), 200)
  })
  app.openapi(raw, async (c) => {
    const { id, messageId } = c.req.valid('param')
    const content = await readRaw(c.var.deps, c.var.viewer, id, messageId)
    return c.body(content, 200, attachmentHeaders(`${messageId}.eml`, 'message/rfc822'))
  })
  app.openapi(attachment, async (c) => {
    const { id, messageId, index } = c.req.valid('param')
    const { name, type, content } = await readAttachment(c.var.deps, c.var.viewer, id, { messageId, index })
    return c.body(content, 200, attachmentHeaders(name, type))
  })
  app.openapi(attachmentLink, async (c) => {
    const { id, messageId, index } = c.req.valid('param')
    const { url, expiresAt } = await linkAttachment(c.var.deps, c.var.viewer, id, { messageId, index })
    return c.json({ url, expiresAt: expiresAt.toISOString() }, 201)
  })
}
