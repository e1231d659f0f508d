import { AppError } from '../../core/errors.ts'

/** An SMTP answer of our own; anything else that is thrown becomes 451. */
export class Reply extends Error {
  readonly responseCode: number

  constructor(responseCode: number, message: string) {
    super(message)
    this.responseCode = responseCode
  }
}

/** Whether somebody means to be answered so, and nothing is wrong here. */
export const isExpected = (error: unknown): boolean => error instanceof Reply || (error instanceof AppError && error.code === 'unavailable')

/** What a client hears of an error. */
export const replyTo = (error: unknown): Reply => {
  if (error instanceof Reply) return error
  return new Reply(
    451,
    error instanceof AppError && error.code === 'unavailable' ? error.message : 'Temporary trouble here, try again later',
  )
}
