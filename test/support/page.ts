import { expect } from 'vitest'

/** A page as a browser receives it. */
export interface TestPage {
  status: number
  headers: Headers
  text: string
}

/**
 * Opens a link that the service issued, or submits the form on its page. The link's host is localhost; the
 * request goes to `http`, where the service listens.
 */
export const visit = async (http: string, link: string, form?: Record<string, string>): Promise<TestPage> => {
  const response = await fetch(
    http + new URL(link).pathname,
    form ? { method: 'POST', body: new URLSearchParams(form) } : {},
  )
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/**
 * Checks the properties that every page has: the HTML runs no inline scripts, loads nothing from other sites, is
 * not cached and sends no referrer to them. It may link to Telegram.
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
    /^default-src 'none'; (?:script-src 'self'; )?style-src 'sha256-[\w+/=]+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'(?:; require-trusted-types-for 'script'; trusted-types 'none')?$/,
  )
  expect(headers.get('referrer-policy')).toBe('same-origin')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(text).not.toMatch(
    /<script(?! src="\/app\/)|<img|<link|<\w+ src=(?!"\/app\/)|https?:\/\/(?!localhost|t\.me\/)/i,
  )
  expect(text).toContain('name="viewport" content="width=device-width')
}
