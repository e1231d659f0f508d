import type { Hono } from 'hono'
import type { RestEnv } from '../route/env.ts'

/** Returns whether a route's pattern (`/agents/:id`) matches the path. */
const fits = (pattern: string, path: string): boolean => {
  const wanted = pattern.split('/')
  const given = path.split('/')
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => (part.startsWith(':') && given[index] !== '') || part === given[index])
  )
}

/** Returns the methods that a path has routes for, as listed in `Allow`. */
export const allowedMethods = (app: Hono<RestEnv>, path: string): string[] => {
  const methods = app.routes
    .filter((route) => route.method !== 'ALL' && fits(route.path, path))
    .map((route) => route.method)
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))].sort()
}
