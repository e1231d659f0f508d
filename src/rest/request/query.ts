import type { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { invalidInput } from '../../core/errors.ts'
import type { RestEnv } from '../env.ts'
import { fits } from './methods.ts'

/** Returns whether the route of this request has query parameters, which its own schema then checks. */
const readsQuery = (app: OpenAPIHono<RestEnv>, method: string, path: string): boolean => {
  const wanted = method === 'HEAD' ? 'get' : method.toLowerCase()
  const routes = app.openAPIRegistry.definitions.flatMap((one) => (one.type === 'route' ? [one.route] : []))
  const found = routes.find(
    (route) => route.method === wanted && fits(route.path.replaceAll(/\{(\w+)\}/g, ':$1'), path),
  )
  return found === undefined || found.request?.query !== undefined
}

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
export const refuseStrayQuery =
  (app: OpenAPIHono<RestEnv>): MiddlewareHandler<RestEnv> =>
  (c, next) => {
    if (!c.req.url.includes('?')) return next()
    if (!isText(c.req.url)) throw invalidInput('query', 'must be percent-encoded UTF-8')
    const [name] = Object.keys(c.req.query())
    if (name === undefined || readsQuery(app, c.req.method, c.req.path)) return next()
    throw invalidInput(name, 'is not a known field')
  }
