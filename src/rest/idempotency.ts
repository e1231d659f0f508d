import type { MiddlewareHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { runOnce } from '../message/once.ts'
import { readAttempt } from '../workspace/idempotency.ts'
import type { RestEnv } from './env.ts'

/**
 * The service keeps no copy of a Message URL's text. The request that asks for the answer again has it: the
 * hash says so.
 */
const TEXT_IS_KEPT_NOWHERE = /^\/a\/|\/url$/

/**
 * Values of secrets are handed out by the operation alone, which puts each time into the audit: asked again,
 * it runs again.
 */
const RUNS_AGAIN = /\/secrets\/reveal$/

const toKeep = (path: string, answer: string): string => {
  if (RUNS_AGAIN.test(path)) return ''
  return TEXT_IS_KEPT_NOWHERE.test(path) ? JSON.stringify({ ...JSON.parse(answer), text: null }) : answer
}

const asGiven = (path: string, kept: string, request: string): string =>
  TEXT_IS_KEPT_NOWHERE.test(path)
    ? JSON.stringify({ ...JSON.parse(kept), text: JSON.parse(request).text })
    : kept

/** `Idempotency-Key` on a POST: the same key and body get the first answer again. */
export const idempotency: MiddlewareHandler<RestEnv> = async (c, next) => {
  const header = c.req.header('Idempotency-Key')
  if (header === undefined || c.req.method !== 'POST') return next()
  const { deps, viewer } = c.var
  const request = await c.req.text()
  const attempt = readAttempt(header, `${c.req.path}\n${request}`)
  const first = await runOnce(deps, viewer, attempt, async (within) => {
    c.set('deps', within)
    await next()
    return c.res.ok ? { status: c.res.status, body: toKeep(c.req.path, await c.res.clone().text()) } : null
  })
  if (first && RUNS_AGAIN.test(c.req.path)) return next()
  if (first) {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Replayed': 'true' }
    return c.body(asGiven(c.req.path, first.body, request), first.status as ContentfulStatusCode, headers)
  }
}
