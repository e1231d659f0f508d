import type { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { invalidInput } from '../../core/errors.ts'
import type { RestEnv } from '../route/env.ts'

/** Returns the routes without query parameters, as the router names them. */
const routesWithoutQuery = (app: OpenAPIHono<RestEnv>): Set<string> =>
  new Set(
    app.openAPIRegistry.definitions.flatMap((one) =>
      one.type === 'route' && one.route.request?.query === undefined
        ? [`${one.route.method.toUpperCase()} ${one.route.path.replaceAll(/\{(\w+)\}/g, ':$1')}`]
        : [],
    ),
  )

/**
 * Returns whether the URL's query is percent-encoded UTF-8: decoding it leniently would change its meaning.
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
 * Rejects query parameters, by name, on routes that have none (as with unknown fields: a client that sends
 * one expects an effect), and a query that is not UTF-8.
 */
export const refuseStrayQuery = (app: OpenAPIHono<RestEnv>): MiddlewareHandler<RestEnv> => {
  let withoutQuery: Set<string> | undefined
  return (c, next) => {
    if (!c.req.url.includes('?')) return next()
    if (!isText(c.req.url)) throw invalidInput('query', 'must be percent-encoded UTF-8')
    withoutQuery ??= routesWithoutQuery(app) // not before all routes are known
    const route = matchedRoutes(c).find(({ method }) => method !== 'ALL')
    if (!route || !withoutQuery.has(`${route.method} ${route.path}`)) return next()
    const [name] = Object.keys(c.req.query())
    if (name === undefined) return next()
    throw invalidInput(name, 'is not a known field')
  }
}
