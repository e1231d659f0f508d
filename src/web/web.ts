import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../core/errors.ts'
import { httpFailure } from '../core/http.ts'
import { createJoinLink } from './join.ts'
import { type Link, serveLink } from './link.ts'
import { createSetupPages } from './setup.ts'

type WebDeps = Parameters<typeof createJoinLink>[0] & Parameters<typeof createSetupPages>[0]

export interface Web {
  /** `path` without its query, beginning with /join/ or /setup/. */
  handle(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>
}

const METHODS = ['GET', 'HEAD', 'POST']

const refuse = (response: ServerResponse, method: string): void => {
  const { headers, body } = httpFailure(new AppError('invalid_input', `${method} is not allowed here.`))
  response.writeHead(405, { ...headers, Allow: METHODS.join(', '), 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}

/** The pages behind the links that the service hands out. */
export const createWeb = (deps: WebDeps): Web => {
  const links: Record<string, Link> = { join: createJoinLink(deps), setup: createSetupPages(deps) }
  return {
    handle: async (request, response, path) => {
      const [, kind = '', token = ''] = path.split(/^\/(join|setup)\//)
      const method = request.method ?? 'GET'
      if (!METHODS.includes(method)) return refuse(response, method)
      await serveLink(links[kind]!, token, request, response)
    },
  }
}
