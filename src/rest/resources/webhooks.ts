import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { webhookName, webhookUrl } from '../../core/rules.ts'
import { heardTypes } from '../../event/selection.ts'
import { listDeliveries, readDelivery } from '../../webhook/deliveries.ts'
import { updateWebhook } from '../../webhook/update.ts'
import { addWebhook, listWebhooks, removeWebhook, type Webhook } from '../../webhook/webhook.ts'
import type { RestEnv } from '../env.ts'
import { body, DEFAULT_LIMIT, failures, ids, NO_CONTENT, ok, PAGING, SECURITY } from '../route.ts'
import { pageView } from '../views.ts'
import { presentDelivery, presentDetails } from './delivery-views.ts'
import {
  DeliveryDetailsView,
  DeliveryView,
  deliveryStatus,
  NewWebhookView,
  WebhookPayloadView,
  WebhookView,
} from './webhook-views.ts'

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
          name: webhookName.optional(),
          events: heardTypes.optional().openapi({
            description: 'Types of the events that it receives; defaults to message.received alone',
          }),
        })
        .openapi({ example: { url: 'https://example.com/hooks/agent', name: 'CRM' } }),
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
  summary: "Change a webhook's name or the types of its events, or pause or resume it",
  description:
    'New types apply to all events that it has not received yet. While a webhook is paused, nothing is sent to it, its events wait, and it does not receive messages to the Message URL. When it is resumed, the three days of its pending events start anew. An event that is being delivered when it is changed may arrive twice.',
  tags,
  security,
  request: {
    params: ids('id', 'webhookId'),
    ...body(
      z
        .strictObject({
          name: webhookName.nullable().optional().openapi({ description: 'Null removes it' }),
          paused: z.boolean().optional(),
          events: heardTypes.optional().openapi({ description: 'Types of the events that it receives' }),
        })
        .openapi({ example: { name: 'CRM', paused: true } }),
    ),
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
  description:
    'With `status`, a page may have fewer entries than requested, even none. There may be more as long as `nextCursor` is not null.',
  request: {
    params: ids('id', 'webhookId'),
    query: z.strictObject({ status: deliveryStatus.optional(), ...PAGING }),
  },
  responses: { 200: ok('Newest first; kept for 7 days', pageView(DeliveryView)), ...failures('agent') },
})

const readOne = createRoute({
  method: 'get',
  path: '/agents/{id}/webhooks/{webhookId}/deliveries/{deliveryId}',
  operationId: 'readDelivery',
  summary: 'Get a delivery with its request and the responses',
  tags,
  security,
  request: { params: ids('id', 'webhookId', 'deliveryId') },
  responses: { 200: ok('The delivery', DeliveryDetailsView), ...failures('agent') },
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
  pausedAt: webhook.pausedAt?.toISOString() ?? null,
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
    const { id: agentId, webhookId } = c.req.valid('param')
    const { deps, viewer } = c.var
    const webhook = await updateWebhook(deps, viewer, { agentId, webhookId }, c.req.valid('json'))
    return c.json(presentWebhook(webhook), 200)
  })
  app.openapi(remove, async (c) => {
    const { id, webhookId } = c.req.valid('param')
    await removeWebhook(c.var.deps, c.var.viewer, id, webhookId)
    return c.body(null, 204)
  })
  app.openapi(deliveries, async (c) => {
    const { id, webhookId } = c.req.valid('param')
    const { limit = DEFAULT_LIMIT, ...rest } = c.req.valid('query')
    const webhook = { agentId: id, webhookId }
    const page = await listDeliveries(c.var.deps, c.var.viewer, webhook, { limit, ...rest })
    return c.json({ items: page.items.map(presentDelivery), nextCursor: page.nextCursor }, 200)
  })
  app.openapi(readOne, async (c) => {
    const { id: agentId, webhookId, deliveryId } = c.req.valid('param')
    const { delivery, request } = await readDelivery(c.var.deps, c.var.viewer, {
      agentId,
      webhookId,
      deliveryId,
    })
    return c.json(presentDetails(delivery, request), 200)
  })
}
