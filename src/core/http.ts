import { type Arrival, NO_BODY } from './arrivals.ts'
import type { AppError, ErrorCode } from './errors.ts'

const STATUS: Record<ErrorCode, number> = {
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
 * A failure as an HTTP answer. `status` is given where the code alone doesn't tell it: 413 and 415 are
 * `invalid_input` too.
 */
export interface HttpFailure {
  status: number
  headers: Record<string, string>
  body: { error: { code: ErrorCode; message: string } }
}

export const httpFailure = ({ code, message, retryAfter }: AppError, status = STATUS[code]): HttpFailure => ({
  status,
  headers: {
    ...(code === 'unauthorized' ? { 'WWW-Authenticate': 'Bearer' } : {}),
    ...(code === 'rate_limited' || code === 'unavailable' ? { 'Retry-After': String(retryAfter ?? 1) } : {}),
  },
  body: { error: { code, message } },
})

/** Who asked, as the line of a request in the log has it. */
export interface Requester {
  workspaceId: string
  kind: 'member' | 'agent'
  id: string
  tokenId: string
}

const askers = new WeakMap<object, Requester>()

/** Notes whose request an answer is for: a skin knows, the log's line is written below it. */
export const noteRequester = (answer: object, { workspaceId, kind, id, tokenId }: Requester): void =>
  void askers.set(answer, { workspaceId, kind, id, tokenId })

/** Whose request an answer is for; undefined where nobody showed a good token. */
export const requesterOf = (answer: object): Requester | undefined => askers.get(answer)

/** What is known of a request before anybody has looked at what it asks. */
interface Origin {
  /**
   * The client's address as `sourceOf` gives it; '' for this machine's own and for a proxy that names nobody.
   */
  source: string
  /** Its body, as it comes in. */
  arrival: Arrival
}

const origins = new WeakMap<object, Origin>()

/** Notes where a request comes from: the HTTP server knows, the skins count by it. */
export const noteOrigin = (request: object, origin: Origin): void => void origins.set(request, origin)

/** Whom limits by address count a request for; '': nobody in particular. */
export const clientOf = (request: object): string => origins.get(request)?.source ?? ''

/** A request's body as it comes in. */
export const arrivalOf = (request: object): Arrival => origins.get(request)?.arrival ?? NO_BODY
