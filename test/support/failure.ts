import { expect } from 'vitest'
import type { Answer } from './service.ts'

const STATUS: Record<string, number> = {
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

interface ErrorBody {
  error: { code: string; message: string; reason?: string; messageId?: string }
}

/**
 * Checks the parts that every error response has: its status, an error body with no other fields than those of a used key, and the
 * request ID. The error message must match `says`.
 */
export function expectFailure(
  { status, headers, body }: Answer,
  code: string,
  says: string | RegExp = /\S/,
  expected = STATUS[code],
): void {
  const { reason, messageId: _, ...error } = (body as ErrorBody).error
  expect(body).toEqual({ error: expect.any(Object) })
  expect(error).toEqual({ code, message: expect.stringMatching(says) })
  expect(reason).toBe(error.message.startsWith('Idempotency-Key: was used') ? 'key_reused' : undefined)
  expect(status).toBe(expected)
  expect(headers.get('content-type')).toMatch(/^application\/json\b/)
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
  if (status === 429 || status === 503) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
}
