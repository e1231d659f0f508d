import { z } from '@hono/zod-openapi'
import { ID, id, OTHER, TIME, time } from '../views.ts'
import { EVENT_DETAIL, EventView } from './event-view.ts'

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
