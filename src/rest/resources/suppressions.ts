import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { listSuppressions, presentSuppression, removeSuppression } from '../../agent/suppression.ts'
import { recipient, uuid } from '../../core/rules.ts'
import { Channel, SuppressionReason } from '../../db/generated/prisma/enums.ts'
import type { RestEnv } from '../env.ts'
import { DEFAULT_LIMIT, failures, ids, NO_CONTENT, ok, PAGING, SECURITY } from '../route.ts'
import { pageView, TIME, time } from '../views.ts'

const SuppressionView = z
  .object({
    channel: z.enum(Channel),
    recipient: z.string(),
    reason: z.enum(SuppressionReason),
    detail: z.string().openapi({ description: 'The reply of the receiving side' }),
    createdAt: time,
  })
  .openapi('Suppression', {
    example: {
      channel: 'email',
      recipient: 'ann@example.com',
      reason: 'bounce',
      detail: '550 5.1.1 No such user',
      createdAt: TIME,
    },
  })

const tags = ['Suppressions']
const security = SECURITY

const list = createRoute({
  method: 'get',
  path: '/agents/{id}/suppressions',
  operationId: 'listSuppressions',
  summary:
    "List the agent's suppression list: recipients that bounced with a permanent failure, or complained",
  tags,
  security,
  request: { params: ids('id'), query: z.strictObject(PAGING) },
  responses: { 200: ok('Newest first', pageView(SuppressionView)), ...failures('agent') },
})

const remove = createRoute({
  method: 'delete',
  path: '/agents/{id}/suppressions/{recipient}',
  operationId: 'removeSuppression',
  summary: 'Remove a recipient from the suppression list, so that the agent can send to it again',
  tags,
  security,
  request: { params: z.object({ id: uuid, recipient }) },
  responses: { 204: NO_CONTENT, ...failures('agent') },
})

export const suppressionRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(list, async (c) => {
    const { limit = DEFAULT_LIMIT, cursor } = c.req.valid('query')
    const page = await listSuppressions(c.var.deps, c.var.viewer, c.req.valid('param').id, { limit, cursor })
    return c.json({ items: page.items.map(presentSuppression), nextCursor: page.nextCursor }, 200)
  })
  app.openapi(remove, async (c) => {
    const { id, recipient } = c.req.valid('param')
    await removeSuppression(c.var.deps, c.var.viewer, id, recipient)
    return c.body(null, 204)
  })
}
