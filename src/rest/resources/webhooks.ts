import { type OpenAPIHono, z } from '@hono/zod-openapi'
import {
  listDeliveries,
  readDelivery,
  resendDelivery,
  testWebhook,
  unblockWebhook,
} from '../../api/webhook/delivery.ts'
import { WebhookPayload } from '../../api/webhook/event.ts'
import { replayWebhook, resendGivenUp } from '../../api/webhook/replay.ts'
import {
  addWebhook,
  listWebhooks,
  removeWebhook,
  rotateWebhook,
  updateWebhook,
} from '../../api/webhook/webhook.ts'
import type { RestEnv } from '../route/env.ts'
import { route, viewOf } from '../route/rendered.ts'
import { body } from '../route/route.ts'

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
    'Signed according to Standard Webhooks. Any 2xx response within 5 s means success; 410 removes the webhook, 413 skips the event. Anything else is retried for 3 days, while later events wait. A webhook with a template gets what that makes of this body instead.',
  tags: ['Webhooks'],
  security: [],
  request: {
    headers: z.object(
      Object.fromEntries(
        Object.entries(SIGNED).map(([name, description]) => [name, z.string().openapi({ description })]),
      ),
    ),
    ...body(viewOf(WebhookPayload)),
  },
  responses: {
    200: { description: 'Delivered (any 2xx)' },
    410: { description: 'Gone: the webhook is removed' },
    413: { description: 'Too large: this event is skipped' },
  },
}

export const webhookRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openAPIRegistry.registerWebhook(delivery)
  route(app, addWebhook)
  route(app, listWebhooks)
  route(app, updateWebhook)
  route(app, removeWebhook)
  route(app, listDeliveries)
  route(app, readDelivery)
  route(app, rotateWebhook)
  route(app, testWebhook)
  route(app, resendDelivery)
  route(app, unblockWebhook)
  route(app, replayWebhook)
  route(app, resendGivenUp)
}
