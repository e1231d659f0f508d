import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import {
  linkAttachment,
  linkMessageHtml,
  linkRawMessage,
  listRecipients,
  readAttachmentText,
  readHiddenText,
  readMessageHeaders,
} from '../../api/message/message-part.ts'
import { uuid } from '../../core/rules.ts'
import { readAttachment, readRaw } from '../../message/index.ts'
import type { RestEnv } from '../route/env.ts'
import { route } from '../route/rendered.ts'
import { bytes, failures, ids, integer, secured } from '../route/route.ts'
import { attachmentHeaders } from './download-headers.ts'

/** What belongs to one message. Its files are written here: they are no JSON. */

const tags = ['Messages']
const security = secured('messages:read')

const raw = createRoute({
  method: 'get',
  path: '/agents/{id}/messages/{messageId}/raw',
  operationId: 'readRawMessage',
  summary: 'Get the original email as received, byte for byte',
  tags,
  ...security,
  request: { params: ids('id', 'messageId') },
  responses: { 200: bytes('An RFC 5322 message', 'message/rfc822'), ...failures('agent') },
})

const attachment = createRoute({
  method: 'get',
  path: '/agents/{id}/messages/{messageId}/attachments/{index}',
  operationId: 'readAttachment',
  summary: "Get an attachment's content",
  tags,
  ...security,
  request: { params: z.object({ id: uuid, messageId: uuid, index: integer(0, 9999) }) },
  responses: {
    200: bytes('The content, with the content type of the attachment', '*/*'),
    ...failures('agent'),
  },
})

export const messagePartRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, listRecipients)
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
  route(app, linkAttachment)
  route(app, readAttachmentText)
  route(app, readMessageHeaders)
  route(app, readHiddenText)
  route(app, linkMessageHtml)
  route(app, linkRawMessage)
}
