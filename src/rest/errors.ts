import type { Hook } from '@hono/zod-openapi'
import type { Context, ErrorHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { AppError, invalidInput } from '../core/errors.ts'
import { httpFailure } from '../core/http.ts'
import { type Issue, inputError } from '../core/input-error.ts'
import type { Logger } from '../core/logger.ts'
import { publicError } from '../db/failure.ts'
import type { RestEnv } from './env.ts'

export const notJson = () =>
  new AppError('invalid_input', 'body: the Content-Type must be application/json, in UTF-8')

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
    if (failure.code === 'internal')
      log.error({ err: error, requestId: c.get('requestId') }, 'a request failed')
    if (failure.code === 'unavailable' && failure.cause)
      log.warn({ err: error, requestId: c.get('requestId') }, 'the database is away')
    return answerError(c, failure)
  }

const WHOLE: Record<string, string> = { json: 'body', query: 'query', param: 'path' }

// biome-ignore lint/suspicious/noExplicitAny: the hook serves every route, whatever its types
export const onInvalid: Hook<unknown, RestEnv, any, any> = (result, c) => {
  if (result.success) return undefined
  const { data } = result as { data?: unknown } // the validator hands over what it read; its types don't say so
  return answerError(c, inputError(result.error.issues as Issue[], data, WHOLE[result.target] ?? 'request'))
}
