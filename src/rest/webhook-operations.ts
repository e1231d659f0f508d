import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { replayWebhook, resendDelivery, rotateWebhook, testWebhook } from '../webhook/operate.ts'
import type { RestEnv } from './env.ts'
import { body, failures, ids, ok, SECURITY } from './route.ts'
import { DeliveryView, NewWebhookView } from './webhook-views.ts'
import { presentWebhook } from './webhooks.ts'

const tags = ['Webhooks']
const security = SECURITY

const rotate = createRoute({
  method: 'post',
  path: '/agents/{id}/webhooks/{webhookId}/rotate',
  operationId: 'rotateWebhook',
  summary: "Replace a webhook's secret",
  description:
    'The secret before it signs too for 24 hours: `webhook-signature` then holds two signatures, separated by a space. Rotating again within that time drops the oldest.',
  tags,
  security,
  request: { params: ids('id', 'webhookId') },
  responses: { 201: ok('The webhook with its new signing secret', NewWebhookView), ...failures('agent', 'conflict') },
})

const sendTest = createRoute({
  method: 'post',
  path: '/agents/{id}/webhooks/{webhookId}/test',
  operationId: 'testWebhook',
  summary: 'Send a test to a webhook',
  description:
    'Posts `{"eventId": "test_…", "name": "webhook.test", "timestamp", "data": {"agent": {"id", "name"}, "webhook": {"id"}}}` to this webhook alone, signed like every delivery and tried once, between two events and without moving them. Its result is in the list of deliveries.',
  tags,
  security,
  request: { params: ids('id', 'webhookId') },
  responses: { 201: ok('The delivery, still to be made', DeliveryView), ...failures('agent', 'conflict') },
})

const resend = createRoute({
  method: 'post',
  path: '/agents/{id}/webhooks/{webhookId}/deliveries/{deliveryId}/resend',
  operationId: 'resendDelivery',
  summary: "Send a delivery's event again",
  description:
    'The same body under the same `webhook-id`, at once and tried once, in a record of its own. `conflict` while the event is still to be delivered, for tests, and for what is kept no longer: the text of a message to the Message URL once it was handed over, any event after 7 days.',
  tags,
  security,
  request: { params: ids('id', 'webhookId', 'deliveryId') },
  responses: { 201: ok('The new delivery, still to be made', DeliveryView), ...failures('agent', 'conflict') },
})

const position = `must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`
const after = z
  .int(position)
  .min(0, position)
  .max(Number.MAX_SAFE_INTEGER, position)
  .openapi({ description: "An event's id, a delivery's `cursor`; 0: all of them" })

const replay = createRoute({
  method: 'post',
  path: '/agents/{id}/webhooks/{webhookId}/replay',
  operationId: 'replayWebhook',
  summary: 'Send all events after one again',
  description:
    'Every event after `after` that is still in the log (7 days) goes out again in order, also those from before the webhook was added; then it goes on where it was. Messages to the Message URL are left out: their texts are kept nowhere.',
  tags,
  security,
  request: { params: ids('id', 'webhookId'), ...body(z.strictObject({ after }).openapi({ example: { after: 41 } })) },
  responses: {
    201: ok('How many go out again', z.object({ events: z.int().min(0) }).openapi('Replay', { example: { events: 12 } })),
    ...failures('agent', 'body', 'conflict'),
  },
})

export const webhookOperationRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(rotate, async (c) => {
    const { id, webhookId } = c.req.valid('param')
    const { webhook, secret } = await rotateWebhook(c.var.deps, c.var.viewer, id, webhookId)
    return c.json({ ...presentWebhook(webhook), secret }, 201)
  })
  app.openapi(sendTest, async (c) => {
    const { id, webhookId } = c.req.valid('param')
    return c.json(await testWebhook(c.var.deps, c.var.viewer, id, webhookId), 201)
  })
  app.openapi(resend, async (c) => {
    const { id, webhookId, deliveryId } = c.req.valid('param')
    return c.json(await resendDelivery(c.var.deps, c.var.viewer, id, webhookId, deliveryId), 201)
  })
  app.openapi(replay, async (c) => {
    const { id, webhookId } = c.req.valid('param')
    return c.json(await replayWebhook(c.var.deps, c.var.viewer, id, webhookId, c.req.valid('json')), 201)
  })
}
