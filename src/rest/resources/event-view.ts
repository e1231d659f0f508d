import { z } from '@hono/zod-openapi'
import { Event } from '../../api/webhook/event.ts'
import { EVENT_NAMES, MESSAGE_RECEIVED } from '../../event/index.ts'
import { viewOf } from '../route/rendered.ts'

export const EventView = viewOf(Event)

const position = z.int().min(0).openapi({
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'The position to resume after (`Last-Event-ID`)',
})
const StreamedEvent = z
  .object({ id: position, event: z.enum(EVENT_NAMES), data: EventView })
  .openapi('StreamedEvent', {
    example: { id: 42, event: MESSAGE_RECEIVED, data: Event.example },
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
