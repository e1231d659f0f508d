import { AppError } from '../../core/errors.ts'

const STATUS: Partial<Record<AppError['code'], number>> = {
  invalid_input: 400,
  unauthorized: 401,
  plan_limit: 402,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  rate_limited: 429,
  unavailable: 503,
}

/** Returns an error's message for a form, without the field's name, which the label shows. */
const wordsOf = (error: AppError): string => {
  const words = error.field ? error.message.slice(error.field.length + 2) : error.message
  return words.charAt(0).toUpperCase() + words.slice(1) + (words.endsWith('.') ? '' : '.')
}

/** Why a form was rejected: the status of the page, and words for the user. */
export interface Problem {
  status: number
  problem: string
}

/** Returns the problem of an error whose message is meant for the user; throws any other error. */
export const problemOf = (error: unknown): Problem => {
  const status = error instanceof AppError && STATUS[error.code]
  if (!status) throw error
  return { status, problem: wordsOf(error) }
}
