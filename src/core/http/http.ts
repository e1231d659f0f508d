import type { ServerResponse } from 'node:http'
import type { AppError, ErrorCode, ErrorDetails } from '../errors.ts'
import { type Arrival, NO_BODY } from './arrivals.ts'

/** The status of a response about each kind of failure. */
export const STATUS: Record<ErrorCode, number> = {
  invalid_input: 400,
  unauthorized: 401,
  plan_limit: 402,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
}

/**
 * A failure as an HTTP response. `status` is given where the code alone does not determine it: 413 and 415
 * are also `invalid_input`.
 */
export interface HttpFailure {
  status: number
  headers: Record<string, string>
  body: { error: { code: ErrorCode; message: string } & ErrorDetails }
}

export const httpFailure = (
  { code, message, retryAfter, details }: AppError,
  status = STATUS[code],
): HttpFailure => ({
  status,
  headers: {
    ...(code === 'unauthorized' ? { 'WWW-Authenticate': 'Bearer' } : {}),
    ...(code === 'rate_limited' || code === 'unavailable' ? { 'Retry-After': String(retryAfter ?? 1) } : {}),
  },
  body: { error: { code, message, ...details } },
})

/** Authenticated caller of a request, as it is logged. */
export interface Requester {
  workspaceId: string
  kind: 'member' | 'agent'
  id: string
  tokenId: string
}

/** What is known of a caller: a front knows only the workspace. */
type KnownRequester = Pick<Requester, 'workspaceId'> & {
  [Part in 'kind' | 'id' | 'tokenId']?: Requester[Part] | undefined
}

/**
 * What is noted of a request is a property of it or of its response: a `WeakMap` keeps all that was put into it since
 * V8's last collection of young objects (docs/decisions.md#sets-of-requests).
 */
const REQUESTER = Symbol('requester')
const ORIGIN = Symbol('origin')

interface Noted {
  [REQUESTER]?: KnownRequester
  [ORIGIN]?: Origin
}

const notesOf = (of: object): Noted => of

/**
 * Records the caller of the request that a response belongs to: the interface knows the caller, and the HTTP
 * server writes the log. Returns the caller with the request's id, under which the audit log records what they do.
 */
export const noteRequester = <Caller extends KnownRequester>(
  answer: Pick<ServerResponse, 'getHeader'>,
  caller: Caller,
): Caller & { requestId?: string | undefined } => {
  const { workspaceId, kind, id, tokenId } = caller
  notesOf(answer)[REQUESTER] = { workspaceId, kind, id, tokenId }
  return { ...caller, requestId: answer.getHeader('X-Request-Id')?.toString() }
}

/** Returns the caller of the request that a response belongs to; undefined without a valid token. */
export const requesterOf = (answer: object): KnownRequester | undefined => notesOf(answer)[REQUESTER]

/** Facts about a request before it is parsed. */
interface Origin {
  /**
   * Client's address, as returned by `sourceOf`; '' for this machine, and for a proxy that names no client.
   */
  source: string
  /** Progress of its body. */
  arrival: Arrival
}

/** Records the origin of a request: the HTTP server knows it, and the interfaces count by it. */
export const noteOrigin = (request: object, origin: Origin): void => {
  notesOf(request)[ORIGIN] = origin
}

/** Returns the address that limits by address count a request for; '' for none. */
export const clientOf = (request: object): string => notesOf(request)[ORIGIN]?.source ?? ''

/** Returns the progress of a request's body. */
export const arrivalOf = (request: object): Arrival => notesOf(request)[ORIGIN]?.arrival ?? NO_BODY

/** Classes of HTTP routes, for metrics. */
export const ROUTE_CLASSES = [
  'rest_read',
  'rest_write',
  'message_url',
  'graphql',
  'mcp',
  'web',
  'oauth',
  'callback',
  'monitoring',
] as const
export type RouteClass = (typeof ROUTE_CLASSES)[number]
