import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { webhookUrl } from '../../core/rules.ts'
import { EVENT_NAMES } from '../../event/event.ts'
import { heardTypes } from '../../event/selection.ts'
import { listDeliveries } from '../../webhook/deliveries.ts'
import { updateWebhook } from '../../webhook/update.ts'
import { addWebhook, listWebhooks, removeWebhook, type Webhook } from '../../webhook/webhook.ts'
import type { RestEnv } from '../env.ts'
import { body, DEFAULT_LIMIT, failures, ids, NO_CONTENT, ok, PAGING, SECURITY } from '../route.ts'
import { pageView } from '../views.ts'
import { DeliveryView, NewWebhookView, WebhookPayloadView, WebhookView } from './webhook-views.ts'

const tags = ['Webhooks']
const security = SECURITY

const add = createRoute({
  method: 'post',
  path: '/agents/{id}/webhooks',
  operationId: 'addWebhook',
  summary: 'Add a webhook',
  description:
    'The URL must use https and be on the public internet. At most 10 webhooks per agent, and 10 requests of a token that wait for DNS at a time. Adding the same URL again returns the existing webhook and secret, unchanged. The webhook receives a `WebhookPayload` for each event of its types that the `eventTypes` of the agent name.',
  tags,
  security,
  request: {
    params: ids('id'),
    ...body(
      z
        .strictObject({
          url: webhookUrl,
          events: heardTypes.optional().openapi({
            description: 'Types of the events that it receives; defaults to message.received alone',
          }),
        })
        .openapi({ example: { url: 'https://example.com/hooks/agent' } }),
    ),
  },
  responses: {
    201: ok('The webhook with its signing secret', NewWebhookView),
    200: ok('It already existed', NewWebhookView),
    ...failures('agent', 'body', 'plan', 'conflict'),
  },
})

const list = createRoute({
  method: 'get',
  path: '/agents/{id}/webhooks',
  operationId: 'listWebhooks',
  summary: 'List webhooks, without their secrets',
  tags,
  security,
  request: { params: ids('id') },
  responses: { 200: ok('Oldest first', z.array(WebhookView)), ...failures('agent') },
})

const update = createRoute({
  method: 'patch',
  path: '/agents/{id}/webhooks/{webhookId}',
  operationId: 'updateWebhook',
  summary: 'Change the types of the events that a webhook receives',
  description:
    'This applies to all events that it has not received yet. A scheduled retry is made at once, and an event that is being delivered may arrive twice.',
  tags,
  security,
  request: {
    params: ids('id', 'webhookId'),
    ...body(z.strictObject({ events: heardTypes }).openapi({ example: { events: EVENT_NAMES.slice(0, 2) } })),
  },
  responses: { 200: ok('The webhook', WebhookView), ...failures('agent', 'body') },
})

const remove = createRoute({
  method: 'delete',
  path: '/agents/{id}/webhooks/{webhookId}',
  operationId: 'removeWebhook',
  summary: 'Remove a webhook',
  tags,
  security,
  request: { params: ids('id', 'webhookId') },
  responses: { 204: NO_CONTENT, ...failures('agent') },
})

const deliveries = createRoute({
  method: 'get',
  path: '/agents/{id}/webhooks/{webhookId}/deliveries',
  operationId: 'listDeliveries',
  summary: "List a webhook's deliveries",
  tags,
  security,
  request: { params: ids('id', 'webhookId'), query: z.strictObject(PAGING) },
  responses: { 200: ok('Newest first; kept for 7 days', pageView(DeliveryView)), ...failures('agent') },
})

const SIGNED = {
  'webhook-id': 'The `eventId`',
  'webhook-timestamp': 'The time of this attempt',
  'webhook-signature': 'One or two signatures, separated by a space',
}

/** Documents the opposite direction: the requests that the service sends. */
const delivery = {
  method: 'post' as const,
  path: 'messageReceived',
  operationId: 'messageReceived',
  summary: 'Sent to a webhook when its agent receives a message, and for other events that it asked for',
  description:
    'Signed according to Standard Webhooks. Any 2xx response within 5 s means success; 410 removes the webhook, 413 skips the event. Anything else is retried for 3 days, while later events wait.',
  tags,
  security: [],
  request: {
    headers: z.object(
      Object.fromEntries(
        Object.entries(SIGNED).map(([name, description]) => [name, z.string().openapi({ description })]),
      ),
    ),
    ...body(WebhookPayloadView),
  },
  responses: {
    200: { description: 'Delivered (any 2xx)' },
    410: { description: 'Gone: the webhook is removed' },
    413: { description: 'Too large: this event is skipped' },
  },
}

export const presentWebhook = (webhook: Webhook) => ({
  ...webhook,
  createdAt: webhook.createdAt.toISOString(),
  retryAt: webhook.retryAt?.toISOString() ?? null,
  lastDeliveredAt: webhook.lastDeliveredAt?.toISOString() ?? null,
})

export const webhookRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openAPIRegistry.registerWebhook(delivery)
  app.openapi(add, async (c) => {
    const { webhook, secret, created } = await addWebhook(
      c.var.deps,
      c.var.viewer,
      c.req.valid('param').id,
      c.req.valid('json'),
    )
    return c.json({ ...presentWebhook(webhook), secret }, created ? 201 : 200)
  })
  app.openapi(list, async (c) =>
    c.json((await listWebhooks(c.var.deps, c.var.viewer, c.req.valid('param').id)).map(presentWebhook), 200),
  )
  app.openapi(update, async (c) => {
    const { id, webhookId } = c.req.valid('param')
    const ref = { agentId: id, webhookId }
    return c.json(
      presentWebhook(await updateWebhook(c.var.deps, c.var.viewer, ref, c.req.valid('json'))),
      200,
    )
  })
  app.openapi(remove, async (c) => {
    const { id, webhookId } = c.req.valid('param')
    await removeWebhook(c.var.deps, c.var.viewer, id, webhookId)
    return c.body(null, 204)
  })
  app.openapi(deliveries, async (c) => {
    const { id, webhookId } = c.req.valid('param')
    const { limit = DEFAULT_LIMIT, cursor } = c.req.valid('query')
    return c.json(
      await listDeliveries(c.var.deps, c.var.viewer, { agentId: id, webhookId }, { limit, cursor }),
      200,
    )
  })
}
