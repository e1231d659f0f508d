import { z } from '@hono/zod-openapi'
import { count, ID, id, OTHER, TIME, time } from './views.ts'

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
