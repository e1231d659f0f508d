import { AppError, messageOf } from '../../core/errors.ts'
import { StorageFullError } from './spool.ts'

/** An error that is sent as this SMTP reply. Other errors become a 451, or the code in `CODES`. */
export class Reply extends Error {
  readonly responseCode: number

  constructor(responseCode: number, message: string) {
    super(message)
    this.responseCode = responseCode
  }
}

/** Application errors that are passed on to the client: permanent (554) or temporary (451). */
const CODES: Readonly<Record<string, number>> = { invalid_input: 554, unavailable: 451 }

/** Whether the error is an intended reply and not a fault of this service. */
export const isExpected = (error: unknown): boolean =>
  error instanceof Reply || (error instanceof AppError && error.code in CODES)

/** Converts an error to the reply for the client. */
export const replyTo = (error: unknown): Reply => {
  if (error instanceof Reply) return error
  if (error instanceof StorageFullError) return new Reply(452, error.message)
  const code = error instanceof AppError ? CODES[error.code] : undefined
  return code === undefined
    ? new Reply(451, 'Temporary failure, try again later')
    : new Reply(code, messageOf(error))
}
