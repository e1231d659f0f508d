import { z } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { timestamp, uuid } from '../../core/rules.ts'
import { ensureScope, type Needed, scopesIn } from '../../core/scopes.ts'
import type { RestEnv } from './env.ts'

/** Building blocks of route descriptions. */

/** How the scopes that a token needs are documented (OpenAPI 3.1, 4.8.30). */
export const securityOf = (needed: Needed) => [{ bearer: [...scopesIn(needed)] }]

/** What every route needs: what its token must have the scope for, and the check of it. */
export const secured = (needed: Needed) => {
  const middleware: MiddlewareHandler<RestEnv> = async (c, next) => {
    ensureScope(c.var.viewer, needed)
    await next()
  }
  return { security: securityOf(needed), middleware }
}

/** Error responses in the documentation, by status; `openapi.ts` describes each. */
export const FAILURE_NAMES = {
  400: 'InvalidInput',
  401: 'Unauthorized',
  402: 'PlanLimit',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  413: 'BodyTooLarge',
  415: 'NotJson',
  429: 'RateLimited',
  500: 'Internal',
  503: 'Unavailable',
} as const
export type FailureStatus = keyof typeof FAILURE_NAMES

/** Why an operation can fail, with the statuses for each reason. */
const REASONS = {
  input: [400],
  /** A body that is not JSON: its description says what it must be. */
  content: [400, 413, 415],
  body: [400, 413, 415],
  /** The operation concerns an agent, which may not exist or may not be accessible. */
  agent: [400, 403, 404],
  forbidden: [403],
  missing: [400, 404],
  plan: [402],
  conflict: [409],
} as const
type Reason = keyof typeof REASONS

const ALWAYS = [401, 429, 500, 503] as const

/**
 * Returns the error responses of an operation: those of every operation, and those of the reasons that apply
 * to it.
 */
export const failures = <Given extends Reason>(...reasons: Given[]) => {
  const statuses: FailureStatus[] = [...ALWAYS, ...reasons.flatMap((reason) => [...REASONS[reason]])]
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${FAILURE_NAMES[status]}` }]),
  ) as Record<(typeof ALWAYS)[number] | (typeof REASONS)[Given][number], { $ref: string }>
}

export const ok = <Schema extends z.ZodType>(description: string, schema: Schema) => ({
  description,
  content: { 'application/json': { schema } },
})

/** A response that is a file. */
export const bytes = (description: string, type: string) => ({
  description,
  content: { [type]: { schema: z.string().openapi({ format: 'binary' }) } },
})

export const NO_CONTENT = { description: 'Done' }

export const body = <Schema extends z.ZodType>(schema: Schema) => ({
  body: { required: true, content: { 'application/json': { schema } } },
})

/** A body that may be left out, which is the same as an empty object. */
export const optionalBody = <Schema extends z.ZodType>(schema: Schema) => ({
  body: { required: false, content: { 'application/json': { schema } } },
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

/** A truth value in a query string. */
export const flag = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .openapi({ type: 'boolean' })

/** A timestamp in a query string, where an unencoded plus sign is decoded as a space. */
export const moment = z
  .string()
  .transform((value) => value.replace(/ (?=\d\d:\d\d$)/, '+'))
  .pipe(timestamp)
  .openapi({ type: 'string', format: 'date-time' })

export const DEFAULT_LIMIT = 20

/** `limit` and `cursor` of a paginated list. */
export const PAGING = {
  limit: integer(1, 100)
    .optional()
    .openapi({
      default: DEFAULT_LIMIT,
      description: `Maximum number of entries to return; defaults to ${DEFAULT_LIMIT}`,
    }),
  cursor: z.string().max(500).optional().openapi({ description: '`nextCursor` of the previous page' }),
}

/** The header of a list that is an array, when there are more entries. */
export const NEXT_LINK = {
  Link: {
    description: 'The URL of the next page: `<https://…>; rel="next"` (RFC 8288); left out on the last page',
    schema: { type: 'string' as const },
  },
}

/** Returns the value of `Link` that names the next page. */
export const nextLink = (url: string, query: Record<string, string | number | undefined>): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return `<${url}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}>; rel="next"`
}
