import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../core/errors.ts'
import { httpFailure } from '../core/http/http.ts'
import type { Logger } from '../core/logger.ts'
import { html } from '../core/text/html.ts'
import { logUnavailable, publicError } from '../db/failure.ts'
import { createAnswerLink } from './answer.ts'
import { serveApp } from './app/app.ts'
import type { AppDeps } from './app/request.ts'
import { createApproveLink } from './approve.ts'
import { createJoinLink } from './join.ts'
import { type Link, serveLink } from './link.ts'
import { sendIcon } from './page/assets.ts'
import { showPage } from './page/page.ts'
import { createSetupPages } from './setup.ts'

type WebDeps = Parameters<typeof createAnswerLink>[0] &
  Parameters<typeof createApproveLink>[0] &
  Parameters<typeof createJoinLink>[0] &
  Parameters<typeof createSetupPages>[0] &
  AppDeps & { log: Logger }

export interface Web {
  /** `path` has no query and is below /answer/, /approve/, /join/, /setup/ or /app, or the icon's. */
  handle(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>
}

const METHODS = ['GET', 'HEAD', 'POST']
const ICON = '/favicon.ico'

const refuse = (response: ServerResponse, method: string): void => {
  const { headers, body } = httpFailure(new AppError('invalid_input', `${method} is not allowed here.`))
  response
    .writeHead(405, { ...headers, Allow: METHODS.join(', '), 'Content-Type': 'application/json' })
    .end(JSON.stringify(body))
}

/** Shows an unexpected failure to the user; details are logged under the request's id. */
export const showFailure = ({ log }: { log: Logger }, response: ServerResponse, error: unknown): void => {
  const failure = publicError(error)
  const requestId = response.getHeader('X-Request-Id')
  if (failure.code === 'internal') log.error({ err: error, requestId }, 'request failed')
  logUnavailable(log, failure, { requestId })
  const { status, headers } = httpFailure(failure)
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  showPage(response, {
    status,
    title: failure.code === 'unavailable' ? 'Not at the moment' : 'This did not work',
    body: html`<p>${failure.message}</p><p class="soft">Open the page again in a minute.</p>`,
  })
}

/** Serves the pages of the links that the service issues, and of signing in. */
export const createWeb = (deps: WebDeps): Web => {
  const links: Record<string, Link> = {
    answer: createAnswerLink(deps),
    approve: createApproveLink(deps),
    join: createJoinLink(deps),
    setup: createSetupPages(deps),
  }
  return {
    handle: async (request, response, path) => {
      const [, kind = '', token = ''] = path.split(/^\/(answer|approve|join|setup)\//)
      const method = request.method ?? 'GET'
      if (!METHODS.includes(method)) return refuse(response, method)
      if (path === ICON) return sendIcon(request, response)
      try {
        const link = links[kind]
        await (link ? serveLink(link, token, request, response) : serveApp(deps, request, response))
      } catch (error) {
        // The page is partly sent, or the client is gone.
        if (response.headersSent || request.destroyed) throw error
        showFailure(deps, response, error)
      }
    },
  }
}
