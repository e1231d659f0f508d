import type { Hook } from '@hono/zod-openapi'
import type { Context, ErrorHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { AppError, invalidInput } from '../../core/errors.ts'
import { httpFailure } from '../../core/http/http.ts'
import { type Issue, inputError } from '../../core/input-error.ts'
import type { Logger } from '../../core/logger.ts'
import { logUnavailable, publicError } from '../../db/failure.ts'
import type { RestEnv } from './env.ts'
import { type QueryValues, withParts } from './query-parts.ts'

export const notJson = () =>
  new AppError('invalid_input', 'body: the Content-Type must be application/json, in UTF-8')

/** Responds with the error body. `status` overrides the status of the error code. */
export const answerError = (c: Context, error: AppError, status?: number): Response => {
  const failure = httpFailure(error, status)
  return c.json(failure.body, failure.status as ContentfulStatusCode, failure.headers)
}

/** Responds to errors of the router itself: a body that is not valid JSON, or of another type. */
const refused = (c: Context, { status }: HTTPException): Response =>
  status === 415 ? answerError(c, notJson(), 415) : answerError(c, invalidInput('body', 'must be valid JSON'))

export const onError =
  (log: Logger): ErrorHandler<RestEnv> =>
  (error, c) => {
    if (error instanceof HTTPException) return refused(c, error)
    const failure = publicError(error)
    if (failure.code === 'internal')
      log.error({ err: error, requestId: c.get('requestId') }, 'request failed')
    logUnavailable(log, failure, { requestId: c.get('requestId') })
    return answerError(c, failure)
  }

const WHOLE: Record<string, string> = { json: 'body', query: 'query', param: 'path' }

// biome-ignore lint/suspicious/noExplicitAny: the hook serves every route, whatever its types
export const onInvalid: Hook<unknown, RestEnv, any, any> = (result, c) => {
  if (result.success) return undefined
  const { data } = result as { data?: unknown } // passed by the validator, but missing in its types
  const issues = result.error.issues as Issue[]
  const keyed = issues.flatMap(({ path }) => path.slice(0, 1).map(String))
  const given = result.target === 'query' ? withParts(data as QueryValues, keyed) : data
  return answerError(c, inputError(issues, given, WHOLE[result.target] ?? 'request'))
}
