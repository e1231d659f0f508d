import { ProtocolError } from '@modelcontextprotocol/server'
import type { AppError, ErrorCode } from '../core/errors.ts'
import { publicError } from '../db/failure.ts'

/** What a model is to do about a failure, where its message doesn't say so itself. */
const NEXT: Record<ErrorCode, string> = {
  invalid_input: 'Correct this argument and call again.',
  unauthorized: 'This token is no longer valid. A member must give you a new one.',
  forbidden: 'Your token does not allow this. Ask a member of the workspace to do or allow it.',
  plan_limit: "The workspace's plan does not include this. Retrying will not help: tell a member.",
  not_found: 'Take an id from list_messages or whoami.',
  conflict: 'Read the reason. Retry only once it has changed.',
  rate_limited: 'Wait, then call again.',
  internal: 'Nothing was wrong with your call. Try once more, then tell a member.',
  unavailable: 'Wait, then call again.',
}

const nextOf = ({ code, retryAfter }: AppError): string =>
  retryAfter === undefined ? NEXT[code] : `Wait ${retryAfter} seconds, then call again.`

/** A failure as a tool's result says it. */
export const failureOf = (error: unknown) => {
  const failure = publicError(error)
  return {
    failure,
    result: { error: { code: failure.code, message: failure.message, next: nextOf(failure) } },
  }
}

const INVALID_PARAMS = -32602
const INTERNAL = -32603

/** The Events extension's own codes, as every public server sends them (the draft of SEP-3415 has others). */
const CODES = {
  notFound: -32011,
  forbidden: -32012,
  exhausted: -32013,
  unsupported: -32014,
  callback: -32015,
} as const

export interface RpcError {
  code: number
  message: string
  data?: unknown
}

const rpcError = (code: number, message: string, data?: unknown): RpcError => ({
  code,
  message,
  ...(data === undefined ? {} : { data }),
})

export const noSuchEvent = (name: string): RpcError =>
  rpcError(CODES.notFound, `There is no event ${name}.`, { kind: 'event' })
export const exhausted = (limit: string, max: number, message: string): RpcError =>
  rpcError(CODES.exhausted, message, { limit, max })
export const callbackFailed = (reason: string, message: string): RpcError =>
  rpcError(CODES.callback, message, { reason })
export const replacedByAnother = (): RpcError =>
  rpcError(CODES.exhausted, 'Another client is connected now.', {
    limit: 'connectedClients',
    max: 1,
    reason: 'replaced',
  })

const BY_CODE: Record<ErrorCode, number> = {
  invalid_input: INVALID_PARAMS,
  unauthorized: CODES.forbidden,
  forbidden: CODES.forbidden,
  plan_limit: CODES.exhausted,
  not_found: CODES.notFound,
  conflict: CODES.unsupported,
  rate_limited: CODES.exhausted,
  internal: INTERNAL,
  unavailable: INTERNAL,
}

/** A failure as the Events extension says it. */
export const eventError = (error: unknown): RpcError => {
  const { code, message, retryAfter } = publicError(error)
  const retry = retryAfter === undefined ? {} : { retryAfter }
  return rpcError(
    BY_CODE[code],
    message,
    code === 'not_found' ? { kind: 'subscription' } : { reason: code, ...retry },
  )
}

/** What answers a request with it. */
export const refusal = ({ code, message, data }: RpcError): ProtocolError =>
  new ProtocolError(code, message, data)
