import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { urlText } from '../../core/rules.ts'
import { presentEvent } from '../../event/event.ts'
import { sendToUrl } from '../../message/out/url.ts'
import type { RestEnv } from '../env.ts'
import { body, failures, ids, ok, SECURITY } from '../route.ts'
import { EventView } from './event-view.ts'

const about = {
  summary: "Send to an agent's Message URL",
  description:
    'Sends a message as the member or agent whose token is used. The full message is passed to the current listeners; it is not stored. `conflict` if there is no listener, `forbidden` if the agent does not accept messages from the caller.',
  tags: ['Message URL'],
  security: SECURITY,
  request: {
    params: ids('id'),
    ...body(z.strictObject({ text: urlText }).openapi({ example: { text: 'The build is green again.' } })),
  },
  responses: { 200: ok('The event', EventView), ...failures('agent', 'body', 'conflict') },
}

const nested = createRoute({ method: 'post', path: '/agents/{id}/url', operationId: 'sendToUrl', ...about })
const short = createRoute({ method: 'post', path: '/a/{id}', operationId: 'sendToMessageUrl', ...about })

/** The same request on both of its paths. */
export const urlRoutes = (app: OpenAPIHono<RestEnv>): void => {
  for (const route of [nested, short] as const) {
    app.openapi(route, async (c) => {
      const event = await sendToUrl(
        c.var.deps,
        c.var.viewer,
        c.req.valid('param').id,
        c.req.valid('json').text,
      )
      return c.json(presentEvent(event), 200)
    })
  }
}
