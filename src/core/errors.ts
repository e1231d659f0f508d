/** All codes of the service's error body, `{"error": {"code", "message"}}`. */
export type ErrorCode =
  | 'invalid_input'
  | 'unauthorized'
  | 'forbidden'
  | 'plan_limit'
  | 'not_found'
  | 'conflict'
  | 'rate_limited'
  | 'internal'
  | 'unavailable'

/** What programs can read of an error besides its code. */
export interface ErrorDetails {
  /** `key_reused`: the idempotency key was used for another request. */
  reason?: 'key_reused'
  /** The message that the request with this key sent. */
  messageId?: string
}

/**
 * An error that is shown to the caller. `message` is public; internal details go into `cause`, which is only
 * logged. `field` names the part of the input that broke a rule; `retryAfter` is in seconds; `details` are further
 * fields of the error body.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly field: string | undefined
  readonly retryAfter: number | undefined
  readonly details: ErrorDetails

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; field?: string; retryAfter?: number; details?: ErrorDetails } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.field = options.field
    this.retryAfter = options.retryAfter
    this.details = options.details ?? {}
  }
}

export const invalidInput = (field: string, rule: string) =>
  new AppError('invalid_input', `${field}: ${rule}`, { field })

/**
 * The same sentence for what does not exist and for what belongs to another workspace, so that they cannot be
 * distinguished.
 */
export const notFound = (what: string, key: 'id' | 'name' | 'number' = 'id') =>
  new AppError('not_found', `There is no ${what} with this ${key}.`)

export const noSuchPath = () => new AppError('not_found', 'There is no such path.')

/**
 * Returns the text of anything that was thrown, for the log or for a record that an operator reads: in one line, because
 * Prisma's messages begin with an empty one and have others in between.
 */
export const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ').trim()
