import type { Hono } from 'hono'
import type { RestEnv } from './env.ts'

/** Whether a route's pattern (`/agents/:id`) is the path's. */
export const fits = (pattern: string, path: string): boolean => {
  const wanted = pattern.split('/')
  const given = path.split('/')
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => (part.startsWith(':') && given[index] !== '') || part === given[index])
  )
}

/** The methods that a path has routes for: what `Allow` says when another one is asked. */
export const allowedMethods = (app: Hono<RestEnv>, path: string): string[] => {
  const methods = app.routes
    .filter((route) => route.method !== 'ALL' && fits(route.path, path))
    .map((route) => route.method)
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))].sort()
}
