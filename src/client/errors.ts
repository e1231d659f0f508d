import type { components } from './api.ts'

/**
 * What went wrong: a code of the service's error body, or one of the client's own.
 * - `unreachable`: no answer from the service (network failure or timeout)
 * - `bad_response`: an answer that is not the service's, for example a proxy's page or a redirect
 * - `replaced`: another client connected as this agent
 * - `bad_signature`: a webhook request that the service did not sign, or one that is too old
 * - `not_stored`: a message to a Message URL, of which the service has no copy
 */
export type ErrorCode =
  | components['schemas']['ErrorCode']
  | 'unreachable'
  | 'bad_response'
  | 'replaced'
  | 'bad_signature'
  | 'not_stored'

export interface ErrorDetails {
  status?: number | undefined
  retryAfter?: number | undefined
  requestId?: string | undefined
  reason?: string | undefined
  messageId?: string | undefined
  cause?: unknown
}

/** Messages of `invalid_input` begin with the field's name. */
const FIELD = /^([\w.[\]-]+): /
const SECONDS = /^\s*\d{1,9}(?:\.\d{1,9})?\s*$/

/** The only error that this package throws, apart from the reason of an aborted signal. */
export class AmsError extends Error {
  readonly code: ErrorCode
  /** The HTTP status, if the service answered. */
  readonly status: number | undefined
  /** Seconds after which a retry can succeed, if the service named them. */
  readonly retryAfter: number | undefined
  /** With `invalid_input`: the part of the request that broke a rule, such as `to[0]`. */
  readonly field: string | undefined
  /** The id of the request in the service's log. */
  readonly requestId: string | undefined
  /** `key_reused`: the idempotency key was used for another request. */
  readonly reason: string | undefined
  /** With `key_reused`: the message that the first request sent. */
  readonly messageId: string | undefined

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'AmsError'
    this.code = code
    this.status = details.status
    this.field = code === 'invalid_input' ? FIELD.exec(message)?.[1] : undefined
    this.retryAfter = details.retryAfter
    this.requestId = details.requestId
    this.reason = details.reason
    this.messageId = details.messageId
  }
}

/** The error of a response that is not a success. */
export const errorOf = (response: Response, text: string): AmsError => {
  const { status, headers } = response
  const seconds = headers.get('retry-after') ?? ''
  const details = {
    status,
    retryAfter: SECONDS.test(seconds) ? Number(seconds) : undefined,
    requestId: headers.get('x-request-id') ?? undefined,
  }
  try {
    const { error } = JSON.parse(text) as components['schemas']['Error']
    const { code, message, reason, messageId } = error
    if (typeof code === 'string' && typeof message === 'string')
      return new AmsError(code, message, { ...details, reason, messageId })
  } catch {}
  const hint = status >= 300 && status < 400 ? ' (a redirect: use the URL that it leads to)' : ''
  return new AmsError('bad_response', `Unexpected response with status ${status}${hint}`, details)
}
