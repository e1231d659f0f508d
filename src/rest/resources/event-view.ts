import { z } from '@hono/zod-openapi'
import { Channel, HoldReason, Refusal } from '../../db/generated/prisma/enums.ts'
import { EVENT_NAMES } from '../../event/event.ts'
import { ID, id, TIME, time } from '../views.ts'

/** What some types of events tell besides their message. */
export const EVENT_DETAIL = {
  refusal: z.enum(Refusal).optional().openapi({ description: 'For `message.refused`: why' }),
  error: z.string().optional().openapi({ description: 'For `message.failed`: why; may quote a mail server' }),
  hold: z
    .object({
      reason: z.enum(HoldReason).openapi({ description: "A member's approval, or its time" }),
      until: time.openapi({
        description: 'When it is sent (schedule), or rejected if nobody approved it (approval)',
      }),
    })
    .optional()
    .openapi({ description: 'For `message.held`: what the message waits for' }),
}

const EVENT = { id: 42, type: 'message.received', channel: 'email', messageId: ID, createdAt: TIME } as const
const SENDER = {
  id: null,
  kind: 'contact',
  name: 'Ann Example',
  email: 'ann@example.com',
  phone: null,
} as const

export const EventView = z
  .object({
    id: z.int().min(1).openapi({
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Increases by 1 with each event of the agent',
    }),
    type: z.enum(EVENT_NAMES),
    channel: z.enum(Channel),
    messageId: id,
    createdAt: time,
    text: z
      .string()
      .optional()
      .openapi({ description: 'The full text of a message that the service does not store' }),
    sender: z
      .object({
        id: id
          .nullable()
          .openapi({ description: 'The id of a member or an agent of the workspace, if verified' }),
        kind: z.enum(['member', 'agent', 'contact']),
        name: z.string().nullable(),
        email: z.string().nullable(),
        phone: z.string().nullable(),
      })
      .openapi({ description: 'Who sent the message: the agent itself, if it tells of one of its own' }),
    mayInstruct: z.boolean().openapi({
      description: 'Whether its sender could instruct the agent when it happened',
    }),
    ...EVENT_DETAIL,
  })
  .openapi('Event', {
    example: {
      ...EVENT,
      sender: SENDER,
      mayInstruct: false,
    },
  })

const position = z.int().min(0).openapi({
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'The position to resume after (`Last-Event-ID`)',
})
const StreamedEvent = z
  .object({ id: position, event: z.enum(EVENT_NAMES), data: EventView })
  .openapi('StreamedEvent', {
    example: { id: 42, event: 'message.received', data: { ...EVENT, sender: SENDER, mayInstruct: false } },
  })

const StreamTruncated = z
  .object({
    id: position,
    event: z.literal('truncated'),
    data: z.object({ nextId: z.int().openapi({ description: 'The id of the next event' }) }),
  })
  .openapi('StreamTruncated', { example: { id: 41, event: 'truncated', data: { nextId: 42 } } })

const StreamReplaced = z
  .object({ event: z.literal('replaced'), data: z.object({}) })
  .openapi('StreamReplaced', { example: { event: 'replaced', data: {} } })

/** The events of a stream by their fields, with `data` as parsed JSON. */
export const StreamView = z
  .union([StreamedEvent, StreamTruncated, StreamReplaced])
  .openapi('StreamEvent', { example: { event: 'replaced', data: {} } })
