import { z } from '@hono/zod-openapi'
import { CHANNEL_KINDS } from '../core/channels.ts'
import type { ErrorCode } from '../core/errors.ts'

/**
 * Schemas of the resources in responses, for the documentation. The operations' `present…` functions create
 * the values.
 */

export const id = z.string().openapi({ format: 'uuid' })
export const time = z.string().openapi({ format: 'date-time' })
export const count = z.int().min(0)

/** Ids and times in examples. */
export const ID = '0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b'
export const OTHER = '0193a5c2-9d20-7f4b-8a11-5e6f7a8b9c0d'
export const TIME = '2026-11-20T09:30:00.000Z'
export const LATER = '2026-11-27T09:30:00.000Z'

export const ERROR_CODES = [
  'invalid_input',
  'unauthorized',
  'forbidden',
  'plan_limit',
  'not_found',
  'conflict',
  'rate_limited',
  'internal',
  'unavailable',
] as const satisfies readonly ErrorCode[]

export const addressChannel = z.enum(CHANNEL_KINDS)

export const pageView = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: z.array(item).openapi({ maxItems: 100 }),
    nextCursor: z
      .string()
      .nullable()
      .openapi({ description: 'Pass it as `cursor` to get the next page; null on the last page' }),
  })
