import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { messageIds } from '../../core/rules.ts'
import { Admission, MessageStatus } from '../../db/generated/prisma/enums.ts'
import { releaseMessage, releaseMessages } from '../../message/in/release.ts'
import { presentMessage } from '../../message/reading/present.ts'
import type { RestEnv } from '../env.ts'
import { body, failures, ids, ok, SECURITY } from '../route.ts'
import { ID, id } from '../views.ts'
import { MessageView } from './message-views.ts'

const ReleasedMessageView = z
  .object({ id, status: z.enum(MessageStatus), admission: z.enum(Admission).nullable() })
  .openapi('ReleasedMessage', { example: { id: ID, status: 'received', admission: 'anyone' } })

const listSender = z
  .boolean()
  .optional()
  .openapi({ description: "Also adds the sender to those that the channel admits. A block isn't lifted" })

const tags = ['Messages']
const security = SECURITY
const description =
  "The message becomes `received`, with the admission that its sender would have now (`anyone` if none), counts towards the plan and raises its event. The last of its `checks` says who released it. A message that is received already stays as it is. An agent's token works if the workspace allows agents to set access."
const responses = failures('agent', 'body', 'plan', 'conflict')

const release = createRoute({
  method: 'post',
  path: '/agents/{id}/messages/{messageId}/release',
  operationId: 'releaseMessage',
  summary: 'Release a refused message, so that it reaches the agent',
  description,
  tags,
  security,
  request: {
    params: ids('id', 'messageId'),
    ...body(z.strictObject({ listSender }).openapi({ example: { listSender: true } })),
  },
  responses: { 200: ok('The message', MessageView), ...responses },
})

const releaseMany = createRoute({
  method: 'post',
  path: '/agents/{id}/messages/release',
  operationId: 'releaseMessages',
  summary: 'Release up to 100 refused messages, oldest first: all of them, or none',
  description,
  tags,
  security,
  request: {
    params: ids('id'),
    ...body(z.strictObject({ ids: messageIds, listSender }).openapi({ example: { ids: [ID] } })),
  },
  responses: { 200: ok('In the order of `ids`', z.array(ReleasedMessageView)), ...responses },
})

export const messageReleaseRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(release, async (c) => {
    const { id: agentId, messageId } = c.req.valid('param')
    const { deps, viewer } = c.var
    const released = await releaseMessage(deps, viewer, { agentId, messageId }, c.req.valid('json'))
    return c.json(presentMessage(released), 200)
  })
  app.openapi(releaseMany, async (c) => {
    const { deps, viewer } = c.var
    return c.json(await releaseMessages(deps, viewer, c.req.valid('param').id, c.req.valid('json')), 200)
  })
}
