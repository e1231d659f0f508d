import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { timestamp } from '../../core/rules.ts'
import { resendDelivery, rotateWebhook, testWebhook } from '../../webhook/operate.ts'
import { replayStart, replayWebhook, resendGivenUp } from '../../webhook/replay.ts'
import { unblockWebhook } from '../../webhook/unblock.ts'
import type { RestEnv } from '../env.ts'
import { body, failures, ids, ok, SECURITY } from '../route.ts'
import { presentDelivery } from './delivery-views.ts'
import { DeliveryView, NewWebhookView, WebhookView } from './webhook-views.ts'
import { presentWebhook } from './webhooks.ts'

const tags = ['Webhooks']
const security = SECURITY

const rotate = createRoute({
  method: 'post',
  path: '/agents/{id}/webhooks/{webhookId}/rotate',
  operationId: 'rotateWebhook',
  summary: "Replace a webhook's signing secret",
  description:
    'For 24 hours, requests are also signed with the previous secret: `webhook-signature` then contains two signatures, separated by a space. Rotating again within that time drops the oldest secret.',
  tags,
  security,
  request: { params: ids('id', 'webhookId') },
  responses: {
    201: ok('The webhook with its new signing secret', NewWebhookView),
    ...failures('agent', 'conflict'),
  },
})

const sendTest = createRoute({
  method: 'post',
  path: '/agents/{id}/webhooks/{webhookId}/test',
  operationId: 'testWebhook',
  summary: 'Send a test delivery to a webhook',
  description:
    'Posts `{"eventId": "test_…", "name": "webhook.test", "timestamp", "data": {"agent": {"id", "name"}, "webhook": {"id"}}}` to this webhook only, signed like every delivery and attempted once, between two events and without affecting them. The result is in the list of deliveries.',
  tags,
  security,
  request: { params: ids('id', 'webhookId') },
  responses: { 201: ok('The pending delivery', DeliveryView), ...failures('agent', 'conflict') },
})

const resend = createRoute({
  method: 'post',
  path: '/agents/{id}/webhooks/{webhookId}/deliveries/{deliveryId}/resend',
  operationId: 'resendDelivery',
  summary: 'Resend the event of a delivery',
  description:
    'Sends the same body with the same `webhook-id` immediately, as a manual delivery with a record of its own, which is attempted once. `conflict` while the event is still pending, for test deliveries, and for events that are no longer stored: messages to the Message URL once they were delivered, any event after 7 days.',
  tags,
  security,
  request: { params: ids('id', 'webhookId', 'deliveryId') },
  responses: {
    201: ok('The new, pending delivery', DeliveryView),
    ...failures('agent', 'conflict'),
  },
})

const unblock = createRoute({
  method: 'post',
  path: '/agents/{id}/webhooks/{webhookId}/deliveries/{deliveryId}/unblock',
  operationId: 'unblockWebhook',
  summary: 'End the wait for the next attempt of a delivery that others wait for',
  description:
    'It is the oldest delivery with the status `pending`, and is sent now or skipped; the later ones follow. `conflict` if no other waits for it any more, and while the webhook is paused.',
  tags,
  security,
  request: {
    params: ids('id', 'webhookId', 'deliveryId'),
    ...body(
      z
        .strictObject({
          skip: z.boolean().openapi({
            description:
              '`true`: it is skipped, and the webhook never receives it; `false`: it is sent again now',
          }),
        })
        .openapi({ example: { skip: false } }),
    ),
  },
  responses: { 200: ok('The webhook', WebhookView), ...failures('agent', 'body', 'conflict') },
})

const position = `must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`
const after = z
  .int(position)
  .min(0, position)
  .max(Number.MAX_SAFE_INTEGER, position)
  .openapi({ description: "An event's id or a delivery's `cursor`; 0 resends all events" })

const ReplayView = z.object({ events: z.int().min(0) }).openapi('Replay', { example: { events: 12 } })

const replay = createRoute({
  method: 'post',
  path: '/agents/{id}/webhooks/{webhookId}/replay',
  operationId: 'replayWebhook',
  summary: 'Resend all events after a position or since a time',
  description:
    'Resends every event after `after`, or that happened at `since` or later, and is still in the log (7 days) in order, including events from before the webhook was added, then continues where it was. Messages to the Message URL are skipped, because their text is not stored.',
  tags,
  security,
  request: {
    params: ids('id', 'webhookId'),
    ...body(
      z
        .strictObject({
          after: after.optional(),
          since: timestamp.clone().optional().openapi({
            format: 'date-time',
            description: 'Instead of `after`: resends the events that happened then or later',
          }),
        })
        .openapi({ example: { after: 41 } }),
    ),
  },
  responses: {
    201: ok('Number of events that are resent', ReplayView),
    ...failures('agent', 'body', 'conflict'),
  },
})

const resendExpired = createRoute({
  method: 'post',
  path: '/agents/{id}/webhooks/{webhookId}/resend',
  operationId: 'resendGivenUp',
  summary: 'Resend all events that were given up',
  description:
    'Resends the events that were given up (`expired`), of those that happened at `since` or later, in order and with retries; their three days start anew. Messages to the Message URL are skipped, because their text is not stored.',
  tags,
  security,
  request: {
    params: ids('id', 'webhookId'),
    ...body(
      z
        .strictObject({ since: timestamp.clone().openapi({ format: 'date-time' }) })
        .openapi({ example: { since: '2026-11-20T00:00:00.000Z' } }),
    ),
  },
  responses: {
    201: ok('Number of events that are resent', ReplayView),
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
    return c.json(presentDelivery(await testWebhook(c.var.deps, c.var.viewer, id, webhookId)), 201)
  })
  app.openapi(resend, async (c) => {
    const { id, webhookId, deliveryId } = c.req.valid('param')
    const delivery = { agentId: id, webhookId, deliveryId }
    return c.json(presentDelivery(await resendDelivery(c.var.deps, c.var.viewer, delivery)), 201)
  })
  app.openapi(unblock, async (c) => {
    const { id: agentId, webhookId, deliveryId } = c.req.valid('param')
    const blocking = { agentId, webhookId, deliveryId, ...c.req.valid('json') }
    return c.json(presentWebhook(await unblockWebhook(c.var.deps, c.var.viewer, blocking)), 200)
  })
  app.openapi(replay, async (c) => {
    const { id, webhookId } = c.req.valid('param')
    const webhook = { agentId: id, webhookId }
    const start = replayStart(c.req.valid('json'))
    return c.json(await replayWebhook(c.var.deps, c.var.viewer, webhook, start), 201)
  })
  app.openapi(resendExpired, async (c) => {
    const { id: agentId, webhookId } = c.req.valid('param')
    const webhook = { agentId, webhookId }
    return c.json(await resendGivenUp(c.var.deps, c.var.viewer, webhook, c.req.valid('json')), 201)
  })
}
