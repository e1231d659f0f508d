import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { countPerDay } from '../../agent/counts.ts'
import { Refusal } from '../../db/generated/prisma/enums.ts'
import type { RestEnv } from '../env.ts'
import { failures, ids, ok, SECURITY } from '../route.ts'
import { count } from '../views.ts'

const DayCountsView = z
  .object({
    day: z.string().openapi({ format: 'date', description: 'UTC' }),
    received: count.openapi({
      description: 'Messages received. One that was released counts for the day on which it arrived',
    }),
    refused: count,
    refusals: z
      .array(z.object({ reason: z.enum(Refusal), count }))
      .openapi({ description: 'The refused messages by reason; only reasons that occurred' }),
    sent: count.openapi({ description: 'Messages that the receiving side accepted' }),
    failed: count.openapi({
      description: 'Messages that could not be sent or delivered. One that bounced later also counts as sent',
    }),
    bounced: count.openapi({
      description: 'Recipients whose email came back after it was sent, on the day on which it did',
    }),
    reported: count.openapi({
      description: 'Recipients who reported an email as spam, on the day on which they did',
    }),
    deliveriesAccepted: count.openapi({ description: 'Deliveries that webhooks accepted' }),
    deliveriesFailed: count.openapi({ description: 'Attempts to deliver to webhooks that failed' }),
  })
  .openapi('DayCounts', {
    example: {
      day: '2026-11-20',
      received: 41,
      refused: 3,
      refusals: [{ reason: 'spam', count: 3 }],
      sent: 17,
      failed: 1,
      bounced: 1,
      reported: 0,
      deliveriesAccepted: 41,
      deliveriesFailed: 2,
    },
  })

const day = (description: string) => z.string().max(10).optional().openapi({ format: 'date', description })

const query = z.strictObject({
  from: day('The first day (UTC), as YYYY-MM-DD; by default 29 days before `to`'),
  to: day('The last day (UTC), as YYYY-MM-DD; by default today'),
})

const ofWorkspace = createRoute({
  method: 'get',
  path: '/counts',
  operationId: 'countPerDay',
  summary: 'Count what happened each day in the workspace (members only)',
  description: 'Every day of the range, oldest first. Kept for 400 days.',
  tags: ['Workspace'],
  security: SECURITY,
  request: { query },
  responses: { 200: ok('The days', z.array(DayCountsView)), ...failures('input', 'forbidden') },
})

const ofAgent = createRoute({
  method: 'get',
  path: '/agents/{id}/counts',
  operationId: 'countAgentPerDay',
  summary: 'Count what happened each day to an agent',
  description: 'Every day of the range, oldest first. Kept for 400 days.',
  tags: ['Agents'],
  security: SECURITY,
  request: { params: ids('id'), query },
  responses: { 200: ok('The days', z.array(DayCountsView)), ...failures('agent') },
})

export const countRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(ofWorkspace, async (c) =>
    c.json(await countPerDay(c.var.deps, c.var.viewer, c.req.valid('query')), 200),
  )
  app.openapi(ofAgent, async (c) => {
    const request = { ...c.req.valid('query'), agentId: c.req.valid('param').id }
    return c.json(await countPerDay(c.var.deps, c.var.viewer, request), 200)
  })
}
