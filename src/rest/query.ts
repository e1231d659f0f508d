import type { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { invalidInput } from '../core/errors.ts'
import type { RestEnv } from './env.ts'
import { fits } from './methods.ts'

/** Whether the route that serves this request reads a query, which its own schema then checks. */
const readsQuery = (app: OpenAPIHono<RestEnv>, method: string, path: string): boolean => {
  const wanted = method === 'HEAD' ? 'get' : method.toLowerCase()
  const routes = app.openAPIRegistry.definitions.flatMap((one) => (one.type === 'route' ? [one.route] : []))
  const found = routes.find(
    (route) => route.method === wanted && fits(route.path.replaceAll(/\{(\w+)\}/g, ':$1'), path),
  )
  return found === undefined || found.request?.query !== undefined
}

/**
 * Whether a URL's query is what percent-encoding makes of a text: read all the same, it would ask for
 * something else.
 */
const isText = (url: string): boolean => {
  try {
    decodeURIComponent(url.slice(url.indexOf('?')))
    return true
  } catch {
    return false
  }
}

/**
 * Refuses query parameters, by name, where a route takes none (like unknown fields: who sends one expects
 * something of it), and a query that is no UTF-8.
 */
export const refuseStrayQuery =
  (app: OpenAPIHono<RestEnv>): MiddlewareHandler<RestEnv> =>
  (c, next) => {
    if (!c.req.url.includes('?')) return next()
    if (!isText(c.req.url)) throw invalidInput('query', 'must be percent-encoded UTF-8')
    const [name] = Object.keys(c.req.query())
    if (name === undefined || readsQuery(app, c.req.method, c.req.path)) return next()
    throw invalidInput(name, 'is not a known field')
  }
