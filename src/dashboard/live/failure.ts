import type { CombinedError } from 'urql'

/** A failure in the API's words. */
export interface Failure {
  /** The API's error code, or `offline` when the service was not reached. */
  code: string
  message: string
  /** The field of the input that is wrong. */
  field: string | null
  /** Under which the service logged it. */
  requestId: string | null
}

const OFFLINE = 'The service does not answer. Check the connection, and try again.'

const requestIdOf = (response: unknown): string | null =>
  response instanceof Response ? response.headers.get('X-Request-Id') : null

/** What may succeed when it is tried again. */
const PASSING: readonly string[] = ['internal', 'offline', 'rate_limited', 'unavailable']

export const isPassing = (code: string): boolean => PASSING.includes(code)

/** Returns what failed; null if nothing did. */
export const failureOf = (error: CombinedError | undefined): Failure | null => {
  if (!error) return null
  const requestId = requestIdOf(error.response)
  const [first] = error.graphQLErrors
  if (!first) return { code: 'offline', message: OFFLINE, field: null, requestId }
  const { code = 'internal', field = null } = first.extensions as { code?: string; field?: string | null }
  return { code, message: first.message, field, requestId }
}
