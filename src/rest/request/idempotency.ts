import type { MiddlewareHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { once, readAttempt } from '../../workspace/index.ts'
import type { RestEnv } from '../route/env.ts'

/**
 * Paths whose response contains a Message URL's text, which the service does not store. A repeated request
 * contains the same text, as its hash shows.
 */
const TEXT_NOT_STORED = /^\/a\/|\/url$/

/**
 * Paths that run again when a request is repeated: only the operation itself returns secret values, and each
 * time is recorded in the audit log.
 */
const RUNS_AGAIN = /\/secrets\/reveal$/

const toStored = (path: string, answer: string): string => {
  if (RUNS_AGAIN.test(path)) return ''
  return TEXT_NOT_STORED.test(path) ? JSON.stringify({ ...JSON.parse(answer), text: null }) : answer
}

const fromStored = (path: string, stored: string, request: string): string =>
  TEXT_NOT_STORED.test(path)
    ? JSON.stringify({ ...JSON.parse(stored), text: JSON.parse(request).text })
    : stored

/** `Idempotency-Key` on a POST: repeating the same key and body returns the first response. */
export const idempotency: MiddlewareHandler<RestEnv> = async (c, next) => {
  const header = c.req.header('Idempotency-Key')
  if (header === undefined || c.req.method !== 'POST') return next()
  const { deps, viewer } = c.var
  const request = await c.req.text()
  const attempt = readAttempt(header, `${c.req.path}\n${request}`)
  const first = await once(deps, viewer, attempt, async (within) => {
    c.set('deps', within)
    await next()
    return c.res.ok ? { status: c.res.status, body: toStored(c.req.path, await c.res.clone().text()) } : null
  })
  if (first && RUNS_AGAIN.test(c.req.path)) return next()
  if (first) {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Replayed': 'true' }
    const body = fromStored(c.req.path, first.body, request)
    // In place of what this request answered, if another one was answered while it waited.
    c.res = undefined
    c.res = c.body(body, first.status as ContentfulStatusCode, headers)
  }
}
