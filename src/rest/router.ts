import { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import type { Context } from '../context.ts'
import { AppError, noSuchPath } from '../core/errors.ts'
import { MAX_SEND_BODY_BYTES } from '../core/rules.ts'
import { documentationRoutes } from './documentation/documentation.ts'
import { manualRoutes } from './documentation/manual.ts'
import { registerParts } from './documentation/openapi.ts'
import { bodyLimit } from './request/body-limit.ts'
import { idempotency } from './request/idempotency.ts'
import { jsonBody } from './request/json-body.ts'
import { allowedMethods } from './request/methods.ts'
import { refuseStrayQuery } from './request/query.ts'
import { inTurn, limitRate } from './request/rate-limit.ts'
import { readViewer } from './request/viewer.ts'
import { accessRoutes } from './resources/agent/access.ts'
import { addressRoutes } from './resources/agent/addresses.ts'
import { agentRoutes } from './resources/agent/agents.ts'
import { connectionRoutes } from './resources/agent/connections.ts'
import { exportRoutes } from './resources/agent/exports.ts'
import { secretRoutes } from './resources/agent/secrets.ts'
import { suppressionRoutes } from './resources/agent/suppressions.ts'
import { draftRoutes } from './resources/message/drafts.ts'
import { fileRoutes } from './resources/message/files.ts'
import { importRoutes } from './resources/message/imports.ts'
import { mailViewRoutes } from './resources/message/mail-views.ts'
import { messagePartRoutes } from './resources/message/message-parts.ts'
import { messageRoutes } from './resources/message/messages.ts'
import { threadRoutes } from './resources/message/threads.ts'
import { questionRoutes } from './resources/questions.ts'
import { urlRoutes } from './resources/url.ts'
import { webhookRoutes } from './resources/webhooks.ts'
import { auditRoutes } from './resources/workspace/audit.ts'
import { connectedAppRoutes } from './resources/workspace/connected-apps.ts'
import { countRoutes } from './resources/workspace/counts.ts'
import { domainRoutes } from './resources/workspace/domains.ts'
import { identityRoutes } from './resources/workspace/identities.ts'
import { memberRoutes } from './resources/workspace/members.ts'
import { phoneNumberRoutes } from './resources/workspace/phone-numbers.ts'
import { tokenRoutes } from './resources/workspace/tokens.ts'
import { workspaceRoutes } from './resources/workspace/workspace.ts'
import type { RestEnv } from './route/env.ts'
import { answerError, onError, onInvalid } from './route/errors.ts'

/**
 * Body of a request: enough for 32,000 characters that are each written as a pair of JSON escapes (12 bytes).
 * @limit Requests
 */
const MAX_BODY_BYTES = 1024 * 1024

/** Only a message to send and a draft may have attachments. */
const SENDS = /^\/agents\/[^/]+\/(?:messages|drafts(?:\/[^/]+)?)\/?$/
const maxBytes = (method: string, path: string): number =>
  (method === 'POST' || (method === 'PATCH' && path.includes('/drafts/'))) && SENDS.test(path)
    ? MAX_SEND_BODY_BYTES
    : MAX_BODY_BYTES

/** An import reads its body as it arrives, up to 1 GiB; repeating it has no effect, with or without a key. */
const IMPORTS = /^\/agents\/[^/]+\/imports\/?$/
const unlessImport =
  (middleware: MiddlewareHandler<RestEnv>): MiddlewareHandler<RestEnv> =>
  (c, next) =>
    c.req.method === 'POST' && IMPORTS.test(c.req.path) ? next() : middleware(c, next)

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
  for (const path of GUARDED) app.use(path, identify, limitRate, refuseStrayQuery(app))
  app.use('*', unlessImport(bodyLimit(maxBytes)))
  for (const path of GUARDED)
    app.use(path, unlessImport(jsonBody), unlessImport(inTurn), unlessImport(idempotency))
  for (const routes of [
    workspaceRoutes,
    exportRoutes,
    auditRoutes,
    countRoutes,
    memberRoutes,
    identityRoutes,
    phoneNumberRoutes,
    domainRoutes,
    agentRoutes,
    addressRoutes,
    accessRoutes,
    tokenRoutes,
    connectedAppRoutes,
    connectionRoutes,
    messageRoutes,
    messagePartRoutes,
    mailViewRoutes,
    threadRoutes,
    draftRoutes,
    importRoutes,
    questionRoutes,
    suppressionRoutes,
    secretRoutes,
    urlRoutes,
    webhookRoutes,
  ])
    routes(app)
  fileRoutes(app)
  registerParts(app.openAPIRegistry)
  documentationRoutes(app, deps)
  manualRoutes(app, deps)
  return app
}
