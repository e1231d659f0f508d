import { z } from '@hono/zod-openapi'
import { uuid } from '../core/rules.ts'
import { ErrorView } from './views.ts'

/** The pieces that the routes' descriptions are made of. */

export const SECURITY = [{ bearer: [] }]

const failure = (description: string) => ({ description, content: { 'application/json': { schema: ErrorView } } })

/** What every operation may answer besides what it is for. */
export const FAILURES = {
  400: failure('`invalid_input`: the message names the field and the rule that it broke'),
  401: failure('`unauthorized`: no token, or one that is not valid'),
  403: failure('`forbidden`: this token may not do this'),
  404: failure('`not_found`: not there, or not in your workspace'),
  409: failure('`conflict`'),
  413: failure('`invalid_input`: the body is too large'),
  415: failure('`invalid_input`: the body is not application/json'),
  500: failure('`internal`'),
  503: failure('`unavailable`: try again after `Retry-After` seconds'),
} as const

export const ok = <Schema extends z.ZodType>(description: string, schema: Schema) => ({
  description,
  content: { 'application/json': { schema } },
})

export const NO_CONTENT = { description: 'Done' }

export const body = <Schema extends z.ZodType>(schema: Schema) => ({
  body: { required: true, content: { 'application/json': { schema } } },
})

/** Path parameters, each a UUID. */
export const ids = <Name extends string>(...names: Name[]) =>
  z.object(Object.fromEntries(names.map((name) => [name, uuid])) as Record<Name, typeof uuid>)

/** An integer in a query string. */
export const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,16}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`)
    .openapi({ type: 'integer', minimum: min, maximum: max })

/** `limit` and `cursor`, as every paged list takes them. */
export const PAGING = {
  limit: integer(1, 100).optional().openapi({ description: '1 to 100; 20 when left out' }),
  cursor: z.string().max(500).optional().openapi({ description: "The previous page's `nextCursor`" }),
}
export const DEFAULT_LIMIT = 20
