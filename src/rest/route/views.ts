import { z } from '@hono/zod-openapi'
import type { ErrorCode } from '../../core/errors.ts'

/** What the documents of all resources have in common. */

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

export const pageView = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: z.array(item).openapi({ maxItems: 100 }),
    nextCursor: z
      .string()
      .nullable()
      .openapi({ description: 'Pass it as `cursor` to get the next page; null on the last page' }),
  })
