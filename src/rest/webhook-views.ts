import { z } from '@hono/zod-openapi'
import { count, EventView, ID, id, OTHER, TIME, time } from './views.ts'

const WEBHOOK = {
  id: ID,
  url: 'https://example.com/hooks/agent',
  createdAt: TIME,
  error: null,
  attempts: 0,
  retryAt: null,
  lastDeliveredAt: TIME,
}
export const WebhookView = z
  .object({
    id,
    url: z.string(),
    createdAt: time,
    error: z.string().nullable().openapi({ description: 'The last error, of the event that it waits with' }),
    attempts: count.openapi({ description: 'How many attempts at that event failed' }),
    retryAt: time.nullable().openapi({ description: 'When it is tried next' }),
    lastDeliveredAt: time.nullable(),
  })
  .openapi('Webhook', { example: WEBHOOK })
export const NewWebhookView = WebhookView.extend({
  secret: z.string().openapi({ description: 'What its deliveries are verified with', pattern: '^whsec_' }),
}).openapi('NewWebhook', { example: { ...WEBHOOK, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' } })

export const DeliveryView = z
  .object({
    id,
    eventId: z.string(),
    status: z.enum(['pending', 'delivered', 'skipped', 'expired']),
    attempts: z.array(
      z.object({
        at: time,
        status: z.int().optional(),
        error: z.string().optional(),
        ms: count.openapi({ description: 'How long it took' }),
      }),
    ),
  })
  .openapi('Delivery', {
    example: { id: OTHER, eventId: `evt_${ID.replaceAll('-', '')}_42`, status: 'delivered', attempts: [{ at: TIME, status: 204, ms: 38 }] },
  })

/** What is posted to webhooks. */
export const WebhookPayloadView = z
  .object({
    eventId: z.string().openapi({ description: 'The same on every attempt, as `webhook-id`; ends with the id of the event in the log' }),
    name: z.literal('message.received'),
    timestamp: time.openapi({ description: 'When it happened' }),
    data: z.object({
      agent: z.object({ id, name: z.string() }),
      message: z.object({
        id,
        channel: EventView.shape.channel,
        from: z.string().openapi({ description: 'Display name and address' }),
        subject: z.string().nullable(),
        text: EventView.shape.text.openapi({ description: 'Of `url` only: of all others it is fetched by reading the message' }),
        sender: EventView.shape.sender.optional().openapi({ description: 'Of `url` only' }),
      }),
    }),
    cursor: z.string().openapi({ description: 'What `after` takes, to read on from here' }),
  })
  .openapi('WebhookPayload', {
    example: {
      eventId: `evt_${ID.replaceAll('-', '')}_42`,
      name: 'message.received',
      timestamp: TIME,
      data: {
        agent: { id: ID, name: 'Support Bot' },
        message: { id: OTHER, channel: 'email', from: 'Ann Example <ann@example.com>', subject: 'Where is my order?' },
      },
      cursor: '42',
    },
  })
