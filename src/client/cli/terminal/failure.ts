import { AmsError, type ErrorCode } from '../../errors.ts'

/** The command line itself is wrong. What only the service can check, it rejects as `invalid_input`. */
export class UsageError extends Error {}

export const EXIT_CODES = [
  [0, 'done'],
  [1, 'failed'],
  [2, 'wrong usage'],
  [3, 'the token is missing, not valid, or not allowed to do this'],
  [4, 'there is no such message, secret or agent'],
  [5, 'the service cannot be reached or is unavailable'],
  [6, 'another client connected as this agent'],
] as const

/** What was waited for did not come. */
export const NONE_CAME = 1

const CODES: Partial<Record<ErrorCode, number>> = {
  invalid_input: 2,
  unauthorized: 3,
  forbidden: 3,
  not_found: 4,
  unreachable: 5,
  unavailable: 5,
  rate_limited: 5,
  replaced: 6,
}

export const exitCodeOf = (error: unknown): number => {
  if (error instanceof UsageError) return 2
  return error instanceof AmsError ? (CODES[error.code] ?? 1) : 1
}

/** What is wrong with a file that somebody named, for people. */
export const inWords = ({ code, path, message }: NodeJS.ErrnoException): string =>
  code === 'ENOENT' && path ? `There is no file or folder ${path}.` : message
