import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { unsubscribe } from '../../message/out/unsubscribe.ts'
import { presentMessage } from '../../message/reading/present.ts'
import type { RestEnv } from '../env.ts'
import { failures, ids, ok, SECURITY } from '../route.ts'
import { MessageView } from './message-views.ts'

const route = createRoute({
  method: 'post',
  path: '/agents/{id}/messages/{messageId}/unsubscribe',
  operationId: 'unsubscribe',
  summary: 'Unsubscribe from what a received email belongs to',
  description:
    'For emails with a check `unsubscribe`: its verdict is `one_click` (a request to the sender, RFC 8058) or `mail` (a mail from the address at which it arrived). It is there only if a valid signature of a proven sender covers the header fields that say how. Afterwards the verdict is `requested`, and nothing happens again. `unavailable` if the sender does not accept the request.',
  tags: ['Messages'],
  security: SECURITY,
  request: { params: ids('id', 'messageId') },
  responses: { 200: ok('The message', MessageView), ...failures('agent', 'plan', 'conflict') },
})

export const unsubscribeRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(route, async (c) => {
    const { id: agentId, messageId } = c.req.valid('param')
    return c.json(presentMessage(await unsubscribe(c.var.deps, c.var.viewer, { agentId, messageId })), 200)
  })
}
