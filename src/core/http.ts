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

/** A failure as an HTTP answer. `status` is given where the code alone doesn't tell it: 413 and 415 are `invalid_input` too. */
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
export interface Asker {
  workspaceId: string
  kind: 'member' | 'agent'
  id: string
  tokenId: string
}

const askers = new WeakMap<object, Asker>()

/** Notes whose request an answer is for: a skin knows, the log's line is written below it. */
export const noteAsker = (answer: object, { workspaceId, kind, id, tokenId }: Asker): void =>
  void askers.set(answer, { workspaceId, kind, id, tokenId })

/** Whose request an answer is for; undefined where nobody showed a good token. */
export const askerOf = (answer: object): Asker | undefined => askers.get(answer)
