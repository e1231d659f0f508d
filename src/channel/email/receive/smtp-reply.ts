import { AppError, messageOf } from '../../../core/errors.ts'

/** An SMTP answer of our own; anything else that is thrown becomes 451. */
export class Reply extends Error {
  readonly responseCode: number

  constructor(responseCode: number, message: string) {
    super(message)
    this.responseCode = responseCode
  }
}

/** What an operation refuses for good (554) or for now (451), in words for the client. */
const CODES: Readonly<Record<string, number>> = { invalid_input: 554, unavailable: 451 }

/** Whether somebody means to be answered so, and nothing is wrong here. */
export const isExpected = (error: unknown): boolean =>
  error instanceof Reply || (error instanceof AppError && error.code in CODES)

/** What a client hears of an error. */
export const replyTo = (error: unknown): Reply => {
  if (error instanceof Reply) return error
  const code = error instanceof AppError ? CODES[error.code] : undefined
  return code === undefined
    ? new Reply(451, 'Temporary failure, try again later')
    : new Reply(code, messageOf(error))
}
