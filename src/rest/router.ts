import { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import type { Context } from '../context.ts'
import { AppError, noSuchPath } from '../core/errors.ts'
import { MAX_SEND_BODY_BYTES } from '../core/rules.ts'
import { documentationRoutes } from './documentation/documentation.ts'
import { manualRoutes } from './documentation/manual.ts'
import { registerParts } from './documentation/openapi.ts'
import { bodyLimit, refuseEncoded } from './request/body-limit.ts'
import { idempotency } from './request/idempotency.ts'
import { jsonBody } from './request/json-body.ts'
import { allowedMethods } from './request/methods.ts'
import { refuseStrayQuery } from './request/query.ts'
import { inTurn, limitRate } from './request/rate-limit.ts'
import { readViewer } from './request/viewer.ts'
import { fileRoutes } from './resources/file-links.ts'
import { MAX_MBOX_BYTES } from './resources/imports.ts'
import type { RestEnv } from './route/env.ts'
import { answerError, onError, onInvalid } from './route/errors.ts'
import { ROUTES } from './routes.ts'

/**
 * Body of a request: enough for 32,000 characters that are each written as a pair of JSON escapes (12 bytes).
 * @limit Requests
 */
const MAX_BODY_BYTES = 1024 * 1024

/** An import reads its body as it arrives; repeating it has no effect, with or without a key. */
const IMPORTS = /^\/agents\/[^/]+\/imports\/?$/
const isImport = (method: string, path: string): boolean => method === 'POST' && IMPORTS.test(path)
const unlessImport =
  (middleware: MiddlewareHandler<RestEnv>): MiddlewareHandler<RestEnv> =>
  (c, next) =>
    isImport(c.req.method, c.req.path) ? next() : middleware(c, next)

/** Only a message to send and a draft may have attachments. */
const SENDS = /^\/agents\/[^/]+\/(?:messages|drafts(?:\/[^/]+)?)\/?$/
const maxBytes = (method: string, path: string): number => {
  if (isImport(method, path)) return MAX_MBOX_BYTES
  return (method === 'POST' || (method === 'PATCH' && path.includes('/drafts/'))) && SENDS.test(path)
    ? MAX_SEND_BODY_BYTES
    : MAX_BODY_BYTES
}

/** Paths that require a bearer token. (/agents/* includes /agents.) */
const GUARDED = [
  '/agents/*',
  '/a/*',
  '/viewer',
  '/workspace/*',
  '/export',
  '/audit',
  '/counts',
  '/messages',
  '/members/*',
  '/domains/*',
  '/phone-numbers/*',
  '/tokens/*',
  '/connected-apps/*',
]

const identify: MiddlewareHandler<RestEnv> = async (c, next) => {
  await readViewer(c)
  await next()
}

const prepare =
  (deps: Context): MiddlewareHandler<RestEnv> =>
  async (c, next) => {
    c.set('requestId', String(c.env?.outgoing?.getHeader('X-Request-Id') ?? ''))
    c.set('deps', deps)
    await next()
  }

/** Creates the router of the documented paths; each route is a thin call of an operation. */
export const createRest = (deps: Context): OpenAPIHono<RestEnv> => {
  const app = new OpenAPIHono<RestEnv>({ defaultHook: onInvalid })
  app.onError(onError(deps.log))
  app.notFound((c) => {
    const methods = allowedMethods(app, c.req.path)
    if (methods.length === 0) return answerError(c, noSuchPath())
    c.header('Allow', methods.join(', '))
    return answerError(c, new AppError('invalid_input', `${c.req.method} is not allowed here.`), 405)
  })
  app.use('*', prepare(deps))
  for (const path of GUARDED)
    app.use(path, identify, limitRate(maxBytes), refuseStrayQuery(app), refuseEncoded)
  app.use('*', unlessImport(bodyLimit(maxBytes)))
  for (const path of GUARDED)
    app.use(path, unlessImport(jsonBody), unlessImport(inTurn), unlessImport(idempotency))
  for (const routes of ROUTES) routes(app)
  fileRoutes(app)
  registerParts(app.openAPIRegistry)
  documentationRoutes(app, deps)
  manualRoutes(app, deps)
  return app
}
