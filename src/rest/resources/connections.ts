import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { awaitEvents, findAgent } from '../../agent/index.ts'
import { connect, listListeners } from '../../api/agent/connection.ts'
import { EVENT_NAMES, heardTypesInQuery, presentEvent, readEventPages, readHead } from '../../event/index.ts'
import type { RestEnv } from '../route/env.ts'
import { route } from '../route/rendered.ts'
import { DEFAULT_LIMIT, failures, ids, integer, ok, PAGING, secured, securityOf } from '../route/route.ts'
import { pageView } from '../route/views.ts'
import { EventView, StreamView } from './event-view.ts'

const tags = ['Listening']
const position = integer(0, Number.MAX_SAFE_INTEGER)
const types = heardTypesInQuery.optional()
/** Time that a request waits for events: many proxies end a request after 60 seconds. @limit Streams */
const MAX_WAIT_SECONDS = 50

const events = createRoute({
  method: 'get',
  path: '/agents/{id}/events',
  operationId: 'listEvents',
  summary: "List an agent's event log",
  tags,
  ...secured('events'),
  request: {
    params: ids('id'),
    query: z.strictObject({
      after: position.optional().openapi({
        description:
          "Only events with a greater id. One beyond the log's end counts as its end, so that the next event is found",
      }),
      ...PAGING,
      cursor: position.optional(),
      wait: integer(0, MAX_WAIT_SECONDS).optional().openapi({
        description:
          'How many seconds to wait for an event if there is none yet. A waiting call does not count as a listener, and replaces no client',
      }),
      types: types.openapi({
        type: 'string',
        example: EVENT_NAMES.slice(0, 2).join(),
        description: 'Only events of these types, separated by commas; all in the log if left out',
      }),
    }),
  },
  responses: {
    200: ok(
      'Oldest first; kept for 7 days',
      pageView(EventView).extend({
        lastId: z.int().openapi({
          description:
            "The id of the agent's newest event of any type, 0 if there was none: where `after` begins now",
        }),
      }),
    ),
    ...failures('agent'),
  },
})

/** Opening a stream is rare and does not count against the rate limit. */
const { 429: _, ...streamFailures } = failures('agent')

/** Served by the stream module; documented here, where clients look for it. */
const stream = createRoute({
  method: 'get',
  path: '/agents/{id}/connections/{connectionId}/events',
  operationId: 'streamEvents',
  summary: "Stream the agent's events (text/event-stream)",
  description:
    'Each event has `id`, `event` (its type) and `data` (an Event as JSON). `: heartbeat` follows every 15 seconds; if events were left out since the last `id`, with a new `id` that dispatches no event. Resume with `Last-Event-ID` or `after`. `event: truncated` is sent if the events at that position are no longer stored, and says where the stream continues. `event: replaced` is sent when another client connects; from then on the response is 204. In each process, a token can have 200 streams and subscriptions open at a time, an agent 500, and a workspace 5,000.',
  tags,
  security: securityOf('events'),
  request: {
    params: ids('id', 'connectionId'),
    query: z.strictObject({
      after: position.optional(),
      types: types.openapi({
        type: 'string',
        example: EVENT_NAMES.slice(0, 2).join(),
        description:
          "Types of the events to receive, separated by commas; defaults to message.received alone. The log contains those that the agent's `eventTypes` name. A client that leaves out message.received is not a listener of the Message URL",
      }),
    }),
  },
  responses: {
    200: {
      description: 'A stream of events, each described by the schema: its fields, with `data` as JSON',
      content: { 'text/event-stream': { schema: StreamView } },
    },
    204: { description: 'Another client has connected' },
    ...streamFailures,
  },
})

export const connectionRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, connect)
  route(app, listListeners)
  app.openapi(events, async (c) => {
    const { limit = DEFAULT_LIMIT, after = 0, cursor = after, types, wait } = c.req.valid('query')
    const { deps, viewer } = c.var
    const { id: agentId } = await findAgent(deps, viewer, c.req.valid('param').id)
    let start = cursor
    if (wait) {
      const awaited = { via: 'rest', agentId, after: cursor, types } as const
      const until = { ms: wait * 1000, gone: c.req.raw.signal }
      const found = await deps.requests.aside(viewer.tokenId, () => awaitEvents(deps, viewer, awaited, until))
      const [next] = found.events
      if (next) start = Math.min(cursor, next.id - 1) // it began at the log's end if the cursor is beyond it
    }
    // Read first: no event up to it is missing in the page.
    const { lastId } = await readHead(deps, agentId)
    const [page] = await readEventPages(deps, [agentId], { limit, after: start, types })
    return c.json({ items: page!.items.map(presentEvent), nextCursor: page!.nextCursor, lastId }, 200)
  })
  app.openAPIRegistry.registerPath(stream)
}
