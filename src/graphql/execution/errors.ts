import { GraphQLError } from 'graphql'
import { AppError } from '../../core/errors.ts'
import { httpFailure } from '../../core/http/http.ts'
import type { Logger } from '../../core/logger.ts'
import { logUnavailable, publicError } from '../../db/failure.ts'
import { ScalarError } from '../builder/input.ts'
import { innermost, wrongVariable } from './wrong-input.ts'

/** Errors that have already been converted for clients. */
const presented = new WeakSet<object>()

/**
 * GraphQL's own errors, without another error inside, are the client's fault unless they have a path: those
 * concern the result, such as a value that its type does not allow.
 */
const failureOf = (error: unknown): AppError => {
  const inner = innermost(error)
  const own = inner instanceof ScalarError || inner instanceof GraphQLError
  if (!own || !(error instanceof GraphQLError) || error.path) return publicError(inner)
  return wrongVariable(error) ?? new AppError('invalid_input', error.message)
}

const extensionsOf = (failure: AppError): Record<string, unknown> => ({
  code: failure.code,
  ...(failure.field === undefined ? {} : { field: failure.field }),
  ...failure.details,
  ...(failure instanceof TruncatedError ? { nextId: failure.nextId } : {}),
})

/**
 * A malformed request is rejected with its status whatever the client accepts, as GraphQL over HTTP specifies
 * (6.4.1).
 */
const httpOfYoga = ({ extensions }: GraphQLError): unknown =>
  extensions.code === 'BAD_REQUEST' ? { ...(extensions.http as object), spec: false } : extensions.http

/**
 * Returns what determines the HTTP response: the status that Yoga set or, for failures before execution, that
 * of the error code. With `spec` it applies to application/graphql-response+json only, as GraphQL over HTTP
 * specifies.
 */
const httpOf = (error: unknown, failure: AppError): Record<string, unknown> => {
  if (error instanceof GraphQLError && error.extensions.http) return { http: httpOfYoga(error) }
  if (error instanceof GraphQLError && error.path) return {}
  const { status, headers } = httpFailure(failure)
  return { http: { spec: true, status, headers } }
}

/** Converts anything thrown to an error that clients may read; details are logged under the request's id. */
const readFailure = (error: unknown, log: Logger, requestId: string | undefined): AppError => {
  const failure = failureOf(error)
  if (failure.code === 'internal') log.error({ err: innermost(error), requestId }, 'request failed')
  logUnavailable(log, failure, { requestId })
  return failure
}

/**
 * Converts an error for clients: with the API's code in `extensions.code`, the same message as in REST, and
 * for `invalid_input` the name of the field in `extensions.field`.
 */
export const presentError = (error: unknown, log: Logger, requestId?: string): GraphQLError => {
  if (error instanceof GraphQLError && presented.has(error)) return error
  const failure = readFailure(error, log, requestId)
  const {
    nodes = null,
    source = null,
    positions = null,
    path = null,
  } = error instanceof GraphQLError ? error : {}
  const extensions = { ...extensionsOf(failure), ...httpOf(error, failure) }
  const shown = new GraphQLError(failure.message, { nodes, source, positions, path, extensions })
  presented.add(shown)
  return shown
}

/** The position of a subscription is no longer stored; its stream continues with the event `nextId`. */
export class TruncatedError extends AppError {
  readonly nextId: number

  constructor(nextId: number) {
    super(
      'not_found',
      `The events before ${nextId} are no longer stored. This subscription continues with event ${nextId}.`,
    )
    this.nextId = nextId
  }
}

/** Removes the instructions for the HTTP response from an error. */
export const withoutHttp = (error: GraphQLError): GraphQLError => {
  const { http, ...extensions } = error.extensions
  if (http === undefined) return error
  const { message, nodes = null, source = null, positions = null, path = null } = error
  return new GraphQLError(message, { nodes, source, positions, path, extensions })
}

/** An HTTP response in GraphQL's format to a request that was not executed. */
export interface FailedAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/** `status` overrides the status of the error code. */
export const failedAnswer = (
  error: unknown,
  log: Logger,
  requestId: string,
  status?: number,
): FailedAnswer => {
  const failure = readFailure(error, log, requestId)
  const http = httpFailure(failure, status)
  return {
    status: http.status,
    headers: { ...http.headers, 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ errors: [{ message: failure.message, extensions: extensionsOf(failure) }] }),
  }
}
