import type { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { invalidInput } from '../core/errors.ts'
import type { RestEnv } from './env.ts'
import { fits } from './methods.ts'

/** Whether the route that serves this request reads a query, which its own schema then checks. */
const readsQuery = (app: OpenAPIHono<RestEnv>, method: string, path: string): boolean => {
  const wanted = method === 'HEAD' ? 'get' : method.toLowerCase()
  const routes = app.openAPIRegistry.definitions.flatMap((one) => (one.type === 'route' ? [one.route] : []))
  const found = routes.find((route) => route.method === wanted && fits(route.path.replaceAll(/\{(\w+)\}/g, ':$1'), path))
  return found === undefined || found.request?.query !== undefined
}

/** Refuses query parameters, by name, where a route takes none. Like unknown fields: who sends one expects something of it. */
export const refuseStrayQuery =
  (app: OpenAPIHono<RestEnv>): MiddlewareHandler<RestEnv> =>
  (c, next) => {
    if (!c.req.url.includes('?')) return next()
    const [name] = Object.keys(c.req.query())
    if (name === undefined || readsQuery(app, c.req.method, c.req.path)) return next()
    throw invalidInput(name, 'is not a known field')
  }
