import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RouteClass } from '../core/http/http.ts'
import type { Metrics } from '../core/metrics.ts'
import { noTracer, type Tracer } from '../core/tracer.ts'

/** First segments of paths that are not REST's. */
const BY_SEGMENT: Readonly<Record<string, RouteClass>> = {
  a: 'message_url',
  graphql: 'graphql',
  mcp: 'mcp',
  app: 'web',
  answer: 'web',
  approve: 'web',
  join: 'web',
  setup: 'web',
  'favicon.ico': 'web',
  oauth: 'oauth',
  '.well-known': 'oauth',
  channels: 'callback',
  inbound: 'callback',
  cell: 'callback',
  healthz: 'monitoring',
  readyz: 'monitoring',
  metrics: 'monitoring',
}

/** Returns the class of the route of a request, whether or not it exists. */
const routeClassOf = (method: string | undefined, url: string): RouteClass => {
  const segment = /^\/([^/?]*)/.exec(url)?.[1] ?? ''
  if (Object.hasOwn(BY_SEGMENT, segment)) return BY_SEGMENT[segment]!
  return method === 'GET' || method === 'HEAD' ? 'rest_read' : 'rest_write'
}

/** 4xx statuses with their own label; the others share one, so that the number of labels is fixed. */
const REFUSALS = new Set([400, 401, 402, 403, 404, 409, 413, 415, 429])

/** Counts and times a request that has ended. Event streams are not timed: they last as long as their clients. */
export const measure = (
  metrics: Metrics,
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
  ms: number,
): void => {
  const { statusCode } = response
  if (!response.headersSent) {
    metrics.count('requests', 'aborted')
    return
  }
  const kind = Math.floor(statusCode / 100)
  metrics.count('requests', `${kind}xx`)
  if (kind === 4) metrics.count('refusals', REFUSALS.has(statusCode) ? String(statusCode) : 'other')
  const streams = String(response.getHeader('content-type') ?? '').startsWith('text/event-stream')
  if (!streams) metrics.observe('requests', routeClassOf(method, url), ms / 1000)
}

/**
 * Runs `handle` as a span that ends with the response. The class of the route stands for the path, which may
 * contain secrets; the request's id leads to its line in the log. A caller's `traceparent` is continued.
 */
export const traceRequest = <T>(
  tracer: Tracer,
  request: IncomingMessage,
  response: ServerResponse,
  handle: () => T,
): T => {
  const { method = '', url = '', headers } = request
  const route = routeClassOf(method, url)
  if (tracer === noTracer || route === 'monitoring') return handle()
  const span = tracer.start(`HTTP ${method} ${route}`, {
    kind: 'server',
    parent: typeof headers.traceparent === 'string' ? headers.traceparent : null,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'request.id': String(response.getHeader('x-request-id')),
    },
  })
  response.on('close', () => {
    const status = response.headersSent ? response.statusCode : 499
    span.end({ 'http.response.status_code': status }, status >= 500)
  })
  return span.run(handle)
}
