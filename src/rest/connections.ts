import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { connectClient, listListeners, presentConnection } from '../agent/connection.ts'
import { findAgent } from '../agent/reach.ts'
import { pageOf } from '../core/cursor.ts'
import { clientName } from '../core/rules.ts'
import { presentEvent } from '../event/event.ts'
import { readEvents } from '../event/log.ts'
import type { RestEnv } from './env.ts'
import { body, DEFAULT_LIMIT, failures, ids, integer, ok, PAGING, SECURITY } from './route.ts'
import { ConnectionView, EventView, ListenerView, pageView } from './views.ts'

const tags = ['Listening']
const security = SECURITY
const position = integer(0, Number.MAX_SAFE_INTEGER)

const connect = createRoute({
  method: 'put',
  path: '/agents/{id}/connection',
  operationId: 'connect',
  summary: "Connect a client: it hears the agent's new messages, in place of any other",
  tags,
  security,
  request: {
    params: ids('id'),
    ...body(
      z.strictObject({ client: clientName, machine: clientName }).openapi({ example: { client: 'my-agent/1.0', machine: 'laptop' } }),
    ),
  },
  responses: {
    200: ok('The connection, whose id its event stream is opened with', ConnectionView),
    ...failures('agent', 'body', 'conflict'),
  },
})

const listeners = createRoute({
  method: 'get',
  path: '/agents/{id}/listeners',
  operationId: 'listListeners',
  summary: 'List who listens now',
  tags,
  security,
  request: { params: ids('id') },
  responses: { 200: ok('The connected client and the webhooks', z.array(ListenerView)), ...failures('agent') },
})

const events = createRoute({
  method: 'get',
  path: '/agents/{id}/events',
  operationId: 'listEvents',
  summary: "Read an agent's event log",
  tags,
  security,
  request: {
    params: ids('id'),
    query: z.strictObject({
      after: position.optional().openapi({ description: 'Events with an id above it' }),
      ...PAGING,
      cursor: position.optional(),
    }),
  },
  responses: { 200: ok('Oldest first; kept for 7 days', pageView(EventView)), ...failures('agent') },
})

/** A stream is opened rarely and stays: it counts against no rate. */
const { 429: _, ...streamFailures } = failures('agent')

/** Served by the stream skin; described here, where clients look for it. */
const stream = createRoute({
  method: 'get',
  path: '/agents/{id}/connections/{connectionId}/events',
  operationId: 'streamEvents',
  summary: "Stream the agent's events (text/event-stream)",
  description:
    'Each event has `id`, `event: message.received` and `data` (an Event as JSON). `Last-Event-ID` or `after` resumes. `event: truncated` says where a position that is no longer kept goes on; `event: replaced` that another client took over: then the answer is 204.',
  tags,
  security,
  request: { params: ids('id', 'connectionId'), query: z.strictObject({ after: position.optional() }) },
  responses: {
    200: { description: 'The stream', content: { 'text/event-stream': { schema: z.string() } } },
    204: { description: 'Another client took over' },
    ...streamFailures,
  },
})

export const connectionRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(connect, async (c) =>
    c.json(presentConnection(await connectClient(c.var.deps, c.var.viewer, c.req.valid('param').id, c.req.valid('json'))), 200),
  )
  app.openapi(listeners, async (c) => c.json(await listListeners(c.var.deps, c.var.viewer, c.req.valid('param').id), 200))
  app.openapi(events, async (c) => {
    const { limit = DEFAULT_LIMIT, after = 0, cursor = after } = c.req.valid('query')
    const agent = await findAgent(c.var.deps, c.var.viewer, c.req.valid('param').id)
    const page = pageOf(await readEvents(c.var.deps, agent.id, cursor, limit + 1), limit, (event) => String(event.id))
    return c.json({ items: page.items.map(presentEvent), nextCursor: page.nextCursor }, 200)
  })
  app.openAPIRegistry.registerPath(stream)
}
