import { AppError } from '../core/errors.ts'
import { isUnavailable } from './unavailable.ts'

/** Seconds after which it is worth asking again when the database is away. */
const RETRY_AFTER = 2

/**
 * A row that this one speaks of was deleted in the meantime: foreign keys of pg and Prisma, and Prisma's
 * "record not found".
 */
const isGone = (error: unknown): boolean => {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { originalCode?: unknown } }
  return code === '23503' || code === 'P2003' || code === 'P2025' || cause?.originalCode === '23503'
}

/**
 * The client broke off in the middle of its request, in Node's words: nobody reads the answer, and nobody is
 * to blame here.
 */
const isBrokenOff = (error: unknown): boolean => {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  return code === 'ECONNRESET' && message === 'aborted'
}

/** What the outside may read of anything that was thrown. The inside stays in `cause`, for the log. */
export const publicError = (error: unknown): AppError => {
  if (error instanceof AppError) return error
  if (isBrokenOff(error))
    return new AppError('invalid_input', 'body: broke off before its end', { cause: error })
  if (isUnavailable(error))
    return new AppError('unavailable', 'The service cannot reach its database. Try again shortly.', {
      cause: error,
      retryAfter: RETRY_AFTER,
    })
  if (isGone(error))
    return new AppError('conflict', 'What this is about was deleted in the meantime.', { cause: error })
  return new AppError('internal', 'Something went wrong on our side.', { cause: error })
}
