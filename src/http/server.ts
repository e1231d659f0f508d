import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createTrust } from '../core/address/trusted.ts'
import type { Route } from '../core/channel/callback-route.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { Arrivals } from '../core/http/arrivals.ts'
import { requesterOf } from '../core/http/http.ts'
import type { Logger } from '../core/logger.ts'
import type { Metrics } from '../core/metrics.ts'
import { noTracer, type Tracer } from '../core/tracer.ts'
import { COMMIT, VERSION } from '../core/version.ts'
import { publicError } from '../db/failure.ts'
import { answer, refuse, requireHttps } from './answer.ts'
import { receiveRequest } from './arriving.ts'
import { type Callbacks, createCallbacks } from './callbacks.ts'
import { createClients } from './client.ts'
import { Connections } from './connections.ts'
import { HTTP_LIMITS, type HttpLimits } from './limits.ts'
import { measure, traceRequest } from './measure.ts'
import { PipelinedRequests } from './pipelined-requests.ts'
import { followProxies } from './proxied.ts'
import { answerRoot } from './root.ts'
import { targetOf } from './target.ts'
import { UnreadResponses } from './unread-responses.ts'
import { EXPECTATION_FAILED, METHODS, notAllowed, refuseUnreadable } from './unreadable.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void

/** The APIs, mounted side by side and independent of each other. */
export interface Interfaces {
  rest: Handler
  graphql: Handler
  mcp: Handler
  web(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>
  oauth(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>
  stream(
    request: IncomingMessage,
    response: ServerResponse,
    agentId: string,
    connectionId: string,
  ): Promise<void>
  /** Returns the content of `/metrics`. */
  metrics(): Promise<{ type: string; text: string }>
  /** Resolves when the service is operational; rejects while it is not. */
  ready(): Promise<void>
}

export interface HttpServer {
  /** `http://host:port`, with the actual port. */
  readonly url: string
  readonly port: number
  /**
   * Makes `/readyz` fail and closes connections after their next response, so that clients and load balancers
   * turn to other processes. Everything else is still served.
   */
  drain(): void
  /**
   * Stops accepting connections, lets requests in progress finish, and aborts what is left after `graceMs`.
   */
  stop(graceMs: number): Promise<void>
}

const STREAM = /^\/agents\/([^/?]+)\/connections\/([^/?]+)\/events$/

/** Links whose last segment is a secret, the pages of signed-in members, and the icon. */
const WEB = /^\/(?:(?:answer|approve|join|setup)\/|app(?:\/|$)|favicon\.ico$)/

/** The authorization server, and the documents that tell clients about it (RFC 8414, RFC 9728, OpenID Connect). */
const OAUTH =
  /^\/(?:oauth\/|\.well-known\/(?:oauth-(?:authorization-server|protected-resource(?:\/mcp)?)|openid-configuration)$)/

const answerMetrics = (response: ServerResponse, { type, text }: { type: string; text: string }): void => {
  response.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(text)
}

/** Paths that every process serves, whatever its roles. */
const MONITORING_PATHS = new Set(['/healthz', '/readyz', '/metrics'])

const answerMonitoring = async (
  interfaces: Interfaces,
  path: string,
  response: ServerResponse,
): Promise<void> => {
  if (path === '/metrics') return answerMetrics(response, await interfaces.metrics())
  if (path === '/healthz') return answer(response, 200, { status: 'ok', version: VERSION, commit: COMMIT })
  await interfaces.ready()
  answer(response, 200, { status: 'ready' })
}

/** Removes the base path of Message URLs, which a proxy may already have stripped. */
const withoutBase = (url: string, base: string): string =>
  base !== '' && url.startsWith(`${base}/a/`) ? url.slice(base.length) : url

/** Adds to what makes the service ready that it is not about to stop. */
const drainable = (
  interfaces: Interfaces,
): { interfaces: Interfaces; drain(): void; readonly draining: boolean } => {
  let draining = false
  const ready = async () => {
    if (draining) throw new AppError('unavailable', 'This process is about to stop.', { retryAfter: 1 })
    await interfaces.ready()
  }
  return {
    interfaces: { ...interfaces, ready },
    drain: () => {
      draining = true
    },
    get draining() {
      return draining
    },
  }
}

const route = (interfaces: Interfaces, callbacks: Callbacks, api: boolean, messageBase: string): Handler => {
  return async (request, response) => {
    const { method = '', url = '' } = request
    if (method === 'OPTIONS' && url === '*') return void response.writeHead(204, { Allow: METHODS }).end()
    request.url = withoutBase(targetOf(request), messageBase)
    const path = request.url.split('?', 1)[0]!
    if (MONITORING_PATHS.has(path)) {
      return method === 'GET' || method === 'HEAD'
        ? answerMonitoring(interfaces, path, response)
        : refuse(response, notAllowed(method, 'GET, HEAD'))
    }
    if (!api)
      throw new AppError('not_found', 'This process does not serve the API: its ROLES do not include it.')
    if (path === '/graphql' || path.startsWith('/graphql/')) return interfaces.graphql(request, response)
    if (path === '/mcp' || path === '/mcp/') return interfaces.mcp(request, response)
    const callback = callbacks.find(path)
    if (callback) return callback(request, response)
    if (path === '/' && (method === 'GET' || method === 'HEAD')) return answerRoot(request, response)
    if (OAUTH.test(path)) return interfaces.oauth(request, response, path)
    if (WEB.test(path)) return interfaces.web(request, response, path)
    const [, agentId, connectionId] = STREAM.exec(path) ?? []
    if (!agentId || !connectionId) return interfaces.rest(request, response)
    return method === 'GET'
      ? interfaces.stream(request, response, agentId, connectionId)
      : refuse(response, notAllowed(method, 'GET'))
  }
}

/**
 * Returns a path that may be logged: without the secrets in links, in whatever case, and without misplaced
 * tokens.
 */
const loggable = (url: string): string =>
  url
    .split('?', 1)[0]!
    .replace(/(\/(?:answer|approve|join|setup)\/).+/i, '$1…')
    .replace(/\b(a(?:[aimoprs]t|ms|sl)_)[0-9A-Za-z]{8,}/g, '$1…')

type Observers = Pick<HttpOptions, 'log' | 'metrics' | 'tracer'>

/**
 * Logs one line per request when it ends: the requester, method, path, status and duration. Never a query or
 * a body.
 */
const isProbe = ({ url = '' }: IncomingMessage, { statusCode }: ServerResponse): boolean =>
  MONITORING_PATHS.has(url.split('?', 1)[0]!) && statusCode < 400

const logRequest = (
  { log, metrics }: Observers,
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
): void => {
  const started = performance.now()
  response.on('close', () => {
    const ms = performance.now() - started
    if (metrics) measure(metrics, request, response, ms)
    const fields = {
      requestId: response.getHeader('X-Request-Id') ?? requestId, // an installation's behind a front
      by: requesterOf(response),
      method: request.method,
      path: loggable(request.url ?? ''),
      status: response.headersSent ? response.statusCode : null,
      ms: Math.round(ms),
    }
    // Probes come every few seconds, and would be most of the log.
    if (isProbe(request, response)) log.debug(fields, 'request')
    else log.info(fields, 'request')
  })
}

const serve =
  (handle: Handler, observers: Observers): Handler =>
  async (request, response) => {
    const requestId = randomUUID()
    response.setHeader('X-Request-Id', requestId)
    logRequest(observers, request, response, requestId)
    try {
      await traceRequest(observers.tracer ?? noTracer, request, response, () => handle(request, response))
    } catch (error) {
      const failure = publicError(error)
      if (failure.code === 'internal') observers.log.error({ err: error, requestId }, 'request failed')
      if (response.headersSent) response.destroy()
      else refuse(response, { error: failure })
    }
  }

const listen = (server: Server, host: string, port: number): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      resolve(server.address() as AddressInfo)
    })
  })

/** Tracks connections without any request so far: on shutdown, Node waits for them like for any other. */
const trackSilent = (server: Server): Set<Socket> => {
  const silent = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  server.on('request', ({ socket }) => silent.delete(socket))
  return silent
}

const stop = async (server: Server, silent: Iterable<Socket>, graceMs: number): Promise<void> => {
  for (const socket of silent) socket.destroy()
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  await new Promise<void>((resolve) => server.close(() => resolve()))
  clearTimeout(timer)
  clearInterval(idle)
}

export interface HttpOptions {
  host: string
  port: number
  /** When false, only health checks and metrics are served. */
  api: boolean
  /** The path of MESSAGE_URL_BASE, without a trailing slash; empty if omitted. */
  messageBase?: string
  interfaces: Interfaces
  /** Webhook routes of the channels' providers. */
  callbacks?: readonly Route[]
  /** Whether PUBLIC_URL is https, so that browsers are told to use nothing else (RFC 6797). */
  https?: boolean
  /** Addresses and CIDRs of proxies whose X-Forwarded-For and PROXY headers are trusted; none if omitted. */
  trustProxy?: readonly string[]
  limits?: Partial<HttpLimits>
  clock?: Clock
  log: Logger
  metrics?: Metrics
  tracer?: Tracer
}

/** Starts the HTTP server with all APIs. */
export const startHttp = async ({
  host,
  port,
  interfaces,
  callbacks = [],
  api,
  messageBase = '',
  trustProxy = [],
  https = false,
  clock = systemClock,
  limits: given = {},
  ...observers
}: HttpOptions): Promise<HttpServer> => {
  const limits = { ...HTTP_LIMITS, ...given }
  const clients = createClients(trustProxy)
  const arrivals = new Arrivals(clock, limits)
  const drained = drainable(interfaces)
  const handle = serve(
    route(
      drained.interfaces,
      createCallbacks(callbacks, limits.unprovenCalls, observers.metrics),
      api,
      messageBase,
    ),
    observers,
  )
  const expected = serve((_, response) => refuse(response, EXPECTATION_FAILED), observers)
  // A missing Host is rejected by `targetOf`, with a clear error.
  const server = createServer({ ...limits.timeouts, requireHostHeader: false })
  new Connections(limits, (address) => clients.isShared(address)).follow(server)
  new UnreadResponses(limits).follow(server)
  const inTurn = new PipelinedRequests()
  const begin = (request: IncomingMessage, response: ServerResponse, handler: Handler) =>
    inTurn.run(request, response, () => {
      if (drained.draining) response.shouldKeepAlive = false
      if (https) requireHttps(response)
      receiveRequest(arrivals, request, response, clients.of(request))
      void handler(request, response)
    })
  server.on('request', (request, response) => begin(request, response, handle))
  server.on('checkExpectation', (request, response) => begin(request, response, expected))
  refuseUnreadable(server, observers.log)
  if (trustProxy.length > 0) followProxies(server, createTrust(trustProxy))
  // After that: connections are silent too while a PROXY header is waited for.
  const silent = trackSilent(server)
  const address = await listen(server, host, port)
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return {
    url: `http://${name}:${address.port}`,
    port: address.port,
    drain: drained.drain,
    stop: (graceMs) => stop(server, silent, graceMs),
  }
}
