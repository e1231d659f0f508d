import { GraphQLError } from 'graphql'
import { AppError } from '../../core/errors.ts'
import { httpFailure } from '../../core/http.ts'
import type { Logger } from '../../core/logger.ts'
import { publicError } from '../../db/failure.ts'
import { ScalarError } from '../input.ts'
import { innermost, wrongVariable } from './wrong-input.ts'

/** Errors that the outside may read as they are. */
const presented = new WeakSet<object>()

/**
 * GraphQL's own errors, without another one inside, are about the request until something runs; with a path
 * they are about the answer: a value that its type doesn't have.
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
  ...(failure instanceof TruncatedError ? { nextId: failure.nextId } : {}),
})

/**
 * A request that is none is refused with its status whatever the client accepts, as GraphQL over HTTP has it
 * (6.4.1).
 */
const httpOfYoga = ({ extensions }: GraphQLError): unknown =>
  extensions.code === 'BAD_REQUEST' ? { ...(extensions.http as object), spec: false } : extensions.http

/**
 * What Yoga makes the HTTP answer of: the status that it set itself, or for what failed before anything ran
 * the code's own. With `spec` that counts for application/graphql-response+json only, as GraphQL over HTTP
 * has it.
 */
const httpOf = (error: unknown, failure: AppError): Record<string, unknown> => {
  if (error instanceof GraphQLError && error.extensions.http) return { http: httpOfYoga(error) }
  if (error instanceof GraphQLError && error.path) return {}
  const { status, headers } = httpFailure(failure)
  return { http: { spec: true, status, headers } }
}

/**
 * What the outside may read of anything that was thrown; the rest goes to the log, under the request's id.
 */
const readFailure = (error: unknown, log: Logger, requestId: string | undefined): AppError => {
  const failure = failureOf(error)
  if (failure.code === 'internal') log.error({ err: innermost(error), requestId }, 'a request failed')
  // Without a cause it is a word of ours to the client (a stream that stops), and nothing is away.
  if (failure.code === 'unavailable' && failure.cause)
    log.warn({ err: failure.cause, requestId }, 'the database is away')
  return failure
}

/**
 * The error as clients read it: the contract's code in `extensions.code`, the message that REST has, and of
 * an `invalid_input` the name of the field in `extensions.field`.
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

/**
 * The error of a subscription whose position is no longer kept; its stream goes on with the event `nextId`.
 */
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

/** What Yoga reads off an error and leaves out of the answer. */
export const withoutHttp = (error: GraphQLError): GraphQLError => {
  const { http, ...extensions } = error.extensions
  if (http === undefined) return error
  const { message, nodes = null, source = null, positions = null, path = null } = error
  return new GraphQLError(message, { nodes, source, positions, path, extensions })
}

/** An HTTP answer without any execution behind it, in GraphQL's shape. */
export interface FailedAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/** `status` where the code alone doesn't tell it. */
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
