import type { Hook } from '@hono/zod-openapi'
import type { Context, ErrorHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { AppError, invalidInput } from '../core/errors.ts'
import { httpFailure } from '../core/http.ts'
import type { Logger } from '../core/logger.ts'
import { fieldName } from '../core/rules.ts'
import { publicError } from '../db/failure.ts'
import type { RestEnv } from './env.ts'

export const notJson = () => new AppError('invalid_input', 'body: the Content-Type must be application/json, in UTF-8')

/** The part of zod's issues that an error message is made from. */
export interface Issue {
  code?: string | undefined
  path: PropertyKey[]
  message: string
  keys?: string[]
  expected?: string
  values?: unknown[]
  input?: unknown
}

/** What stands in the input where a rule was broken. */
const valueAt = (input: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce((value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined), input)

const ruleOf = ({ code, message, expected, values }: Issue, value: unknown, where: string): string => {
  if (value === undefined) return 'is required'
  if (where === 'query' && Array.isArray(value)) return 'must be given once'
  if (code === 'invalid_type') return `must be ${/^[aeiou]/.test(expected ?? '') ? 'an' : 'a'} ${expected}`
  if (code === 'invalid_value') return `must be ${values?.length === 1 ? '' : 'one of '}${values?.map((value) => String(value)).join(', ')}`
  return message
}

/** The first broken rule, with the field that broke it. Unknown fields are named. */
const inputError = (issues: readonly Issue[], input: unknown, where: string): AppError => {
  const issue = issues[0]!
  const path = fieldName(issue.path)
  if (issue.code === 'unrecognized_keys') return invalidInput([path, issue.keys![0]].filter(Boolean).join('.'), 'is not a known field')
  return invalidInput(path || where, ruleOf(issue, valueAt(input, issue.path), where))
}

/** Answers with the error body. `status` where the code alone doesn't tell it. */
export const answerError = (c: Context, error: AppError, status?: number): Response => {
  const failure = httpFailure(error, status)
  return c.json(failure.body, failure.status as ContentfulStatusCode, failure.headers)
}

/** What the router itself refuses: a body that is no JSON, or of another type. */
const refused = (c: Context, { status }: HTTPException): Response =>
  status === 415 ? answerError(c, notJson(), 415) : answerError(c, invalidInput('body', 'must be valid JSON'))

export const onError =
  (log: Logger): ErrorHandler<RestEnv> =>
  (error, c) => {
    if (error instanceof HTTPException) return refused(c, error)
    const failure = publicError(error)
    if (failure.code === 'internal') log.error({ err: error, requestId: c.get('requestId') }, 'a request failed')
    if (failure.code === 'unavailable' && failure.cause) log.warn({ err: error, requestId: c.get('requestId') }, 'the database is away')
    return answerError(c, failure)
  }

const WHOLE: Record<string, string> = { json: 'body', query: 'query', param: 'path' }

// biome-ignore lint/suspicious/noExplicitAny: the hook serves every route, whatever its types
export const onInvalid: Hook<unknown, RestEnv, any, any> = (result, c) => {
  if (result.success) return undefined
  const { data } = result as { data?: unknown } // the validator hands over what it read; its types don't say so
  return answerError(c, inputError(result.error.issues as Issue[], data, WHOLE[result.target] ?? 'request'))
}
