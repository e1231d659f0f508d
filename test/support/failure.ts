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

/**
 * Checks the parts that every error response has: its status, an error body with no other fields, and the
 * request ID. The error message must match `says`.
 */
export function expectFailure(
  { status, headers, body }: Answer,
  code: string,
  says: string | RegExp = /\S/,
  expected = STATUS[code],
): void {
  expect(body).toEqual({ error: { code, message: expect.stringMatching(says) } })
  expect(status).toBe(expected)
  expect(headers.get('content-type')).toMatch(/^application\/json\b/)
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
  if (status === 429 || status === 503) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
}
