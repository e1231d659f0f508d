import { expect } from 'vitest'

/** A page as a person's browser gets it. */
export interface TestPage {
  status: number
  headers: Headers
  text: string
}

/**
 * Opens a link that the service handed out, or sends the form on its page. The link says localhost; the
 * service is asked where it listens.
 */
export const visit = async (http: string, link: string, form?: Record<string, string>): Promise<TestPage> => {
  const response = await fetch(
    http + new URL(link).pathname,
    form ? { method: 'POST', body: new URLSearchParams(form) } : {},
  )
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/**
 * What every page promises: HTML that nothing runs in, loads from elsewhere, keeps, or tells another site of.
 * It may lead to Telegram.
 */
export const expectPage = (
  { status, headers, text }: TestPage,
  expected: number,
  says: string | RegExp,
): void => {
  expect(text).toMatch(says)
  expect(status).toBe(expected)
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
  )
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(text).not.toMatch(/<script|<img|<link|\ssrc=|https?:\/\/(?!localhost|t\.me\/)/i)
  expect(text).toContain('name="viewport" content="width=device-width')
}
