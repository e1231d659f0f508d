import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { messageIds } from '../../core/rules.ts'
import { deleteMessage, deleteMessages } from '../../message/delete.ts'
import type { RestEnv } from '../env.ts'
import { body, failures, ids, NO_CONTENT, SECURITY } from '../route.ts'
import { ID } from '../views.ts'

const tags = ['Messages']
const security = SECURITY
const description =
  'With their files and originals. A message that waits to be sent is not sent any more, unless sending has begun. The events about a deleted message stay in the event log, which contains no texts, for 7 days.'

const remove = createRoute({
  method: 'delete',
  path: '/agents/{id}/messages/{messageId}',
  operationId: 'deleteMessage',
  summary: 'Delete a message',
  description,
  tags,
  security,
  request: { params: ids('id', 'messageId') },
  responses: { 204: NO_CONTENT, ...failures('agent') },
})

const removeMany = createRoute({
  method: 'post',
  path: '/agents/{id}/messages/delete',
  operationId: 'deleteMessages',
  summary: 'Delete up to 100 messages: all of them, or none',
  description,
  tags,
  security,
  request: {
    params: ids('id'),
    ...body(z.strictObject({ ids: messageIds }).openapi({ example: { ids: [ID] } })),
  },
  responses: { 204: NO_CONTENT, ...failures('agent', 'body', 'conflict') },
})

export const messageDeletionRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(remove, async (c) => {
    const { id: agentId, messageId } = c.req.valid('param')
    await deleteMessage(c.var.deps, c.var.viewer, { agentId, messageId })
    return c.body(null, 204)
  })
  app.openapi(removeMany, async (c) => {
    await deleteMessages(c.var.deps, c.var.viewer, c.req.valid('param').id, c.req.valid('json').ids)
    return c.body(null, 204)
  })
}
