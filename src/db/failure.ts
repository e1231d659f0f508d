import { AppError, messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { oneLine } from '../core/text/sanitize-text.ts'
import { isDeadlock, isUnavailable, isUnstorable } from './unavailable.ts'

const DATABASE_AWAY = 'The service cannot reach its database. Try again shortly.'
const COLLIDED = 'This request and another one waited for each other. Try again shortly.'
/** Seconds after which a retry is worthwhile while the database is unavailable. */
const RETRY_AFTER = 2

/**
 * Returns whether a referenced row was deleted in the meantime: foreign key errors of pg and Prisma, and
 * Prisma's "record not found".
 */
const isGone = (error: unknown): boolean => {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { originalCode?: unknown } }
  return code === '23503' || code === 'P2003' || code === 'P2025' || cause?.originalCode === '23503'
}

/**
 * Returns whether the client disconnected in the middle of its request, in Node's words: nobody reads the
 * response, and nothing is wrong here.
 */
const isDisconnect = (error: unknown): boolean => {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  return code === 'ECONNRESET' && message === 'aborted'
}

/**
 * Converts anything that was thrown to an error that may be shown to clients. The original stays in `cause`,
 * for the log.
 */
export const publicError = (error: unknown): AppError => {
  if (error instanceof AppError) return error
  if (isDisconnect(error))
    return new AppError('invalid_input', 'body: ended before it was complete', { cause: error })
  if (isDeadlock(error))
    return new AppError('unavailable', COLLIDED, { cause: error, retryAfter: RETRY_AFTER })
  if (isUnavailable(error))
    return new AppError('unavailable', DATABASE_AWAY, {
      cause: error,
      retryAfter: RETRY_AFTER,
    })
  if (isGone(error))
    return new AppError('conflict', 'Something that this request needs was deleted in the meantime.', {
      cause: error,
    })
  return new AppError('internal', 'Something went wrong on our side.', { cause: error })
}

/**
 * Logs in one line what was unavailable, and why: the database or, say, a provider. No stack: it is the driver's, the same
 * for each request. Without a cause the error is a message to the client (a stream ends, a limit is reached), no outage.
 */
export const logUnavailable = (log: Logger, { code, message, cause }: AppError, facts: object = {}): void => {
  if (code !== 'unavailable' || cause === undefined) return
  const what = message === DATABASE_AWAY ? 'database unavailable' : `unavailable: ${message}`
  log.warn({ error: oneLine(messageOf(cause), 300), ...facts }, what)
}

/** Throws a permanent error when a message could not be stored because of what it contains, and else the error itself. */
export const refuseUnstorable = (error: unknown): never => {
  if (isUnstorable(error))
    throw new AppError('invalid_input', 'message: contains something that cannot be stored', { cause: error })
  throw error
}
