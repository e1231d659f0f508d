import { z } from '@hono/zod-openapi'
import { EVENT_NAMES } from '../../event/event.ts'
import { count, ID, id, OTHER, TIME, time } from '../views.ts'
import { EVENT_DETAIL, EventView } from './event-view.ts'

const WEBHOOK = {
  id: ID,
  url: 'https://example.com/hooks/agent',
  name: 'CRM',
  events: EVENT_NAMES.slice(0, 1),
  createdAt: TIME,
  pausedAt: null,
  error: null,
  attempts: 0,
  retryAt: null,
  lastDeliveredAt: TIME,
}
export const WebhookView = z
  .object({
    id,
    url: z.string(),
    name: z.string().nullable(),
    events: z.array(z.enum(EVENT_NAMES)).openapi({ description: 'Types of the events that it receives' }),
    createdAt: time,
    pausedAt: time.nullable().openapi({ description: 'Since when it is paused; null while it is not' }),
    error: z
      .string()
      .nullable()
      .openapi({ description: 'The error of the last attempt to deliver the pending event' }),
    attempts: count.openapi({ description: 'Number of failed attempts to deliver the pending event' }),
    retryAt: time.nullable().openapi({ description: 'When delivery is retried' }),
    lastDeliveredAt: time.nullable(),
  })
  .openapi('Webhook', { example: WEBHOOK })
export const NewWebhookView = WebhookView.extend({
  secret: z
    .string()
    .openapi({ description: 'The secret with which receivers verify deliveries', pattern: '^whsec_' }),
}).openapi('NewWebhook', { example: { ...WEBHOOK, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' } })

export const deliveryStatus = z.enum(['pending', 'delivered', 'skipped', 'expired'])

const AttemptView = z.object({
  at: time,
  status: z.int().optional(),
  error: z.string().optional(),
  ms: count.openapi({ description: 'Duration of the request' }),
})

const DELIVERY = {
  id: OTHER,
  eventId: `evt_${ID.replaceAll('-', '')}_42`,
  status: 'delivered',
  createdAt: TIME,
  attempts: [{ at: TIME, status: 204, ms: 38 }],
} as const

const DELIVERY_FIELDS = {
  id,
  eventId: z.string(),
  status: deliveryStatus,
  createdAt: time.openapi({
    description: 'When the event happened, or when a manual delivery was requested',
  }),
}

export const DeliveryView = z
  .object({ ...DELIVERY_FIELDS, attempts: z.array(AttemptView) })
  .openapi('Delivery', { example: DELIVERY })

const headers = z.array(z.object({ name: z.string(), value: z.string() }))

/** A delivery with what was sent and what was answered. */
export const DeliveryDetailsView = z
  .object({
    ...DELIVERY_FIELDS,
    request: z
      .object({
        url: z.string(),
        headers: headers.openapi({
          description: 'Those that are the same in every attempt: without `webhook-timestamp` and signature',
        }),
        body: z.string().nullable().openapi({
          description: 'Null for messages to the Message URL, which are not stored',
        }),
      })
      .openapi({ description: 'The request, made again from the event' }),
    attempts: z.array(
      AttemptView.extend({
        answer: z
          .object({
            headers: headers.openapi({ maxItems: 20, description: 'Without cookies and credentials' }),
            body: z
              .string()
              .nullable()
              .openapi({ description: 'The first KiB as text; null if it is empty or compressed' }),
          })
          .optional()
          .openapi({
            description:
              "The webhook's response, not to be trusted. Left out for messages to the Message URL",
          }),
      }),
    ),
  })
  .openapi('DeliveryDetails', {
    example: {
      ...DELIVERY,
      request: {
        url: 'https://example.com/hooks/agent',
        headers: [{ name: 'content-type', value: 'application/json' }],
        body: '{"eventId":"…"}',
      },
      attempts: [
        {
          ...DELIVERY.attempts[0],
          answer: { headers: [{ name: 'content-type', value: 'text/plain' }], body: 'ok' },
        },
      ],
    },
  })

/** The body of a webhook delivery. */
export const WebhookPayloadView = z
  .object({
    eventId: z.string().openapi({
      description:
        'The same on every attempt, and sent as `webhook-id`; ends with the id of the event in the log',
    }),
    name: EventView.shape.type,
    timestamp: time.openapi({ description: 'When the event happened' }),
    data: z.object({
      agent: z.object({ id, name: z.string() }),
      message: z.object({
        id,
        channel: EventView.shape.channel,
        from: z.string().openapi({ description: 'Display name and address' }),
        subject: z.string().nullable(),
        mayInstruct: z.boolean().openapi({
          description: 'Whether its sender could instruct the agent when it happened',
        }),
        text: EventView.shape.text.openapi({
          description: 'For `url` only; on other channels, get the message to read its text',
        }),
        sender: EventView.shape.sender.optional().openapi({ description: 'For `url` only' }),
        ...EVENT_DETAIL,
      }),
    }),
    cursor: z.string().openapi({ description: 'Pass it as `after` to continue from here' }),
  })
  .openapi('WebhookPayload', {
    example: {
      eventId: `evt_${ID.replaceAll('-', '')}_42`,
      name: 'message.received',
      timestamp: TIME,
      data: {
        agent: { id: ID, name: 'Support Bot' },
        message: {
          id: OTHER,
          channel: 'email',
          from: 'Ann Example <ann@example.com>',
          subject: 'Where is my order?',
          mayInstruct: false,
        },
      },
      cursor: '42',
    },
  })
